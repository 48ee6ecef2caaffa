"""`python -m recombine` is `recombine`."""

from recombine.cli import main

if __name__ == "__main__":
    main()
