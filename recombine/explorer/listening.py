"""How the servers of this package listen: on this computer, with little memory, and with no patience.

A request whose head or body does not come in time is let go, so that nobody keeps the others out by opening lines and
saying nothing. What is wrong on a line is not told in the terminal.
"""

import asyncio
import os
import socket
import threading
from types import FrameType
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from recombine.store.errors import UserError

LINES = 64
"""Connections at once."""
LONGEST_HEAD = 64 * 1024
"""Bytes of a request before its body."""
LONGEST_WAIT = 20.0
"""Seconds in which a request must be here."""
LONGEST_END = 2.0
"""Seconds that answers may still take once the server is to end."""


class Impatient(H11Protocol):
    """A line that is cut where a request is not here in time, or an answer not taken."""

    patience: asyncio.TimerHandle | None = None
    untaken: object = None
    """The request whose answer nobody took when it was looked at last."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.patience is not None:
            self.patience.cancel()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        if self.patience is not None:
            self.patience.cancel()
        self.patience = self.loop.call_later(LONGEST_WAIT, self._late)

    def _late(self) -> None:
        now = self.cycle
        if now is None or now.more_body or now.response_complete or now is self.untaken:
            self.transport.abort()
        else:  # it is worked on
            self.untaken = now if self.flow.write_paused else None
            self._wait()


class Server(uvicorn.Server):
    """A server that ends when it is told to, whatever is being worked out: nothing half-written is left by that."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        ending = threading.Timer(LONGEST_END, os._exit, [128 + sig])
        ending.daemon = True
        ending.start()


def from_another_page(headers: Headers) -> bool:
    """Whether a page of somebody else asks for a piece, as browsers say; a link that was followed is fine."""
    elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return elsewhere and headers.get("sec-fetch-mode") != "navigate"


def settings(app: ASGIApp) -> uvicorn.Config:
    """How an application is served; every other way to speak than plain HTTP is left out."""
    bounds: dict[str, Any] = {"limit_concurrency": LINES, "h11_max_incomplete_event_size": LONGEST_HEAD}
    return uvicorn.Config(
        app, http=Impatient, ws="none", lifespan="off", log_level="error", access_log=False, server_header=False,
        timeout_keep_alive=round(LONGEST_WAIT) + 1, **bounds,
    )  # fmt: skip


def free_port(host: str, port: int) -> socket.socket:
    """A socket that listens at this port; 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # who comes before the server is up waits for it
    except (OSError, OverflowError) as error:
        listening.close()
        raise UserError(f"port {port} of {host} cannot be opened ({error}); choose another port") from error
    return listening
