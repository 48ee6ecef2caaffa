"""`recombine explore`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.store.errors import UserError
from recombine.verbs import Answer

PORT = 8420


def run(
    what: None,
    asked: Mapping[str, Any],
    progress: Any,
    *,
    port: Annotated[int, "Where it listens; 0 takes any free port."] = PORT,
    no_browser: Annotated[bool, "Only say the address; open no browser."] = False,
    runs: Annotated[Path | None, "A folder of runs to compare."] = None,
    host: Annotated[str, "Listen elsewhere than on this computer alone; a token is asked for then."] = "127.0.0.1",
) -> Answer:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UserError('the explorer needs more packages: pip install "recombine[explore]"') from error
    from recombine.explorer.listening import free_port
    from recombine.explorer.rooms import Rooms
    from recombine.explorer.server import Door, serve

    if runs is not None and not runs.is_dir():
        raise UserError(f"{runs} is no folder; name the folder of your runs, or leave --runs out")
    listening = free_port(host, port)
    door = Door(listening.getsockname()[1], host)
    print(f"The explorer is at {door.address}  (Ctrl-C ends it)", flush=True)
    serve(Rooms(runs=runs), listening, door, not no_browser)
    return Answer()
