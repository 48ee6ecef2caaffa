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
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from recombine.harness.book import Book, Content
from recombine.store.errors import UserError
from recombine.store.untrusted import parse_json

LARGEST = 64 * 2**20
"""Bytes of a request: fifty pictures of an episode take one million."""


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
    asked, lock = set[str](), threading.Lock()

    def reply(learner: str, content: Content) -> str:
        with lock:
            return book.reply(learner, content)

    async def models(request: Request) -> Response:
        known = sorted({"strong", "weak", *asked})
        return JSONResponse({"object": "list", "data": [{"id": one, "object": "model"} for one in known]})

    async def chat(request: Request) -> Response:
        try:
            given = parse_json(await _body(request), "the request")
            if not isinstance(given, dict) or not isinstance(given.get("model"), str):
                raise Refused(400, "a request must be an object with a model and messages")
            learner = given["model"].rpartition("/")[2]
            said = await run_in_threadpool(reply, learner, content_of(given.get("messages")))
        except Refused as error:
            return _error(error.status, error.why)
        except UserError as error:
            return _error(400, str(error))
        except ClientDisconnect:
            return _error(400, "the request ended early")
        asked.add(learner)
        about = {"id": "recombine", "created": int(time.time()), "model": given["model"]}
        if given.get("stream"):
            return StreamingResponse(_stream(about, said), media_type="text/event-stream")
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return JSONResponse({**about, "object": "chat.completion", "choices": [choice], "usage": usage})

    def guarded(work: Any) -> Any:
        async def answer(request: Request) -> Response:
            host = request.headers.get("host", "").lower()
            if host not in {f"{name}:{port}" for name in ("127.0.0.1", "localhost")} or request.headers.get("origin"):
                return _error(403, "this address is not answered")
            found: Response = await work(request)
            return found

        return answer

    return Starlette(
        routes=[
            Route("/v1/models", guarded(models), methods=["GET"]),
            Route("/v1/chat/completions", guarded(chat), methods=["POST"]),
        ]
    )


async def _body(request: Request) -> bytes:
    """What was sent, refused before it is all here if it is too large."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > LARGEST:
            raise Refused(413, "the request is too large")
    return bytes(found)


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
    import uvicorn

    settings = uvicorn.Config(
        app(book, listening.getsockname()[1]),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=64,
    )
    uvicorn.Server(settings).run(sockets=[listening])
