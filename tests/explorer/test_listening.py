"""Lines to a server that are opened to keep others out."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

pytest.importorskip("starlette", reason="servers need: pip install 'recombine[explore]'")
uvicorn = pytest.importorskip("uvicorn", reason="servers need: pip install 'recombine[explore]'")

from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import Response  # noqa: E402
from starlette.routing import Route  # noqa: E402

from recombine.explorer import listening  # noqa: E402

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
FINE = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
LARGE = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"

Ask = Callable[[bytes], bytes]


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A server with little patience."""

    async def echo(request: Request) -> Response:
        return Response(await request.body())

    async def large(request: Request) -> Response:
        return Response(bytes(8_000_000))

    monkeypatch.setattr(listening, "LONGEST_WAIT", 0.1)
    monkeypatch.setattr(listening, "LINES", 8)
    port = listening.free_port("127.0.0.1", 0)
    routes = [Route("/", echo, methods=["GET", "POST"]), Route("/large", large)]
    server = uvicorn.Server(listening.settings(Starlette(routes=routes)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [port]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield port.getsockname()
    server.should_exit = True
    thread.join(10)
    port.close()


def asked(address: tuple[str, int]) -> bytes:
    with socket.create_connection(address, 10) as line:
        line.sendall(FINE)
        return line.recv(12)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nX: a", HEAD + b"{", FINE[:-4], LARGE * 3])
def test_who_says_nothing_or_takes_nothing_keeps_nobody_out(said: bytes, address: tuple[str, int]) -> None:
    with ExitStack() as lines:
        for _ in range(listening.LINES):
            lines.enter_context(socket.create_connection(address, 10)).sendall(said)
        until = time.monotonic() + 10
        while not asked(address).endswith(b"200"):
            assert time.monotonic() < until, "nobody else is let in"
            time.sleep(0.02)


def test_a_request_that_comes_in_time_is_answered(address: tuple[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "LONGEST_WAIT", 10.0)
    with socket.create_connection(address, 10) as line:
        for _ in range(4):  # one after the other on the same line, each with time of its own
            line.sendall(HEAD + b"12345")
            line.sendall(b"6789")
            got = b""
            while not got.endswith(b"123456789"):
                more = line.recv(4_096)
                assert more, "the line was cut"
                got += more


def test_what_is_wrong_on_a_line_is_not_told_in_the_terminal(
    address: tuple[str, int], capfd: pytest.CaptureFixture[str]
) -> None:
    odd = (b"\0\x1b[2J\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    for said in (*odd, b"GET /" + b"a" * 200_000):
        with socket.create_connection(address, 10) as line:
            line.sendall(said)
            line.recv(100)
    assert capfd.readouterr() == ("", "")


BUSY = """
import threading
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route
from recombine.explorer import listening

async def busy(request):
    print("asked", flush=True)
    await run_in_threadpool(threading.Event().wait, 60)

listening.LONGEST_END = 0.1
port = listening.free_port("127.0.0.1", 0)
print(port.getsockname()[1], flush=True)
listening.Server(listening.settings(Starlette(routes=[Route("/", busy)]))).run(sockets=[port])
"""


def test_a_server_ends_while_an_answer_is_worked_out() -> None:
    with (
        subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True) as server,
        ExitStack() as ends,
    ):
        ends.callback(server.kill)
        assert server.stdout is not None
        with reached(("127.0.0.1", int(server.stdout.readline()))) as line:
            line.sendall(FINE)
            assert server.stdout.readline() == "asked\n"
            server.send_signal(signal.SIGTERM)
            assert server.wait(20) == 128 + signal.SIGTERM


def reached(address: tuple[str, int]) -> socket.socket:
    """A line to a server that may still be starting."""
    until = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(address, 10)
        except ConnectionRefusedError:
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.02)


def test_who_comes_before_the_server_is_up_waits_for_it() -> None:
    with listening.free_port("127.0.0.1", 0) as door:
        socket.create_connection(door.getsockname(), timeout=5).close()
