"""`recombine serve`."""

from collections.abc import Mapping
from typing import Annotated, Any

from recombine.store.errors import UserError
from recombine.verbs import Answer, Open

PORT = 8421


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    port: Annotated[int, "Where it listens; 0 takes any free port."] = PORT,
) -> Answer:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UserError('the server needs more packages: pip install "recombine[harness]"') from error
    from recombine.explorer.listening import free_port
    from recombine.harness.book import Book
    from recombine.harness.server import serve

    if asked.get("render") is None:
        raise UserError("say what the prompts show: --render images, sounds or words")
    listening = free_port("127.0.0.1", port)
    with open() as study:
        book = Book(study, study.asked_rows(**asked))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        print(f"{len(book)} prompts of {what} are answered at {address}  (Ctrl-C ends it)", flush=True)
        serve(book, listening)
    return Answer()
