"""A running explorer over tiny studies."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine import Closure, ConceptWorld, Curi
from recombine.benchmarks.closure.pipeline import ClosureScale
from recombine.store.store import Store
from recombine.tasks.examples import Observed

pytest.importorskip("starlette", reason="the explorer needs: pip install 'recombine[explore]'")
uvicorn = pytest.importorskip("uvicorn", reason="the explorer needs: pip install 'recombine[explore]'")

from recombine.explorer.listening import free_port, settings  # noqa: E402
from recombine.explorer.rooms import Rooms  # noqa: E402
from recombine.explorer.server import Door, app  # noqa: E402

SMALL = ClosureScale("tiny", 40, 60, 20, 5, closure=(4, 16, 16))


class Undecided:
    """A learner that finds every answer as likely as the others."""

    def predict(self, seen: Observed) -> np.ndarray:
        return np.full(((~seen.given).sum(), len(seen.answers)), 1 / len(seen.answers))


@dataclass(frozen=True)
class Server:
    port: int
    rooms: Rooms

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def ask(self, path: str, body: Any = None, method: str | None = None, **headers: str) -> tuple[int, dict, bytes]:
        """Status, headers and body of an answer."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        given = {"Host": f"127.0.0.1:{self.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if content is not None:
            given.setdefault("Content-Type", "application/json")
        try:
            line.request(method or ("GET" if content is None else "POST"), path, content, given)
            answer = line.getresponse()
            return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        finally:
            line.close()

    def json(self, path: str, body: Any = None) -> Any:
        status, _, content = self.ask(path, body)
        assert status == 200, content
        return json.loads(content)


def serving(rooms: Rooms, door: Door | None = None, host: str = "127.0.0.1") -> Iterator[Server]:
    listening = free_port(host, 0)
    port = listening.getsockname()[1]
    server = uvicorn.Server(settings(app(rooms, door or Door(port))))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield Server(port, rooms)
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.fixture(scope="session")
def runs(own_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two short runs of networks, where PyTorch is installed."""
    out = tmp_path_factory.mktemp("runs")
    try:
        import torch  # noqa: F401
    except ImportError:
        return out
    from recombine.verbs import learners

    learners.train("concept-world", ["sequences"], ["mlp"], seeds=2, out=out, scale="demo", epochs=1)
    return out


@pytest.fixture(scope="session")
def server(tiny: Curi, runs: Path, own_home: Path) -> Iterator[Server]:
    store = Store(own_home)
    studies = {"curi": tiny, "closure": Closure(SMALL, store=store), "concept-world": ConceptWorld(store=store)}
    rooms = Rooms(store, runs, studies)
    rooms.thinkers["curi"] = Undecided()  # the real one writes 173,272 concepts down first, and has tests of its own
    for name, split in (("curi", "boolean"), ("closure", "or_mat"), ("concept-world", "sequences")):
        rooms.solution(name, split, 0)  # made now, so that no browser waits for it
        rooms.picture(name, 0)
    yield from serving(rooms)
