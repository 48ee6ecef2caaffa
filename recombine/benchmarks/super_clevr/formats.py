"""Super-CLEVR's files: scenes with parts and masks, and questions, as JSON.

A scene is CLEVR's, and its objects have a `texture` and `parts`. Its `rotation` is 0 where a vehicle heads along y, a
bicycle along x. `obj_mask_box` holds, for every object and every part that its model lists, the box of what is seen of
it and its mask as run lengths along the rows, that of the background first.

Files of both editions are read: `stripped` is a texture of the release, and a name of a part may come as the models
have it (`wheel_front_left`) or in words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np

from recombine.benchmarks.clevr import formats as clevr
from recombine.benchmarks.clevr.formats import QuestionRecord, Record, SceneFile, read_dict, read_list, read_records
from recombine.benchmarks.clevr.language import Dialect
from recombine.benchmarks.super_clevr.fleet import Fleet
from recombine.benchmarks.super_clevr.language import dialect_of
from recombine.benchmarks.super_clevr.names import spoken
from recombine.benchmarks.super_clevr.world import HEIGHT, LOOKS, NONE, WIDTH, VehicleWorld
from recombine.render.masks import encode, seen
from recombine.store.errors import UserError
from recombine.store.paths import inside
from recombine.world.scenes import Scenes

TEXTURES = {"striped": "stripped", "vstriped": "vstripped"}
"""What files call them, where that is another word."""

LARGEST = 8192
"""Pixels along a side of an image."""

PIECE = 50
"""Scenes whose masks are made together."""


@dataclass(frozen=True)
class SceneRecords:
    """Reads and writes the scenes of a world."""

    world: VehicleWorld

    @property
    def fleet(self) -> Fleet:
        return self.world.fleet

    # --- reading

    def prepare(self, record: Record) -> Record:
        """A scene in CLEVR's way: the parts of an object are attributes of it."""
        objects = [
            self._object(thing, number) for number, thing in enumerate(read_list(record.get("objects"), "objects"))
        ]
        if masks := record.get("obj_mask_box"):
            self._check_masks(read_dict(masks, "obj_mask_box"), len(objects), _image_size(record))
        return {**record, "objects": objects}

    def _object(self, thing: Any, number: int) -> Record:
        try:
            return self._flat(read_dict(thing, "it"))
        except UserError as error:
            raise UserError(f"object {number}: {error}") from None

    def _flat(self, thing: Record) -> Record:
        shape, rotation, pixel = thing.get("shape"), thing.get("rotation"), thing.get("pixel_coords")
        if not isinstance(shape, str) or shape not in self.fleet.category:
            raise UserError(f"{brief(shape)} is not a vehicle; choose one of {', '.join(self.fleet.shapes)}")
        found = {**thing, "texture": _texture(thing.get("texture"))}
        if isinstance(pixel, list) and pixel and isinstance(pixel[0], list):
            found["pixel_coords"] = pixel[0]
        if isinstance(rotation, int | float) and abs(rotation) <= clevr.FARTHEST:
            found["rotation"] = (rotation + self._turned(shape)) % 360
        return {**found, **self._slots(shape, thing.get("parts") or {})}

    def _slots(self, shape: str, parts: object) -> Record:
        named = {spoken(str(name)): look for name, look in read_dict(parts, "parts").items()}
        known = self.fleet.parts[shape]
        if unknown := [name for name in named if name not in known]:
            elsewhere = "" if unknown[0] in self.fleet.part_names else ", nor any other vehicle"
            raise UserError(f"a {shape} has no part '{unknown[0]}'{elsewhere}; it has {', '.join(known) or 'none'}")
        if len(named) > self.world.parts.most:
            raise UserError(f"an object has at most {self.world.parts.most} recorded parts, not {len(named)}")
        found: Record = {}
        order = sorted(named, key=known.index)
        for slot in range(self.world.parts.most):
            name = order[slot] if slot < len(order) else NONE
            look = read_dict(named.get(name, {}), f"part '{name}'") if name != NONE else dict.fromkeys(LOOKS, NONE)
            found[f"part_{slot + 1}"] = name
            found |= {f"part_{slot + 1}_{one}": look.get(one) for one in ("color", "material")}
            found[f"part_{slot + 1}_texture"] = _texture(look.get("texture"))
        return found

    def _check_masks(self, masks: Record, objects: int, size: tuple[int, int]) -> None:
        for key, entry in masks.items():
            if key not in map(str, range(objects)):
                raise UserError(f"obj_mask_box speaks of object {brief(key)} of {objects}")
            for name, mask in read_dict(entry, f"obj_mask_box {key}").items():
                if name != "info":
                    read_mask(mask, f"the mask of {brief(name)[1:-1]} of object {key}", size)

    def _turned(self, shape: str) -> float:
        """Where a vehicle heads when its rotation is 0."""
        return 0.0 if self.fleet.category[shape] == "bicycle" else 90.0

    # --- writing

    def finish(self, records: Iterator[Record], masks: Iterator[Record] | None = None) -> Iterator[Record]:
        """Records of CLEVR's kind as those of Super-CLEVR."""
        for record in records:
            objects = [self._official(thing) for thing in record["objects"]]
            boxes = {"obj_mask_box": next(masks)} if masks is not None else {}
            yield {**record, "objects": objects, **boxes}

    def _official(self, thing: Record) -> Record:
        plain = {name: value for name, value in thing.items() if not name.startswith("part_")}
        shape, texture = plain["shape"], plain["texture"]
        plain["texture"] = None if texture == NONE else TEXTURES.get(texture, texture)
        if "rotation" in plain:
            plain["rotation"] = (plain["rotation"] - self._turned(shape)) % 360
        if "pixel_coords" in plain:
            plain["pixel_coords"] = [plain["pixel_coords"], [WIDTH, HEIGHT]]
        return {**plain, "parts": dict(self._part_records(thing))}

    def _part_records(self, thing: Record) -> Iterator[tuple[str, Record]]:
        raw = dict(zip(self.fleet.parts[thing["shape"]], self.fleet.raw_parts[thing["shape"]]))
        for slot in range(1, self.world.parts.most + 1):
            if (name := thing[f"part_{slot}"]) != NONE:
                texture = thing[f"part_{slot}_texture"]
                look = {one: thing[f"part_{slot}_{one}"] for one in ("color", "material")}
                said = None if texture == NONE else TEXTURES.get(texture, texture)
                yield raw[name], {**look, "size": thing["size"], "texture": said}

    def masks(self, scenes: Scenes) -> Iterator[Record]:
        """What is seen of every object and of all its parts, scene by scene, as `obj_mask_box`."""
        most = self.fleet.part_codes.shape[1] + 1
        for start in range(0, len(scenes), PIECE):
            some = scenes[start : start + PIECE]
            pictures = self.world.stage.draw(some, WIDTH, HEIGHT, ("objects", "parts"))
            assert pictures.objects is not None and pictures.parts is not None
            for row in range(len(some)):
                objects, parts = pictures.objects[row : row + 1], pictures.parts[row : row + 1]
                places = int(some.count[row])
                whole = _written(objects, places)
                pieces = np.where(parts >= 0, objects.astype(np.int32) * most + parts, -1)
                of_parts = _written(pieces, places * most)
                yield self._boxes(some.objects(row), whole, of_parts, most)

    def _boxes(self, objects: Sequence[Mapping[str, str]], whole: list[Any], parts: list[Any], most: int) -> Record:
        many: dict[str, int] = {}
        found: Record = {}
        for number, thing in enumerate(objects):
            shape = thing["shape"]
            many[shape] = many.get(shape, -1) + 1
            listed = {raw: parts[number * most + place] for place, raw in enumerate(self.fleet.raw_parts[shape])}
            found[str(number)] = {"info": f"{shape}_{many[shape]}", "obj": whole[number], **listed}
        return found


