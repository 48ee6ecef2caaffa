"""Learners behind an OpenAI-style server on this computer: any harness can ask them as it asks any model.

`POST /v1/chat/completions` answers a prompt of the rows that it was opened with, whole or as a stream; the name of the
model is that of the learner. `GET /v1/models` names those that have answered so far.
"""

import base64
import binascii
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from recombine.explorer.listening import Server, from_another_page, settings
from recombine.harness.book import Book, Content
from recombine.store.errors import UserError
from recombine.store.untrusted import parse_json

LARGEST = 32 * 2**20
"""Bytes of a request: fifty pictures of an episode take one million."""
AT_ONCE = 4 * LARGEST
"""Bytes of all requests that are not answered yet."""


class Refused(Exception):
    """A request that is not answered: its status, and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


def content_of(messages: Any) -> Content:
    """Texts and files of the last message of a chat, pictures and sounds as data addresses."""
    if not isinstance(messages, list) or not messages or not isinstance(messages[-1], Mapping):
        raise Refused(400, "messages must be a list of messages")
    said = messages[-1].get("content")
    if isinstance(said, str):
        return [said]
    if not isinstance(said, list):
        raise Refused(400, "the content of a message must be a text or a list of parts")
    return [_part(one) for one in said]


def _part(one: Any) -> str | bytes:
    kind = one.get("type") if isinstance(one, Mapping) else None
    if kind in ("text", "input_text") and isinstance(one.get("text"), str):
        return str(one["text"])
    if kind in ("image_url", "input_audio"):
        held = one.get(kind)
        address = held.get("url" if kind == "image_url" else "data") if isinstance(held, Mapping) else held
        try:
            return base64.b64decode(str(address).rpartition(",")[2], validate=True)
        except (binascii.Error, ValueError):
            raise Refused(400, "pictures and sounds must be data addresses in base64; nothing is fetched") from None
    raise Refused(400, "a part of a message must be a text, an image_url or an input_audio")


def app(book: Book, port: int) -> Starlette:
    """The application."""
    known, lock, room = {"strong", "weak"}, threading.Lock(), Room()

    def reply(body: bytearray) -> tuple[str, bool, str]:
        """The model that was asked, whether its answer is streamed, and that; one request at a time is unpacked."""
        with lock:
            given = parse_json(bytes(body), "the request")
            if not isinstance(given, dict) or not isinstance(given.get("model"), str):
                raise Refused(400, "a request must be an object with a model and messages")
            learner = given["model"].rpartition("/")[2]
            said = book.reply(learner, content_of(given.get("messages")))
            known.add(learner)
            return given["model"], bool(given.get("stream")), said

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": one, "object": "model"} for one in sorted(known)]})

    async def chat(request: Request) -> Response:
        with room.for_one() as taken:
            model, streamed, said = await run_in_threadpool(reply, await _body(request, taken))
        about = {"id": "recombine", "created": int(time.time()), "model": model}
        if streamed:
            return StreamingResponse(_stream(about, said), media_type="text/event-stream")
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return JSONResponse({**about, "object": "chat.completion", "choices": [choice], "usage": usage})

    def guarded(work: Any) -> Any:
        async def answer(request: Request) -> Response:
            host = request.headers.get("host", "").lower()
            known_host = host in {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
            if not known_host or "origin" in request.headers or from_another_page(request.headers):
                return _error(403, "this address is not answered")
            try:
                found: Response = await work(request)
            except Refused as error:
                return _error(error.status, error.why)
            except UserError as error:
                return _error(400, str(error))
            except ClientDisconnect:
                return _error(400, "the request ended early")
            except Exception as error:  # a bug of ours: say so, and go on
                return _error(500, f"this went wrong inside ({type(error).__name__}); please report it")
            return found

        return answer

    async def missing(request: Request, error: Exception) -> Response:
        return _error(getattr(error, "status_code", 404), "there is nothing at this address")

    served = Starlette(
        routes=[
            Route("/v1/models", guarded(models), methods=["GET"]),
            Route("/v1/chat/completions", guarded(chat), methods=["POST"]),
        ],
        exception_handlers={404: missing, 405: missing},
    )
    served.router.redirect_slashes = False
    return served


class Room:
    """What requests that are not answered yet may take together."""

    def __init__(self) -> None:
        self.taken = 0

    @contextmanager
    def for_one(self) -> Iterator[Callable[[int], None]]:
        """For one request, which says how many bytes more of it have come."""
        its = 0

        def take(more: int) -> None:
            nonlocal its
            its += more
            self.taken += more
            if its > LARGEST:
                raise Refused(413, "the request is too large")
            if self.taken > AT_ONCE:
                raise Refused(503, "too much is asked at once; ask again")

        try:
            yield take
        finally:
            self.taken -= its


async def _body(request: Request, take: Callable[[int], None]) -> bytearray:
    """What was sent, refused before it is all here if it is too large."""
    found = bytearray()
    async for part in request.stream():
        take(len(part))
        found += part
    return found


def _error(status: int, why: str) -> Response:
    return JSONResponse({"error": {"message": why, "type": "invalid_request_error", "code": status}}, status)


def _stream(about: Mapping[str, Any], said: str) -> Iterator[str]:
    for delta, end in (({"role": "assistant", "content": said}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        yield f"data: {json.dumps({**about, 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    yield f"data: {json.dumps({**about, 'object': 'chat.completion.chunk', 'choices': [], 'usage': usage})}\n\n"
    yield "data: [DONE]\n\n"


def serve(book: Book, listening: socket.socket) -> None:
    """Answer until it is stopped."""
    Server(settings(app(book, listening.getsockname()[1]))).run(sockets=[listening])
