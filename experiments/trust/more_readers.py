"""More readers: files of vehicles, cards, pushed places, words of the command line, and what a browser may ask."""

import asyncio
import json
import random
import shutil
import struct
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments.trust.mutations import json_changed, mangled
from experiments.trust.readers import OBJ, Open, Reader, as_text, shown, texts, through, wellbehaved
from recombine.store.errors import UserError

# --- vehicles -----------------------------------------------------------------------------------------------------


@cache
def _vehicles() -> tuple[bytes, bytes]:
    """A file of scenes and one of questions with programs, as `make super-clevr --format json` writes them."""
    from tempfile import TemporaryDirectory

    from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
    from recombine.benchmarks.super_clevr.study import SuperClevr
    from recombine.store.store import Store

    with TemporaryDirectory() as place:
        few = SuperClevrScale("few", 1, 1, 1, 3, 3)
        with SuperClevr(few, complexity="hard", edition="release", store=Store(Path(place) / "home")) as study:
            made = study.make(Path(place) / "out", format="json")
        scenes, asked = (sorted(made.rglob(f"*val*{what}*.json"))[0] for what in ("scene", "question"))
        return scenes.read_bytes(), asked.read_bytes()


def vehicles_checked(scenes: bool, folder: Path) -> Reader:
    """Files of Super-CLEVR, checked against each other; of which one was changed."""
    from recombine.benchmarks.clevr.study import check_table
    from recombine.benchmarks.super_clevr.check import check
    from recombine.benchmarks.super_clevr.world import VehicleWorld

    samples = _vehicles()
    if not scenes:  # what is seen of every part is read with the scenes, and takes long
        samples = json.dumps(_without_masks(json.loads(samples[0]))).encode(), samples[1]
    files = folder / "scenes.json", folder / "questions.json"
    for file, sample in zip(files, samples):
        file.write_bytes(sample)
    changed = files[0 if scenes else 1]

    def read(_: Path) -> None:
        shown(check_table(check([files[0]], files[1], VehicleWorld()), str(files[1]))[0])

    return Reader([samples[0 if scenes else 1]], partial(through, changed, read), json_changed)


def _without_masks(whole: Any) -> Any:
    for scene in whole["scenes"]:
        scene.pop("obj_mask_box", None)
    return whole


def composition(folder: Path) -> Reader:
    """A composition of one's own: probabilities by vehicle and color; distributions, pairs that are held out."""
    from recombine.benchmarks.super_clevr.factors import variant
    from recombine.benchmarks.super_clevr.fleet import Fleet
    from recombine.benchmarks.super_clevr.world import VehicleWorld

    world, file = VehicleWorld(), folder / "pairs.json"
    row = {color: 1 / len(world.colors) for color in world.colors}

    def read(data: bytes) -> None:
        file.write_bytes(data)
        text = as_text(data)
        tries: tuple[Callable[[], object], ...] = (
            lambda: variant(world, "bal", str(file)),
            lambda: variant(world, text),
            lambda: variant(world, "bal", "co-0", text),
        )
        for one in tries:
            try:
                one()
            except UserError as error:
                wellbehaved(error)

    whole = json.dumps(dict.fromkeys(Fleet().shapes, row)).encode()
    words = texts("bal", "slt", "1.5", "sedan: gray,blue; bus: red")
    return Reader([whole, *words], read, lambda sample, chance: _either(sample, chance))


def _either(sample: bytes, chance: random.Random) -> bytes:
    return json_changed(sample, chance) if sample[:1] in b"{[" else mangled(sample, chance)


CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], "<f4")
SIDES = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]], "<u2")


def _cube(uri: str | None) -> tuple[dict[str, Any], bytes]:
    points, order = CORNERS.tobytes(), SIDES.tobytes()
    content = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "hood", "children": [1], "scale": [1, 2, 1]},
            {"mesh": 0, "rotation": [0, 0, 0, 1], "matrix": np.eye(4).ravel().tolist()},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 0}, "indices": 1, "mode": 4}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(CORNERS), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": SIDES.size, "type": "SCALAR", "sparse": {
                "count": 1, "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 1}}},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(points), "byteStride": 12},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(order)},
        ],
        "buffers": [{"byteLength": len(points + order), **({"uri": uri} if uri else {})}],
    }  # fmt: skip
    return content, points + order


