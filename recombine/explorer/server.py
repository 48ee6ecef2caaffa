"""The explorer's server: JSON, pictures and sounds on this computer.

What comes from outside is a name among known ones, a number, or a text of limited length; no part of a request is ever
the name of a file. It answers to its own address alone, so that another page in the same browser, or a name that was
made to point here, gets nothing; bound elsewhere than to this computer it asks for a token. Pages run no script but
their own.
"""

import json
import secrets
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from recombine.explorer.listening import Server, from_another_page, settings
from recombine.explorer.rooms import Rooms, pointed_at
from recombine.store.errors import UserError
from recombine.store.untrusted import parse_json

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST = 64 * 1024
"""Bytes of a request's body."""
LONGEST_QUERY = 2_000
MOST_FIELDS = 16
COOKIE = "recombine"
PAGE = {
    "": ("index.html", "text/html; charset=utf-8"),
    "app.js": ("app.js", "text/javascript; charset=utf-8"),
    "style.css": ("style.css", "text/css; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
"""All that is served of the page, by its address."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
A_DAY = "private, max-age=86400"


class Refused(Exception):
    """A request that is not answered: its status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


@dataclass(frozen=True, eq=False)
class Door:
    """Who is let in."""

    port: int
    host: str = "127.0.0.1"
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def local(self) -> bool:
        return self.host in LOOPBACK

    @property
    def address(self) -> str:
        """Where a browser finds it."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/" + ("" if self.local else f"?token={self.token}")

    def check(self, request: Request) -> bool:
        """Refuse strangers; whether a token was in the address, which a cookie then keeps."""
        host = request.headers.get("host", "").lower()
        if self.local and host not in {f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")}:
            raise Refused(403, "this address is not answered")
        origin = request.headers.get("origin")
        if from_another_page(request.headers) or (origin is not None and origin.lower() != f"http://{host}"):
            raise Refused(403, "another page asked")
        if self.local:
            return False
        given = parse_qs(request.url.query).get("token", [""])[0]
        known = given or request.cookies.get(COOKIE, "")
        if not secrets.compare_digest(known.encode("utf-8", "replace"), self.token.encode()):
            raise Refused(401, "open the address with the token that the command printed")
        return bool(given)


Answer = tuple[bytes, str, str]
"""Body, type, and how long it may be kept."""


def said(data: Any, status: int = 200) -> Response:
    return Response(
        json.dumps(data, allow_nan=False), status, HEADERS | {"Cache-Control": "no-store"}, "application/json"
    )


def app(rooms: Rooms, door: Door) -> Starlette:
    """The application."""
    page = {name: (_file(file), kind) for name, (file, kind) in PAGE.items()}

    def guarded(work: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Checks the door before, and says what is wrong in a sentence, never where in the program."""

        async def answer(request: Request) -> Response:
            try:
                query = request.scope["query_string"]
                if len(query) > LONGEST_QUERY:
                    raise Refused(414, "the address is too long")
                if not query.isascii():
                    raise Refused(400, "the address holds bytes that no address has")
                new = door.check(request)
                response = await work(request)
                if new:
                    response.set_cookie(COOKIE, door.token, httponly=True, samesite="strict")
                return response
            except Refused as error:
                return said({"error": error.why}, error.status)
            except UserError as error:
                return said({"error": str(error)}, 400)
            except ClientDisconnect:
                return said({"error": "the request ended early"}, 400)
            except Exception as error:  # a bug of ours: say so, and go on
                return said({"error": f"this went wrong inside ({type(error).__name__}); please report it"}, 500)

        return answer

    async def locked(work: Callable[[], Any]) -> Any:
        def alone() -> Any:
            with rooms.lock:
                return work()

        return await run_in_threadpool(alone)

    async def static(request: Request) -> Response:
        name = request.path_params.get("name", "")
        if name not in page:
            raise Refused(404, "there is no such page")
        body, kind = page[name]
        return Response(body, 200, HEADERS | {"Cache-Control": "no-cache"}, kind)

    async def progress(request: Request) -> Response:
        stage = rooms.stage
        return said(None if stage is None else {"stage": stage[0], "done": stage[1], "total": stage[2]})

    def asked(work: Callable[[Mapping[str, str]], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            if request.url.query.count("&") >= MOST_FIELDS:
                raise Refused(400, "the address asks too much at once")
            given = {name: values[0] for name, values in parse_qs(request.url.query).items()}
            return said(await locked(lambda: work({**given, **request.path_params})))

        return guarded(answer)

    async def thought(request: Request) -> Response:
        given = {name: values[0] for name, values in parse_qs(request.url.query).items()}
        where = _round({**given, **request.path_params})
        return said(await run_in_threadpool(lambda: rooms.thought(*where)))

    def media(work: Callable[[str, int], bytes], kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            name, number = request.path_params["benchmark"], whole(request.path_params, "number")
            body = await locked(lambda: work(name, number))
            return Response(body, 200, HEADERS | {"Cache-Control": A_DAY}, kind)

        return guarded(answer)

    async def figure(request: Request) -> Response:
        drawn = rooms.runs.figures.get(request.path_params["name"])
        if drawn is None:
            raise Refused(404, "there is no such figure")
        policy = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
        return Response(drawn, 200, HEADERS | policy | {"Cache-Control": "no-store"}, "image/svg+xml")

    def written(work: Callable[[str, str, int], Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            given = await _body(request)
            text = given.get("text")
            if not isinstance(text, str):
                raise Refused(400, "a text is missing")
            name, first = request.path_params["benchmark"], _number(given.get("first", 0), "first")
            try:
                return said(await locked(lambda: work(name, text, first)))
            except UserError as error:
                return said(pointed_at(error, text))  # what is being typed is mostly not finished: no failure

        return guarded(answer)

    async def missing(request: Request, error: Exception) -> Response:
        return said({"error": "there is nothing at this address"}, getattr(error, "status_code", 404))

    routes = [
        Route("/", guarded(static)),
        Route("/static/{name}", guarded(static)),
        Route("/api/progress", guarded(progress)),
        Route("/api/benchmarks", asked(lambda given: rooms.names())),
        Route("/api/runs", asked(lambda given: rooms.compared())),
        Route("/api/{benchmark}/about", asked(lambda given: rooms.about(given["benchmark"]))),
        Route("/api/{benchmark}/tables", asked(lambda given: rooms.tables(given["benchmark"]))),
        Route("/api/{benchmark}/factors", asked(lambda g: rooms.factors(g["benchmark"], whole(g, "layout")))),
        Route("/api/{benchmark}/round", asked(lambda given: rooms.round(*_round(given)))),
        Route("/api/{benchmark}/solution", asked(lambda given: rooms.solution(*_round(given)))),
        Route("/api/{benchmark}/thought", guarded(thought)),
        Route("/api/{benchmark}/scenes", asked(lambda g: rooms.shots(g["benchmark"], whole(g, "first"), 24))),
        Route("/api/{benchmark}/scene", asked(lambda g: rooms.scene(g["benchmark"], whole(g, "number")))),
        Route(
            "/api/{benchmark}/differences",
            asked(
                lambda g: rooms.differences(g["benchmark"], g.get("split", ""), g.get("one", ""), g.get("other", ""))
            ),
        ),
        Route("/api/{benchmark}/read", written(rooms.read), methods=["POST"]),
        Route("/api/{benchmark}/filtered", written(rooms.filtered), methods=["POST"]),
        Route("/picture/{benchmark}/{number}.png", media(rooms.picture, "image/png")),
        Route("/large/{benchmark}/{number}.png", media(rooms.large, "image/png")),
        Route("/sound/{benchmark}/{number}.wav", media(rooms.sound, "audio/wav")),
        Route("/figure/{name}.svg", guarded(figure)),
    ]
    served = Starlette(routes=routes, exception_handlers={404: missing, 405: missing, 400: missing})
    served.router.redirect_slashes = False
    return served


def _file(name: str) -> bytes:
    return (files("recombine.explorer") / "page" / name).read_bytes()


def _round(given: Mapping[str, str]) -> tuple[str, str, int]:
    return given["benchmark"], given.get("split", ""), whole(given, "number")


def whole(given: Mapping[str, Any], name: str) -> int:
    """A number of an address."""
    return _number(given.get(name, "0"), name)


def _number(value: Any, name: str) -> int:
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise Refused(400, f"{name} must be a number from 0 on")
    return int(text)


async def _body(request: Request) -> dict[str, Any]:
    """A small JSON object, refused before it is all here if it is too large."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "the body must be JSON")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > LARGEST:
            raise Refused(413, "the body is too large")
    found: dict[str, Any] = parse_json(content, "the body", dict)
    return found


def serve(rooms: Rooms, listening: socket.socket, door: Door, browser: bool) -> None:
    """Answer until it is stopped."""
    server = Server(settings(app(rooms, door)))
    threading.Thread(target=rooms.warm, daemon=True).start()
    if browser:
        threading.Timer(0.3, webbrowser.open, [door.address]).start()
    try:
        server.run(sockets=[listening])
    finally:
        rooms.close()
