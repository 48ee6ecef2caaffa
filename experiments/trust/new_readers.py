"""Readers of what others hand over to be checked, asked or seen: certificates, splits, parsers, pictures, requests."""

import asyncio
import json
import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from experiments.trust.mutations import (
    json_changed,
    jsonl_changed,
    mangled,
    parquet_changed,
    png_changed,
    tensors_changed,
)
from experiments.trust.readers import Open, Reader, through
from recombine.store.errors import UserError

ROWS = {"parquet": parquet_changed, "jsonl": jsonl_changed, "webdataset": mangled}


def _fresh(folder: Path, format: str) -> Path:
    """A small fresh test."""
    from recombine.benchmarks.clevr.pipeline import ClevrScale
    from recombine.benchmarks.clevr.study import Clevr
    from recombine.benchmarks.fresh import Order, make
    from recombine.store.store import Store

    with Clevr(ClevrScale("few", 4, 2, 2, 2), store=Store(folder / "home")) as study:
        order = Order("clevr", 0, 30, ("iid",), render=None, format=format)
        return make(study, folder / "fresh", order)


def certificates(folder: Path) -> Reader:
    """certificate.json of a folder that somebody says is a fresh test; with the digest of what it says."""
    from recombine.benchmarks.fresh import CERTIFICATE, certificate_of, changed, digest_of

    made = _fresh(folder, "parquet")
    file = made / CERTIFICATE
    sample = file.read_bytes()

    def never(*_: object, **__: object) -> Any:
        raise UserError("nothing is made again here")

    def signed(given: bytes, chance: random.Random) -> bytes:
        found = json_changed(given, chance)
        try:
            said = json.loads(found)
            return json.dumps({**said, "digest": digest_of(said)}).encode() if chance.random() < 0.8 else found
        except (ValueError, TypeError, RecursionError):
            return found

    def read(data: bytes) -> None:
        file.write_bytes(data)
        changed(made, never)
        str(certificate_of(made).get("command"))

    return Reader([sample], read, signed)


def certified_rows(format: str, folder: Path) -> Reader:
    """A file of rows of a fresh test, beside what its seed gives."""
    from recombine.benchmarks.fresh import _in_rows, _rows_of

    made = _fresh(folder, format)
    ending = {"webdataset": "tar"}.get(format, format)
    original = sorted(made.rglob(f"*.{ending}"))[0]
    there = folder / f"theirs.{ending}"
    return Reader(
        [original.read_bytes()],
        lambda data: through(there, lambda file: (_rows_of(file), _in_rows(file, original)), data),
        ROWS[format],
    )


def splits(folder: Path) -> Reader:
    """A file of a split."""
    from recombine.tasks.made_splits import read_split

    file = folder / "split.json"
    base = {"recombine_split": 1, "benchmark": "closure", "name": "mine", "how": "own"}
    pairs = {**base, "pairs": [["red", "cube"], ["left", "behind"]]}
    sides = {**base, "train": ["exists(filter_red(scene))"], "test": ["count(filter_blue(scene))"]}
    samples = [json.dumps(one).encode() for one in (pairs, sides)]
    return Reader(samples, lambda data: through(file, lambda _: read_split(file, "closure"), data), json_changed)


@cache
def _parser() -> bytes:
    from recombine.benchmarks.super_clevr import sight

    return Path(sight.FILE).read_bytes()


def parsers(folder: Path) -> Reader:
    """The file of a scene parser."""
    from recombine.solvers.perception import Parser

    file = folder / "parser.safetensors"
    return Reader([_parser()], lambda data: through(file, lambda _: Parser.load(file), data), tensors_changed)


def seen(folder: Path) -> Reader:
    """A picture for `perceive` and `answer`, as far as a network would look at it."""
    import numpy as np

    from recombine.benchmarks.clevr import sight
    from recombine.render.png import png, read_png

    picture = png(np.random.default_rng(0).integers(0, 256, (24, 32, 3), np.uint8))
    file = folder / "picture.png"
    return Reader([picture], lambda data: through(file, lambda _: read_png(file, sight.LONGEST), data), png_changed)


def asked(folder: Path) -> Reader:
    """Requests to the server of learners."""
    from recombine.harness.server import app

    book = SimpleNamespace(reply=_reply)
    served = app(book, 8421)  # type: ignore[arg-type]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "method": "POST",
        "path": "/v1/chat/completions", "raw_path": b"/v1/chat/completions", "root_path": "", "query_string": b"",
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8421), "headers": [(b"host", b"127.0.0.1:8421")],
    }  # fmt: skip

    async def answer(body: bytes) -> tuple[int, bytes]:
        sent: list[dict[str, Any]] = []
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> dict[str, Any]:
            return next(given, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await served(dict(scope), receive, send)
        return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])

    def read(data: bytes) -> None:
        status, said = asyncio.run(answer(data))
        assert status < 500, f"{status}: {said[:300]!r}"
        if status != 200:
            raise UserError(json.loads(said)["error"]["message"])

    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": "Is there a cube?"}, picture]
    samples = [
        {"model": "strong", "messages": [{"role": "user", "content": "Is there a cube?"}], "stream": False},
        {"model": "a/weak", "messages": [{"role": "user", "content": content}], "temperature": 0.5, "max_tokens": 9},
    ]
    return Reader([json.dumps(one).encode() for one in samples], read, json_changed)


def _reply(learner: str, content: Any) -> str:
    """As a book does: it knows two learners, and looks its prompts up."""
    if learner not in ("strong", "weak"):
        raise UserError(f"there is no learner '{learner}'; choose strong or weak")
    return str(len(content))


NEW: Mapping[str, Open] = {
    "certificates of fresh tests": certificates,
    "rows of fresh tests (Parquet)": lambda folder: certified_rows("parquet", folder),
    "rows of fresh tests (JSON lines)": lambda folder: certified_rows("jsonl", folder),
    "rows of fresh tests (tar)": lambda folder: certified_rows("webdataset", folder),
    "files of splits": splits,
    "scene parsers (.safetensors)": parsers,
    "pictures for perceive and answer": seen,
    "requests to the server of learners": asked,
}