def _glb(text: bytes, binary: bytes) -> bytes:
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def glb_changed(sample: bytes, chance: random.Random) -> bytes:
    """The text of a GLB file changed, with chunks of the right size around it; or the bytes mangled."""
    if chance.random() < 0.3:
        return mangled(sample, chance)
    size = int.from_bytes(sample[12:16], "little")
    text, binary = sample[20 : 20 + size], sample[28 + size :]
    return _glb(json_changed(text, chance), mangled(binary, chance) if chance.random() < 0.2 else binary)


def models(name: str, samples: Callable[[Path], list[bytes]], mutation: Any, folder: Path) -> Reader:
    """A folder with one model in it, made ready to be driven."""
    from recombine.benchmarks.super_clevr.fleet import Fleet

    given = samples(folder)
    place = folder / "garage"
    place.mkdir()
    return Reader(given, lambda data: through(place / name, lambda _: Fleet.in_folder(place).models, data), mutation)


def _glb_samples(folder: Path) -> list[bytes]:
    content, binary = _cube(None)
    return [_glb(json.dumps(content).encode(), binary)]


def _gltf_samples(folder: Path) -> list[bytes]:
    from base64 import b64encode

    _, binary = _cube(None)
    (folder / "garage.bin").write_bytes(binary)
    inside = "data:application/octet-stream;base64," + b64encode(binary).decode()
    return [json.dumps(_cube(uri)[0]).encode() for uri in (inside, "../garage.bin", "garage.bin")]


# --- what leaves the house and comes back -------------------------------------------------------------------------


def cards(folder: Path) -> Reader:
    """The card of a folder that exactly this was made in."""
    from recombine.benchmarks.concept_world.study import ConceptWorld
    from recombine.store.cards import check_card
    from recombine.store.store import Store

    study = ConceptWorld("demo", store=Store(folder / "home"))
    made = study.make(folder / "out", ["sequences"])
    about = study.card({"benchmark": "concept-world"})
    card, second = made / "README.md", made / "croissant.json"
    samples = [card.read_bytes()]

    def read(data: bytes) -> None:
        card.write_bytes(data)
        second.unlink(missing_ok=True)
        check_card(made, about)

    return Reader(samples, read)


def pushed(folder: Path) -> Reader:
    """The manifest of a place that somebody says they have pushed to; nothing beside the new folder is touched."""
    from recombine.store.remote import MANIFEST, pull, push

    source, place, out = folder / "data", folder / "place", folder / "out"
    (source / "inner").mkdir(parents=True)
    (source / "recipe.json").write_text("{}")
    (source / "inner" / "a.parquet").write_bytes(b"some bytes")
    (folder / "thesis.tex").write_text("years of work")
    push(source, f"file://{place}")
    manifest = place / MANIFEST
    whole, kept = manifest.read_bytes(), {"data", "place", "out", "thesis.tex", "home"}

    def read(data: bytes) -> None:
        manifest.write_bytes(data)
        try:
            pull(f"file://{place}", out)
        finally:
            shutil.rmtree(out, ignore_errors=True)
            for draft in folder.glob(".*"):
                assert draft.name.startswith((".draft-", ".part-", ".out", ".lock")), f"{draft.name} was written"
                shutil.rmtree(draft, ignore_errors=True) if draft.is_dir() else draft.unlink()
            assert (folder / "thesis.tex").read_text() == "years of work", "a file beside it is gone"
            assert {path.name for path in folder.iterdir()} <= kept, "something was written beside it"

    other = json.loads(whole)
    other["files"]["../thesis.tex"] = other["files"].pop("recipe.json")
    return Reader([whole, json.dumps(other).encode()], read, json_changed)


