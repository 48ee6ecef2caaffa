"""CLEVR's files: scenes and questions as JSON, or with one record per line where the name ends in .jsonl.

A scene file is {info, scenes}, a question file {info, questions}; a bare list of records is read too. Places are
written as they are, pixel coordinates too: those of a made scene are not rounded. A made scene also keeps the jitter of
its camera and lamps (`camera_jitter`, `lamp_jitter`), so it can be drawn again exactly.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple, TypeVar

import numpy as np

from recombine.benchmarks.clevr.language import CLEVR, CLEVR_VOCABULARY, DIRECTIONS, Dialect, Speech
from recombine.benchmarks.clevr.program import read_program, write_program
from recombine.benchmarks.clevr.relations import WAYS, all_beyond, members
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.untrusted import parse_json, read_text
from recombine.store.writing import write_atomically
from recombine.world.distribution import places_taken
from recombine.world.scenes import ABSENT, Scenes, join, mask_dtype
from recombine.world.vocabulary import Vocabulary

PLACES, MOST = 10, 64
"""The room of a batch that is read, and the most objects that a scene may hold."""

MOST_BYTES = 4 * 2**30
"""Of a file: CLEVR's own questions take a quarter of that."""

FARTHEST = 1e6
"""No coordinate is larger: beyond this a number is a mistake."""

JITTER: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "camera": ("camera_jitter", (3,)),
    "lamps": ("lamp_jitter", (3, 3)),
}
"""Columns of a scene: their key in the file, and their shape."""

OPTIONAL: Mapping[str, tuple[int, ...]] = {"rotation": (), "pixel": (3,)}
"""Columns of an object that a file may lack, and their shape."""

DIRECTION_VECTORS = {
    **{way: [*np.array(vector, np.float32).tolist(), 0.0] for way, vector in WAYS.items()},
    "above": [0.0, 0.0, 1.0],
    "below": [0.0, 0.0, -1.0],
}

Record = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class SceneFile:
    """Scenes with what a file says beside them."""

    scenes: Scenes
    image_index: np.ndarray  # int64[n]
    image_filename: tuple[str, ...]
    split: tuple[str, ...]
    related: Mapping[str, np.ndarray]  # direction -> mask[n, k], as in the file
    has_relations: np.ndarray  # bool[n]: whether the file says them
    info: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.scenes)

    @classmethod
    def of(cls, scenes: Scenes, split: str = "new", first: int = 0) -> "SceneFile":
        """The file of made scenes, with names in CLEVR's way."""
        index = np.arange(first, first + len(scenes))
        names = tuple(f"CLEVR_{split}_{i:06d}.png" for i in index)
        everywhere = np.ones(len(scenes), bool)
        return cls(scenes, index, names, (split,) * len(scenes), all_beyond(scenes), everywhere, {"split": split})


@dataclass(frozen=True)
class QuestionRecord:
    """A question about an image; what a file does not say is None, what it says besides is `extra`."""

    question: str
    answer: str | None = None
    program: Expr | None = None
    family: int | None = None
    image_index: int | None = None
    image_filename: str | None = None
    split: str | None = None
    question_index: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def read_scenes(
    path: Path | str,
    vocabulary: Vocabulary = CLEVR_VOCABULARY,
    prepare: Callable[[Record], Record] = lambda record: record,
) -> SceneFile:
    """The scenes of a file; `prepare` says a record of another kind in CLEVR's way."""
    records, reader = read_records(path, "scenes"), _SceneReader(vocabulary)
    parts = records.each(lambda record: reader(prepare(record)))
    count = np.array([len(part.objects) for part in parts], np.uint8)
    columns = _Columns(places_taken(count, max(PLACES, int(count.max(initial=0)))))
    objects = [thing for part in parts for thing in part.objects]
    scenes = Scenes(
        vocabulary,
        count,
        columns.codes([thing.codes for thing in objects], vocabulary),
        columns.numbers([thing.position for thing in objects], (3,), np.float32),
        {**columns.optional(objects), **_jitter(parts)},
    )
    return SceneFile(
        scenes,
        np.array([i if part.image is None else part.image for i, part in enumerate(parts)], np.int64),
        tuple(part.filename for part in parts),
        tuple(part.split for part in parts),
        {way: columns.masks([mask for part in parts for mask in part.related[way]]) for way in DIRECTIONS},
        np.array([part.has_relations for part in parts], bool),
        records.info,
    )