def _texture(value: object) -> object:
    """A texture by our name; none where a file says nothing."""
    names = {said: name for name, said in TEXTURES.items()}
    return NONE if value is None else names.get(value, value) if isinstance(value, str) else value


def _written(ids: np.ndarray, places: int) -> list[Any]:
    """The box and the run lengths of each number in int[1, height, width], as files have them."""
    boxes = seen(ids, places).boxes[0].tolist()
    runs = encode(ids.swapaxes(1, 2), places)
    return [[box, ",".join(map(str, runs.of(number).tolist()))] for number, box in enumerate(boxes)]


def _image_size(record: Record) -> tuple[int, int]:
    """Width and height of a scene's image, as its objects tell them."""
    for thing in record["objects"]:
        match thing.get("pixel_coords"):
            case [[*_], [int(width), int(height)]] if 0 < width <= LARGEST and 0 < height <= LARGEST:
                return width, height
    return WIDTH, HEIGHT


def read_mask(entry: object, what: str, size: tuple[int, int] = (WIDTH, HEIGHT)) -> np.ndarray:
    """The mask of a file, bool[height, width]; its size and its box are checked."""
    box, text = [*read_list(entry, what), None, None][:2]
    if not isinstance(text, str) or not all(one.isdecimal() and len(one) < 10 for one in text.split(",")):
        raise UserError(f"{what} is no list of run lengths such as 300000,20,7180")
    runs = np.array([int(one) for one in text.split(",")])
    (width, height), many = size, int(runs.sum())
    if many != width * height:
        raise UserError(f"{what} has {many:,} pixels, but its image of {width} x {height} has {width * height:,}")
    mask = np.repeat(np.arange(len(runs)) % 2 == 1, runs).reshape(height, width)
    ids = np.where(mask, 0, -1)[None]
    if box != (found := seen(ids, 1).boxes[0, 0].tolist()):
        raise UserError(f"the box of {what.removeprefix('the mask of ')} is {found} by its mask, not {box!r:.60}")
    return mask