def engines(folder: Path) -> Reader:
    """`--engine`: nobody is asked for work before its words are right."""
    from recombine.store.cluster import engine_named

    def read(data: bytes) -> None:
        text = as_text(data)
        if text.startswith("ray") and (len(text) == 3 or "." in text or "localhost" in text):
            text = text.replace(".", "").replace("localhost", "")  # an address would be called up
        engine_named(text, 2)

    return Reader(texts("processes", "slurm:cluster=local,time=10", "slurm:partition=cpu", "ray:", "ray:here"), read)


# --- the explorer -------------------------------------------------------------------------------------------------

PATHS = (
    "/", "/static/app.js", "/api/benchmarks", "/api/progress", "/api/concept-world/about", "/api/runs",
    "/api/concept-world/tables", "/api/concept-world/scene?number=3", "/api/concept-world/scenes?first=24",
    "/api/concept-world/round?split=sequences&number=2", "/picture/concept-world/5.png", "/sound/concept-world/5.wav",
    "/figure/a.svg", "/api/concept-world/read", "/api/concept-world/read", "/api/concept-world/read",
)  # fmt: skip
BODIES = (
    '{"text": "concept X: a red square is left of a blue one", "first": 0}',
    '{"text": "red", "first": 24}',
    '{"text": "concept Line(s: square): grid 3 by 3\\n  all s are red", "first": 3}',
)


def requests(folder: Path) -> Reader:
    """Requests to the explorer: the path, the query and the body that a stranger may send."""
    from recombine.benchmarks.concept_world.study import ConceptWorld
    from recombine.explorer.rooms import Rooms
    from recombine.explorer.server import Door, app
    from recombine.store.store import Store

    store = Store(folder / "home")
    rooms = Rooms(store, None, {"concept-world": ConceptWorld(store=store)})
    served = app(rooms, Door(8000))

    async def asked(path: str, query: bytes, body: bytes) -> tuple[int, bytes]:
        sent: list[dict[str, Any]] = []
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "path": path,
            "method": "POST" if body else "GET", "raw_path": path.encode("utf-8", "surrogateescape"), "root_path": "",
            "query_string": query, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000),
            "headers": [(b"host", b"127.0.0.1:8000"), (b"content-type", b"application/json")],
        }  # fmt: skip
        given = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> dict[str, Any]:
            return next(given, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await served(scope, receive, send)
        return sent[0]["status"], b"".join(one.get("body", b"") for one in sent[1:])

    def read(data: bytes) -> None:
        line, _, body = data.partition(b"\n")
        path, _, query = line.partition(b"?")
        status, said = asyncio.run(asked(path.decode("utf-8", "replace"), query, body))
        assert status < 500, f"{status}: {said[:300]!r}"
        assert b"Traceback" not in said and b".py" not in said, f"a trace of the program: {said[:300]!r}"
        if status != 200:
            raise UserError(json.loads(said)["error"])

    asks = [path.encode() + (b"\n" + BODIES[i % 3].encode() if "read" in path else b"") for i, path in enumerate(PATHS)]
    return Reader(asks, read, _request_changed)


def _request_changed(sample: bytes, chance: random.Random) -> bytes:
    line, end, body = sample.partition(b"\n")
    if body and chance.random() < 0.7:
        return line + end + json_changed(body, chance)
    return mangled(sample, chance)


MORE: Mapping[str, Open] = {
    "scenes, checked (Super-CLEVR, JSON)": partial(vehicles_checked, True),
    "questions, checked (Super-CLEVR, JSON)": partial(vehicles_checked, False),
    "compositions, distributions, held-out pairs (Super-CLEVR)": composition,
    "vehicles (GLB)": partial(models, "a.glb", _glb_samples, glb_changed),
    "vehicles (glTF)": partial(models, "a.gltf", _gltf_samples, json_changed),
    "vehicles (OBJ)": partial(models, "a.obj", lambda _: texts(OBJ), mangled),
    "cards of datasets": cards,
    "manifests of pushed places": pushed,
    "--engine": engines,
    "requests to the explorer": requests,
}