def together(files: Sequence[SceneFile]) -> SceneFile:
    """Several files as one; columns that not all of them have are left out."""
    if len({file.scenes.places for file in files}) > 1:
        raise UserError("the files of scenes hold different numbers of objects per scene; check them one by one")
    names = [name for file in files for name in file.image_filename if name]
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise UserError(f"two scenes are of the image {twice}; give every file of scenes once")
    shared = set.intersection(*(set(file.scenes.extra) for file in files))
    slim = [replace(file.scenes, extra={name: file.scenes.extra[name] for name in sorted(shared)}) for file in files]
    return SceneFile(
        join(slim),
        np.concatenate([file.image_index for file in files]),
        tuple(name for file in files for name in file.image_filename),
        tuple(split for file in files for split in file.split),
        {way: np.concatenate([file.related[way] for file in files]) for way in DIRECTIONS},
        np.concatenate([file.has_relations for file in files]),
    )


def read_questions(path: Path | str, speech: Speech = CLEVR) -> list[QuestionRecord]:
    """The questions of a file, in a dialect or over a vocabulary."""
    return read_records(path, "questions").each(lambda record: read_question(record, speech))


def write_scenes(
    path: Path | str,
    file: SceneFile,
    finish: Callable[[Iterator[Record]], Iterator[Record]] = lambda records: records,
) -> None:
    """Write scenes as CLEVR does; relations that the file does not say are computed from the places.

    `finish` says the records of another kind of file.
    """
    _write(Path(path), "scenes", file.info, finish(_scene_records(file)))


def write_questions(
    path: Path | str,
    questions: Iterable[QuestionRecord],
    info: Mapping[str, Any] | None = None,
    key: str = "function",
    dialect: Dialect = CLEVR,
) -> None:
    """Write questions as CLEVR does; the key of a program's functions is `type` in older files."""
    _write(Path(path), "questions", info or {}, (_question_record(question, key, dialect) for question in questions))


# ---- Records ----


class Records(NamedTuple):
    """The records of a file, each with a name for errors."""

    path: Path
    info: Record
    names: Sequence[str]
    records: Sequence[Any]

    def each(self, read: Callable[[Record], T]) -> list[T]:
        """Every record read; an error says in which file and record."""
        found = []
        for name, record in zip(self.names, self.records):
            try:
                found.append(read(read_dict(record, "the record")))
            except UserError as error:
                raise UserError(f"{self.path}, {name}: {error}") from None
        return found


