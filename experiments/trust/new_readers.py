"""Readers of what others hand over to be checked, asked or seen: certificates, splits, parsers, pictures, requests."""

import asyncio
import json
import random
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from experiments.trust import mutations
from experiments.trust.readers import Open, Reader, through
from recombine.store.errors import UserError

ROWS = {"parquet": mutations.parquet_changed, "jsonl": mutations.jsonl_changed, "webdataset": mutations.mangled}


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
        found = mutations.json_changed(given, chance)
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
    return Reader(
        samples, lambda data: through(file, lambda _: read_split(file, "closure"), data), mutations.json_changed
    )


def parsers(folder: Path) -> Reader:
    """The file of a scene parser: a small one that looks once, and one that looks closer."""
    import numpy as np

    from recombine.solvers.closer import Closer, PartWords
    from recombine.solvers.networks.attribute_net import AttributeNet
    from recombine.solvers.networks.scene_parser import SceneParser
    from recombine.solvers.perception import Calibration, Parser, Usual

    file, samples = folder / "parser.safetensors", []
    names = (("shape", ("jet", "bus")), ("color", ("red", "blue")))
    parts = PartWords(("door", "hood"), (("color", ("red", "blue")),), ("door", "hood"))
    closer = Closer(AttributeNet(1, (2, 2), 2, (2,)), names, parts, (1.0, 1.0), (1.0, 0.0), (1.0,))
    usual = Usual(np.zeros(8, np.float32), np.eye(8, dtype=np.float32), 1.0, 1.0)
    small = Parser(SceneParser(1, (2, 2)), "vehicles", names, Calibration(values=(1.0, 1.0)), usual)
    for one in (small, Parser(SceneParser(1, ()), "vehicles", names, Calibration(), None, 240, closer)):
        one.save(file)
        samples.append(file.read_bytes())
    return Reader(samples, lambda data: through(file, lambda _: Parser.load(file), data), mutations.tensors_changed)


def features(folder: Path) -> Reader:
    """Features of images that somebody has for `--features`."""
    import numpy as np

    from recombine.solvers.views import FeatureMaps

    file = folder / "train.npy"
    np.save(file, np.zeros((3, 2, 2, 4), np.float32))
    sample = file.read_bytes()
    np.savez(folder / "other.npz", maps=np.zeros((1, 1, 1, 1), np.float32))
    others = (folder / "other.npz").read_bytes(), b""
    return Reader([sample, sample, *others], lambda data: through(file, lambda _: FeatureMaps(file).shape, data))


def prompted(folder: Path) -> Reader:
    """Pictures and sounds in the prompts that the server of learners is sent, whatever a harness has made of them."""
    import io

    import numpy as np
    from PIL import Image

    from recombine.harness.book import seen_or_heard, small
    from recombine.render.png import png
    from recombine.render.wave import to_wav

    pixels = np.random.default_rng(0).integers(0, 256, (12, 16, 3), np.uint8)
    samples = [png(pixels), to_wav(np.zeros(50))]
    for form in ("JPEG", "WEBP", "GIF", "BMP", "PNG", "TIFF"):
        held = io.BytesIO()
        Image.fromarray(pixels).save(held, form, **({"interlace": 1} if form == "PNG" else {}))
        samples.append(held.getvalue())

    def read(data: bytes) -> None:
        seen_or_heard(data)
        if data[:4] != b"RIFF":
            small(data)

    def changed(sample: bytes, chance: random.Random) -> bytes:
        one = {b"\x89PNG": mutations.png_changed, b"RIFF": mutations.wav_changed}.get(sample[:4], mutations.mangled)
        return one(sample, chance) if b"WEBP" not in sample[:16] else mutations.mangled(sample, chance)

    return Reader(samples, read, changed)


def handed_on(folder: Path) -> Reader:
    """config.json and results.json of a run, whose weights are written for others."""
    import shutil

    import torch

    from recombine.solvers.training.checkpoint import save
    from recombine.solvers.training.records import FORMAT
    from recombine.solvers.training.weights import write_weights

    run, out = folder / "run", folder / "weights"
    (run / "checkpoints").mkdir(parents=True)
    config = {"format": FORMAT, "benchmark": "closure", "network": {"name": "mac"}, "seed": 0}
    save(run / "checkpoints" / "best.safetensors", {"network": {"a": torch.zeros(2)}, "step": 1}, config)
    results = {"scores": {"CLEVR": {"right": 0.5, "questions": 10}}, "length": {}}

    def read(data: bytes) -> None:
        try:
            both = json.loads(data)
            held = [json.dumps(both[name]).encode() for name in ("config", "results")]
        except (ValueError, KeyError, TypeError, RecursionError):
            held = [data, data]
        for name, content in zip(("config", "results"), held):
            (run / f"{name}.json").write_bytes(content)
        try:
            write_weights(run, out)
        finally:
            shutil.rmtree(out, ignore_errors=True)

    return Reader([json.dumps({"config": config, "results": results}).encode()], read, mutations.json_changed)


def seen(folder: Path) -> Reader:
    """A picture for `perceive` and `answer`, as far as a network would look at it."""
    import numpy as np

    from recombine.render.png import png, read_png
    from recombine.solvers.perception import LONGEST

    picture = png(np.random.default_rng(0).integers(0, 256, (24, 32, 3), np.uint8))
    file = folder / "picture.png"
    return Reader([picture], lambda data: through(file, lambda _: read_png(file, LONGEST), data), mutations.png_changed)


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
    return Reader([json.dumps(one).encode() for one in samples], read, mutations.json_changed)


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
    "features of images (.npy)": features,
    "pictures and sounds of prompts": prompted,
    "config.json, results.json of a run (weights)": handed_on,
    "pictures for perceive and answer": seen,
    "requests to the server of learners": asked,
}