def read_scenes(paths: Sequence[Path | str], world: VehicleWorld) -> SceneFile:
    """The scenes of files, or of all files of a folder."""
    files = [file for path in paths for file in _files(Path(path))]
    if not files:
        raise UserError("no scene file was given")
    records = SceneRecords(world)
    return clevr.together([clevr.read_scenes(file, world.vocabulary, records.prepare) for file in files])


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(inside(path, file) for file in path.iterdir() if file.suffix in (".json", ".jsonl"))
    if not found:
        raise UserError(f"{path} holds no files of scenes, .json or .jsonl")
    return found


def write_scenes(path: Path | str, scenes: Scenes, world: VehicleWorld, split: str, first: int = 0) -> None:
    """Write scenes as Super-CLEVR does, with masks."""
    index = np.arange(first, first + len(scenes))
    file = replace(SceneFile.of(scenes, split, first), image_filename=tuple(map(image_name, index.tolist())))
    records = SceneRecords(world)
    clevr.write_scenes(path, file, lambda plain: records.finish(plain, records.masks(scenes)))


def image_name(number: int) -> str:
    return f"superCLEVR_new_{number:06}.png"


# --- questions


def read_questions(path: Path | str, world: VehicleWorld, edition: str = "release") -> list[QuestionRecord]:
    """The questions of a file, about objects or about parts, with programs or without."""
    dialect, names = dialect_of(world, edition), _Names(world)

    def read(record: Record) -> QuestionRecord:
        program = record.get("program")
        if isinstance(program, list):
            record = {**record, "program": [names.node(node) for node in program]}
        return _named(clevr.read_question(record, dialect))

    return read_records(path, "questions").each(read)


def _named(question: QuestionRecord) -> QuestionRecord:
    """A question with the name of its family, where its file tells the template."""
    template, family = question.extra.get("template_filename"), question.family
    if not isinstance(template, str) or "family" in question.extra:
        return question
    return replace(question, extra={**question.extra, "family": f"{template.removesuffix('.json')} {family}"})


@dataclass(frozen=True)
class _Names:
    """The values of programs by our names."""

    world: VehicleWorld

    def node(self, node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        name = node.get("function", node.get("type"))
        key = next((one for one in ("value_inputs", "side_inputs") if one in node), None)
        if key is None or not isinstance(node[key], list):
            return node
        name = {"partfilter_name": "partfilter_partname", "partquery_name": "partquery_partname"}.get(str(name), name)
        node = {**{other: value for other, value in node.items() if other != "type"}, "function": name}
        known = {"filter_shape": self._shape, "partfilter_partname": spoken}.get(str(name))
        values = [known(value) if known and isinstance(value, str) and value else value for value in node[key]]
        return {**node, key: values}

    def _shape(self, said: str) -> str:
        return {words[0]: value for value, words in _spoken_shapes(self.world).items()}.get(said, said)


def _spoken_shapes(world: VehicleWorld) -> Mapping[str, tuple[str, ...]]:
    words = dialect_of(world, "release").objects.words
    return {shape: words[shape] for shape in world.vocabulary["shape"].values if shape in words}


def answer_word(kind: str, value: Any, dialect: Dialect) -> str:
    """An answer as files have it, in words; a value or its code."""
    if kind == "bool":
        return "yes" if value else "no"
    if kind == "number":
        return str(int(value))
    plain = value if isinstance(value, str) else dialect.answers[kind][int(value)]
    return dialect.objects.words.get(plain, (plain,))[0] if kind == "shape" else plain