def read_records(path: Path | str, what: str) -> Records:
    """The records of a file of scenes or questions."""
    path = Path(path)
    text = read_text(path, MOST_BYTES)
    if path.suffix == ".jsonl":
        lines = {f"line {number}": line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
        return Records(path, {}, [*lines], [parse_json(line, f"{path}, {name}") for name, line in lines.items()])
    whole = parse_json(text, str(path), large=True)
    if what == "scenes" and isinstance(whole, dict) and "objects" in whole:  # a file of one scene
        return Records(path, {}, ["scene 0"], [whole])
    records, info = (whole.get(what), whole.get("info")) if isinstance(whole, dict) else (whole, None)
    if not isinstance(records, list):
        raise UserError(f"{path} holds no list of {what}; a file of CLEVR is {{info, {what}}}")
    names = [f"{what.removesuffix('s')} {number}" for number in range(len(records))]
    return Records(path, info if isinstance(info, dict) else {}, names, records)


def _write(path: Path, what: str, info: Mapping[str, Any], records: Iterable[Record]) -> None:
    texts = map(json.dumps, records)

    def write(part: Path) -> None:
        with part.open("w", encoding="utf-8") as file:
            if path.suffix == ".jsonl":
                file.writelines(f"{text}\n" for text in texts)
            else:
                file.write(f'{{"info": {json.dumps(dict(info))}, "{what}": [{next(texts, "")}')
                file.writelines(f",\n{text}" for text in texts)
                file.write("]}\n")

    try:
        write_atomically(path, write)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


# ---- Scenes ----


class _Object(NamedTuple):
    """One object of a file."""

    codes: list[int]
    position: list[float]
    rotation: float | None
    pixel: list[float] | None


class _Scene(NamedTuple):
    """One scene of a file."""

    objects: list[_Object]
    related: Mapping[str, list[int]]  # direction -> a mask per object
    has_relations: bool
    image: int | None
    filename: str
    split: str
    jitter: Mapping[str, Any]


class _SceneReader:
    """Reads scenes of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.codes = [(a.name, {value: code for code, value in enumerate(a.values)}) for a in vocabulary]

    def __call__(self, record: Record) -> _Scene:
        objects = read_list(record.get("objects"), "objects")
        if len(objects) > MOST:
            raise UserError(f"a scene holds at most {MOST} objects, not {len(objects)}")
        related = record.get("relationships")
        return _Scene(
            [self._object(thing, number) for number, thing in enumerate(objects)],
            {way: _related(related, way, len(objects)) for way in DIRECTIONS},
            bool(related),
            _whole(record.get("image_index"), "image_index"),
            _string(record.get("image_filename"), "image_filename") or "",
            _string(record.get("split"), "split") or "",
            {name: _array(record[key], shape, key) for name, (key, shape) in JITTER.items() if key in record},
        )

    def _object(self, thing: Any, number: int) -> _Object:
        try:
            pixel, rotation = read_dict(thing, "it").get("pixel_coords"), thing.get("rotation")
            return _Object(
                [_code(thing.get(name), codes, name) for name, codes in self.codes],
                _array(thing.get("3d_coords"), (3,), "3d_coords"),
                None if rotation is None else _array([rotation], (1,), "rotation")[0],
                None if pixel is None else _array(pixel, (3,), "pixel_coords"),
            )
        except UserError as error:
            raise UserError(f"object {number}: {error}") from None


def _code(value: object, codes: Mapping[str, int], attribute: str) -> int:
    if not isinstance(value, str) or value not in codes:
        raise UserError(f"{brief(value)} is not a {attribute}; choose one of {', '.join(codes)}")
    return codes[value]


def _related(relationships: object, direction: str, count: int) -> list[int]:
    """For each object, the mask of those beyond it; no one where the file says nothing."""
    if not relationships:
        return [0] * count
    lists = read_list(read_dict(relationships, "relationships").get(direction), f"relationships {direction}")
    if len(lists) != count:
        raise UserError(f"relationships {direction} has {len(lists)} lists for {count} objects")
    return [_mask(read_list(some, f"relationships {direction} {i}"), count) for i, some in enumerate(lists)]


def _mask(objects: list[Any], count: int) -> int:
    mask = 0
    for i in objects:
        if type(i) is not int or not 0 <= i < count:
            raise UserError(f"relationships speak of object {brief(i)} of {count}")
        mask |= 1 << i
    return mask


def _jitter(parts: list[_Scene]) -> dict[str, np.ndarray]:
    """The jitter of camera and lamps, where every scene has it."""
    return {
        name: np.array([part.jitter[name] for part in parts], np.float32).reshape(-1, *shape)
        for name, (_, shape) in JITTER.items()
        if parts and all(name in part.jitter for part in parts)
    }


class _Columns(NamedTuple):
    """Makes columns of the objects of all scenes."""

    there: np.ndarray  # bool[n, k]

    def numbers(self, values: list[Any], shape: tuple[int, ...], dtype: type) -> np.ndarray:
        return self._padded(np.array(values, dtype).reshape(-1, *shape), 0)

    def optional(self, objects: list[_Object]) -> dict[str, np.ndarray]:
        """Rotation and pixel coordinates, where every object has them."""
        found = {}
        for name, shape in OPTIONAL.items():
            values = [getattr(thing, name) for thing in objects]
            if all(value is not None for value in values):
                found[name] = self.numbers(values, shape, np.float64)
        return found

    def codes(self, values: list[list[int]], vocabulary: Vocabulary) -> dict[str, np.ndarray]:
        table = np.array(values, np.uint8).reshape(-1, len(vocabulary.attributes))
        return {a.name: self._padded(column, ABSENT) for a, column in zip(vocabulary, table.T)}

    def masks(self, values: list[int]) -> np.ndarray:
        return self._padded(np.array(values, mask_dtype(self.there.shape[1])), 0)

    def _padded(self, values: np.ndarray, missing: int) -> np.ndarray:
        column = np.full((*self.there.shape, *values.shape[1:]), missing, values.dtype)
        column[self.there] = values
        return column


def _scene_records(file: SceneFile) -> Iterator[Record]:
    scenes, listed = file.scenes, cache(members)
    computed = all_beyond(scenes)
    related = {way: np.where(file.has_relations[:, None], file.related[way], computed[way]) for way in DIRECTIONS}
    for i, count in enumerate(scenes.count.tolist()):
        yield {
            "image_index": int(file.image_index[i]),
            "image_filename": file.image_filename[i],
            "split": file.split[i],
            "objects": [*_object_records(scenes, i)],
            "relationships": {way: [*map(listed, related[way][i, :count].tolist())] for way in DIRECTIONS},
            "directions": DIRECTION_VECTORS,
            **{key: scenes.extra[name][i].tolist() for name, (key, _) in JITTER.items() if name in scenes.extra},
        }


def _object_records(scenes: Scenes, i: int) -> Iterator[Record]:
    rotation, pixel = (
        scenes.extra[name][i].tolist() if name in scenes.extra else None for name in ("rotation", "pixel")
    )
    place = scenes.position[i].tolist()
    for k, thing in enumerate(scenes.objects(i)):
        record: Record = {**thing, "3d_coords": place[k]}
        if rotation:
            record["rotation"] = rotation[k]
        if pixel:
            record["pixel_coords"] = [*map(_short, pixel[k][:2]), pixel[k][2]]
        yield record


def _short(number: float) -> float | int:
    """A whole number is written without a point, as in CLEVR's files."""
    return int(number) if number.is_integer() else number


# ---- Questions ----

QUESTION_KEYS = {
    "image_index": "image_index",
    "image_filename": "image_filename",
    "split": "split",
    "question_index": "question_index",
    "question_family_index": "family",
}
"""Keys of a file that are read and written as they are -> fields of a record."""


def read_question(record: Record, speech: Speech) -> QuestionRecord:
    question = _string(record.get("question"), "question")
    if question is None:
        raise UserError("there is no question")
    if not isinstance(record.get("family"), int):
        _string(record.get("family"), "family")
    known = {*QUESTION_KEYS, "question", "answer", "program"}
    program = record.get("program")
    return QuestionRecord(
        question,
        _answer(record.get("answer")),
        None if program is None else _program(program, speech),
        _whole(record.get("question_family_index"), "question_family_index"),
        _whole(record.get("image_index"), "image_index"),
        _string(record.get("image_filename"), "image_filename"),
        _string(record.get("split"), "split"),
        _whole(record.get("question_index"), "question_index"),
        {key: value for key, value in record.items() if key not in known},
    )


def _answer(value: object) -> str | None:
    """An answer in CLEVR's words; some files have truth and numbers of JSON."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, int):
        raise UserError(f"an answer is a word or a number, not {brief(value)}")
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _program(nodes: object, speech: Speech) -> Expr:
    try:
        return read_program(nodes, speech)
    except UserError as error:
        raise UserError(f"program: {error}") from None


def _question_record(question: QuestionRecord, key: str, dialect: Dialect) -> Record:
    record: Record = {"question": question.question, "answer": question.answer}
    record |= {label: getattr(question, name) for label, name in QUESTION_KEYS.items()}
    record["program"] = None if question.program is None else write_program(question.program, key, dialect)
    return {**{label: value for label, value in record.items() if value is not None}, **question.extra}


# ---- Values ----


def read_dict(value: object, what: str) -> Record:
    if not isinstance(value, dict):
        raise UserError(f"{what} is not an object of JSON but {brief(value)}")
    return value


def read_list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise UserError(f"{what} is not a list but {brief(value)}")
    return value


def _string(value: object, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UserError(f"{what} is not a text but {brief(value)}")
    if value is not None and not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise UserError(f"{what} holds half a character: {brief(value)!a}")
    return value


def _whole(value: object, what: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < 2**53:
        raise UserError(f"{what} is not a whole number but {brief(value)}")
    return value


def _array(value: object, shape: tuple[int, ...], what: str) -> list[Any]:
    """Numbers of this shape, as nested lists."""
    if type(value) is not list or len(value) != shape[0]:
        raise UserError(f"{what} is not a list of {shape[0]} but {'missing' if value is None else brief(value)}")
    if len(shape) > 1:
        return [_array(part, shape[1:], what) for part in value]
    for number in value:
        if type(number) not in (int, float) or not -FARTHEST <= number <= FARTHEST:
            raise UserError(f"{what} has {brief(number)} where a number should be")
    return value
