"""Fresh tests: rows that nobody has seen, with a certificate of what the ideal learners score on exactly these rows.

The world of a fresh test has a seed of its own that follows from the one that is given: no `make`, `train` or `gap`
with a seed that people choose gives the same scenes. The folder holds rows with their pictures, a card, what each
learner earns row by row (`learners.csv`), and `certificate.json`: scores with intervals, a digest of every file, and
the command that makes it all again. `verify` does so, in a store of its own, and compares every byte.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from recombine import __version__, benchmarks
from recombine.benchmarks import carried
from recombine.benchmarks.row_export import ROWS_NOTES, Asked, write
from recombine.benchmarks.scoring import answered_by
from recombine.metrics.gap import Gap, gap
from recombine.metrics.votes import right
from recombine.render.rendering import Tell, quiet
from recombine.solvers.sitting import pooled
from recombine.store.cards import CROISSANT, README, rows_of
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.outputs import positive, write_text
from recombine.store.parquet import MOST_BYTES, measured
from recombine.store.store import Store
from recombine.store.untrusted import parse_json, read_json
from recombine.tasks.exam import Exam
from recombine.tasks.made_splits import is_file
from recombine.tasks.row_files import GROUP
from recombine.tasks.rows import Piece, RowSet, row_id

if TYPE_CHECKING:
    from recombine.benchmarks.study import Study

Opener = Callable[..., "Study"]
CERTIFICATE, LEARNERS = "certificate.json", "learners.csv"
VERSION = 1
PART = "test"
UNCERTIFIED = ("workers", "store", "progress", "scale", "seed")
"""What a study is opened with that decides nothing, or is said apart."""
ADVICE = "make it again, or copy it again"
SCORED = ("certificate", "asked", "world_seed", "rows", "all", "tests")
"""What a certificate says that the seed decides."""
CARRIED_NOTE = f"`{carried.CARRIED}/` has the files that the test was made of; give the command inside this folder."


@dataclass(frozen=True)
class Order:
    """What somebody asked for: all that a certificate needs to make it again."""

    benchmark: str
    seed: int
    n: int
    splits: tuple[str, ...] = ()
    scale: str = "demo"
    form: str = "all"
    render: str | None = "images"
    size: str | None = None
    format: str = "parquet"
    options: Mapping[str, Any] | None = None
    """Further options of the study."""

    def command(self) -> str:
        words = ["recombine", "fresh", self.benchmark, "--seed", str(self.seed), "--n", str(self.n)]
        for split in self.splits:
            words += ["--split", split]
        usual = Order(self.benchmark, self.seed, self.n)
        for name in ("scale", "form", "render", "size", "format"):
            if getattr(self, name) != getattr(usual, name):
                words += [f"--{name}", str(getattr(self, name) or "none")]
        for name, value in (self.options or {}).items():
            words += _flags(name, value)
        return " ".join([*words, "--out", "FOLDER"])

    def plain(self) -> dict[str, Any]:
        return {**vars(self), "splits": list(self.splits), "options": dict(self.options or {})}


def _flags(name: str, value: Any) -> list[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else []
    if isinstance(value, Mapping):
        return [word for one, said in value.items() for word in (flag, f"'{one}={said}'")]
    several = value if isinstance(value, list | tuple) else [value]
    return [word for one in several for word in (flag, f"'{one}'" if " " in str(one) else str(one))]


def world_seed(seed: int) -> int:
    """The seed of the world of a fresh test."""
    return int((Key(seed) / "fresh").rng().integers(2**32, 2**48))


def order_of(study: Study, n: int, splits: Sequence[str], **said: Any) -> Order:
    """What is asked of a study, in plain words; refused where it cannot be written into a certificate."""
    given = {name: value for name, value in study.opened_with.items() if value not in (None, (), {})}
    scale = given.get("scale", "demo")
    options = {name: _plain(name, value) for name, value in given.items() if name not in UNCERTIFIED}
    usual = {name: one.default for name, one in signature(type(study)).parameters.items()}
    options = {name: value for name, value in options.items() if value != usual[name]}
    if not isinstance(scale, str):
        raise UserError("a certificate names a scale; open the benchmark with scale demo, laptop or paper")
    return Order(study.name, study.seed, n, tuple(splits), scale, **said, options=options)


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
        return dict(value)
    if isinstance(value, list | tuple) and all(isinstance(one, str | Path) for one in value):
        return [str(one) for one in value]
    raise UserError(
        f"{name} is an object of Python, which a certificate cannot hold; give it in words, or leave it out"
    )


# --- the rows -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Test:
    """A test of a benchmark, and the rows of it that were taken."""

    exam: Exam
    rows: RowSet


def tests_of(study: Study, n: int, splits: Sequence[str]) -> tuple[Study, list[Test]]:
    """A world of its own for so many rows, and the rows of each test, in equal parts."""
    positive(n=n)
    seed, names = world_seed(study.seed), [exam.name for exam in study.exams(splits) if not exam.control]
    if n < len(names):
        raise UserError(
            f"{study.name} has {len(names)} tests, so ask for at least {len(names)} rows, or choose a split"
        )
    most = -(-n // len(names))
    most_found = 0
    scales = study.scales_for_made(most) if any(map(is_file, splits)) else study.scales_for(most)
    for scale in scales:
        world = study.again(scale=scale, seed=seed)
        exams = {exam.name: exam for exam in world.exams(splits)}
        sets = {one.name: one for one in world.row_sets(splits, PART)}
        taken, missing = [], False
        for place, name in enumerate(names):
            many = n // len(names) + (place < n % len(names))
            some, found = _some(sets[name], many, Key(seed) / "fresh" / name)
            taken.append(Test(exams[name], some))
            missing, most_found = missing or found < many, max(most_found, found)
        if not missing:
            return world, taken
    raise UserError(f"{study.name} gives no {most:,} different rows of each test; ask for fewer than {n:,}")


def _some(given: RowSet, many: int, key: Key) -> tuple[RowSet, int]:
    """So many groups of a set, by lot, and how many there are."""
    pieces = list(given.pieces())
    sizes = [len(np.unique(piece.examples.group)) for piece in pieces]
    total = sum(sizes)
    chosen = np.zeros(total, bool)
    chosen[key.rng().permutation(total)[:many]] = True
    starts = np.cumsum([0, *sizes])
    kept = [_of_groups(one, chosen[low:high]) for one, low, high in zip(pieces, starts, starts[1:])]
    return replace(given, pieces=lambda: iter([one for one in kept if len(one.examples.scene)])), total


def _of_groups(piece: Piece, chosen: np.ndarray) -> Piece:
    """The chosen groups of a piece; their numbers stay within it, so that files name them from 0 on."""
    examples = piece.examples
    _, number = np.unique(examples.group, return_inverse=True)
    kept = chosen[number]
    return Piece(examples.rows(kept), piece.scene[kept], piece.first)


# --- the learners ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Earned:
    """What both learners earn on the rows of a test."""

    name: str
    ids: list[str]
    rows: Mapping[str, np.ndarray]
    """By learner, the share of its answers that is right, float[rows]."""
    cluster: np.ndarray
    """Rows that are not independent: about one picture, or with one concept; int[rows]."""
    scores: Mapping[str, Gap]
    """By metric, as `gap` measures it."""


def earned(study: Study, test: Test) -> Earned:
    """What the strong and the weak learner score on exactly these rows."""
    learners = study.learners(test.exam)
    pieces = list(test.rows.pieces())
    ids: list[str] = []
    cluster: list[np.ndarray] = []
    each: dict[str, list[np.ndarray]] = {who: [] for who in ("strong", "weak")}
    marks: dict[str, list[Mapping[str, np.ndarray]]] = {who: [] for who in each}
    for piece in pieces:
        examples = piece.examples
        groups, number = np.unique(examples.group, return_inverse=True)
        ids += [row_id(study.name, test.rows, piece.first + unit) for unit in range(len(groups))]
        first = np.unique(number, return_index=True)[1]
        single = len(groups) == len(examples.group)
        cluster.append(piece.scene if single else examples.concept[first])
        asked = np.bincount(number[~examples.given], minlength=len(groups))
        for who in each:
            said = answered_by(learners[who], examples, who)
            marks[who].append(test.exam.mark(examples, said))
            kind = "accuracy" if study.metrics[-1] == "accuracy" else "probability"
            share = right(examples.asked, said)[kind]
            each[who].append(np.bincount(number[~examples.given], share, len(groups)) / asked)
    together = np.concatenate(cluster)
    whole = {who: pooled(some) for who, some in marks.items()}
    scores = {}
    for metric in study.metrics:
        if metric in whole["strong"]:
            strong, weak = (np.asarray(whole[who][metric], np.float64) for who in each)
            over = together if len(strong) == len(together) else None
            name = study.called.get(metric, metric)
            scores[name] = gap(test.exam.name, name, strong, weak, len(ids), test.exam.key / "fresh" / metric, over)
    return Earned(test.exam.name, ids, {who: np.concatenate(some) for who, some in each.items()}, together, scores)


def _said(one: Gap) -> dict[str, dict[str, float]]:
    return {who: _rounded(getattr(one, who).plain()) for who in ("strong", "weak", "gap")}


def _rounded(plain: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in plain.items()}


def _csv(found: Sequence[Earned]) -> str:
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    sheet.writerow(("id", "strong", "weak"))
    for one in found:
        order = np.argsort(one.ids)
        for place in order:
            sheet.writerow((one.ids[place], *(f"{one.rows[who][place]:.6g}" for who in ("strong", "weak"))))
    return text.getvalue()


# --- the folder -----------------------------------------------------------------------------------------------------


def make(study: Study, out: Path, order: Order, tell: Tell = quiet) -> Path:
    """Rows, card and certificate in a new folder, all or nothing."""
    said, places = carried.carried(order, type(study))
    given = carried.digests(places)
    chosen = {"fresh": said.plain(), **({"given": given} if given else {})}
    chosen |= {name: said.options[name] for name in study.files_among(study.opened_with) if said.options}
    world, tests = tests_of(study, order.n, order.splits)
    sets = [test.rows for test in tests]
    asked = Asked(world, sets, order.form, None, order.render, order.size, also=chosen)
    found = [earned(world, test) for test in tests]
    certificate = _certificate(said, world, found, len({one.scenes for one in sets}) == 1)

    def add(draft: Path) -> None:
        carried.write(places, draft)
        write_text(draft / LEARNERS, _csv(found))
        files = {name: _digest(draft / name) for name in _files(draft)}
        write_text(draft / CERTIFICATE, _signed({**certificate, "files": files}))

    settings = {name: value for name, value in study.named.items() if name != "scale"}
    card = replace(
        world.card({}, "fresh"),
        settings={**settings, "n": order.n},
        again=said.command(),
        notes=(*ROWS_NOTES, *([CARRIED_NOTE] if given else []), *_notes(certificate)),
    )
    folder = write(asked, out, order.format, chosen, tell, card, add)
    _check_kept(folder, certificate)
    return folder


def _check_kept(folder: Path, certificate: Mapping[str, Any]) -> None:
    """Refuse the certificate of a folder that was there already if it says anything else."""
    kept, expected = certificate_of(folder), json.loads(json.dumps(certificate))
    if kept.get("digest") != digest_of(kept) or any(kept.get(name) != expected[name] for name in SCORED):
        raise UserError(f"{folder / CERTIFICATE} is not the one that was written with these rows; {ADVICE}")


def _certificate(order: Order, world: Study, found: Sequence[Earned], shared: bool) -> dict[str, Any]:
    """`shared` says whether the tests are about the same scenes."""
    rows = {who: np.concatenate([one.rows[who] for one in found]) for who in ("strong", "weak")}
    start = np.cumsum([0, *(one.cluster.max(initial=0) + 1 for one in found)])
    cluster = np.concatenate([one.cluster + (0 if shared else low) for one, low in zip(found, start)])
    whole = gap("all", "accuracy", rows["strong"], rows["weak"], len(cluster), Key(world.seed) / "fresh", cluster)
    return {
        "certificate": VERSION,
        "recombine": __version__,
        "command": order.command(),
        "asked": order.plain(),
        "world_seed": world.seed,
        "rows": len(cluster),
        "all": _said(whole),
        "tests": {
            one.name: {"rows": len(one.ids), **{metric: _said(gap) for metric, gap in one.scores.items()}}
            for one in found
        },
        "note": "Percent; 95 % intervals from 1,000 resamples of whole pictures or concepts.",
    }


def _notes(certificate: Mapping[str, Any]) -> Iterator[str]:
    yield f"`{CERTIFICATE}` says what the ideal learners score on exactly these rows; `{LEARNERS}` says it row by row."
    yield "`recombine check --certificate FOLDER` makes everything again from the seed and compares every byte."
    for name, one in [("all rows", {"accuracy": certificate["all"]}), *certificate["tests"].items()]:
        for metric, said in one.items():
            if metric != "rows":
                scores = ", ".join(
                    f"{who} {said[who]['value']:.1f} [{said[who]['low']:.1f}, {said[who]['high']:.1f}]" for who in said
                )
                yield f"{name}, {metric}: {scores}."


def _files(folder: Path) -> list[str]:
    """What a certificate vouches for: everything but itself and the cards."""
    found = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return [name for name in found if name not in (CERTIFICATE, README, CROISSANT) and not name.endswith(".mark")]


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _signed(certificate: Mapping[str, Any]) -> str:
    return json.dumps({**certificate, "digest": digest_of(certificate)}, indent=1) + "\n"


def digest_of(certificate: Mapping[str, Any]) -> str:
    """Of a certificate, and so of every file of its folder."""
    rest = {name: value for name, value in certificate.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


# --- checking it ----------------------------------------------------------------------------------------------------


def certificate_of(folder: Path) -> dict[str, Any]:
    """The certificate of a folder, as it stands there."""
    file = folder / CERTIFICATE
    if not folder.is_dir() or not file.exists():
        raise UserError(f"{folder} holds no {CERTIFICATE}; give a folder that `recombine fresh` made")
    found: dict[str, Any] = read_json(file, advice=ADVICE)
    if found.get("certificate", VERSION) != VERSION:
        raise UserError(f"{file} was written by another version of recombine; make the test again with this one")
    return found


def order_in(certificate: Mapping[str, Any], file: Path) -> Order:
    """What a certificate says was asked for; refused where that cannot be."""
    said = certificate.get("asked")
    kinds = {"benchmark": str, "seed": int, "n": int, "splits": list, "scale": str, "form": str, "format": str}
    fine = (
        isinstance(said, dict)
        and said.keys() == Order.__dataclass_fields__.keys()
        and all(isinstance(said[name], kind) for name, kind in kinds.items())
        and all(said[name] is None or isinstance(said[name], str) for name in ("render", "size"))
        and isinstance(said["options"], dict)
        and not said["options"].keys() & set(UNCERTIFIED)
        and all(isinstance(one, str) for one in said["splits"])
    )
    if not fine or not isinstance(certificate.get("files"), dict):
        raise UserError(f"{file} does not say what was asked for; {ADVICE}")
    assert isinstance(said, dict)
    return Order(**{**said, "splits": tuple(said["splits"])})


def changed(folder: Path, open: Opener) -> str | None:
    """What is not as the seed gives it, in a sentence; nothing where all is.

    `open` opens a study by the name of its benchmark; everything is made again in a store of its own.
    """
    file, found = folder / CERTIFICATE, certificate_of(folder)
    said = order_in(found, file)
    if found.get("digest") != digest_of(found):
        return f"{file} was changed after it was written: its digest is not that of what it says"
    there = [name for name in _files(folder) if name in found["files"]]
    if missing := sorted(set(found["files"]) - set(there)):
        return f"{folder / missing[0]} is missing, and {CERTIFICATE} vouches for it"
    given = (name for name in there if name.startswith(f"{carried.CARRIED}/"))
    if other := next((name for name in given if _digest(folder / name) != found["files"][name]), None):
        return f"{folder / other} was changed after {CERTIFICATE} was written, and everything here is made of it"
    if more := sorted(set(_files(folder)) - set(there)):
        return f"{folder / more[0]} is not one of the files that {CERTIFICATE} vouches for"
    if sum(_rows_of(folder / name) for name in there if Path(name).suffix in READERS) < said.n // 2:
        return f"{folder} has fewer rows than the {said.n:,} that {CERTIFICATE} speaks of"
    order = carried.uncarried(said, benchmarks.get(said.benchmark).study, folder, file)
    with TemporaryDirectory(prefix="recombine-check-") as place:
        made = _made_again(Path(place), order, file, open)
        difference = _difference(folder, made)
    if difference is None:
        return None
    version = found.get("recombine")
    return (
        difference if version == __version__ else f"{difference} (made by recombine {version}, this is {__version__})"
    )


def _rows_of(file: Path) -> int:
    """How many rows a file from elsewhere says it has; none where it cannot be read."""
    try:
        if file.suffix == ".parquet":
            measured(file)
        return ROWS_OF.get(file.suffix, rows_of)(file)
    except (OSError, ValueError, pa.ArrowException):
        return 0


def _lines_of(file: Path) -> int:
    """The lines of a file; none of them is ever in memory as a whole."""
    with file.open("rb") as content:
        return sum(piece.count(b"\n") for piece in iter(partial(content.read, ROOM), b""))


def _texts_of(file: Path) -> int:
    """The texts of a tar file, each with the files of a row behind it; what is in it is passed over."""
    found, at, size = 0, 0, file.stat().st_size
    with file.open("rb") as content:
        while at + BLOCK <= size and (head := content.read(BLOCK)).strip(b"\0"):
            found += head[:100].rstrip(b"\0").endswith(b".json")
            at += BLOCK + -(-max(0, int(head[124:136].rstrip(b" \0") or b"0", 8)) // BLOCK) * BLOCK
            content.seek(at)
    return found


ROWS_OF = {".jsonl": _lines_of, ".tar": _texts_of}
BLOCK = 512


def _made_again(place: Path, order: Order, file: Path, open: Opener) -> Path:
    try:
        study = open(
            order.benchmark, **(order.options or {}), scale=order.scale, seed=order.seed, store=Store(place / "store")
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{file} asks for what {order.benchmark} does not have ({error}); {ADVICE}") from error
    with study:
        return make(study, place / "again", order)


def _difference(folder: Path, made: Path) -> str | None:
    """The first difference between a folder and what the seed gives, in a sentence."""
    ours, theirs = (certificate_of(one) for one in (made, folder))
    for name in _files(made):
        there = folder / name
        if not there.exists():
            return f"{there} is missing, and the seed gives it"
        if _digest(there) != _digest(made / name):
            return f"{there}: {_in_rows(there, made / name)}"
    for place, (said, given) in _leaves(theirs, ours):
        if place[0] not in ("digest", "files"):
            return f"{folder / CERTIFICATE} says {' '.join(place)} {said}, and the seed gives {given}"
    for name in (README, CROISSANT):
        if not (folder / name).exists() or _digest(folder / name) != _digest(made / name):
            return f"{folder / name} is not the card that was written with these rows"
    return None


def _leaves(one: Any, other: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], tuple[Any, Any]]]:
    """Where two texts of JSON differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            yield from _leaves(one.get(name), other.get(name), (*place, name))
    elif one != other:
        yield place, (one, other)


def _in_rows(there: Path, made: Path) -> str:
    """How two files of rows differ."""
    rest = "it is not what the seed gives"
    if there.suffix not in READERS:
        return rest
    if there.stat().st_size > 2 * made.stat().st_size + ROOM:
        return "it is far larger than what the seed gives"
    try:
        return _first_difference(there, made) or f"its rows are those of the seed, and {rest} byte for byte"
    except (UserError, OSError, ValueError, KeyError, TypeError, AttributeError, tarfile.TarError, pa.ArrowException):
        return f"it cannot be read as rows, and {rest}"


ROOM = 2**20
"""Bytes that a file may have beyond twice those that the seed gives, so that its rows are looked at."""


def _first_difference(there: Path, made: Path) -> str | None:
    for one, other in zip_longest(*(READERS[there.suffix](file) for file in (there, made))):
        if one is None or other is None:
            return f"it has {'fewer' if one is None else 'more'} rows than the seed gives"
        for name in other:
            if one.get(name) != other[name]:
                return _of_row(str(other["id"]), name, one.get(name), other[name])
    return None


def _of_row(row: str, name: str, one: Any, other: Any) -> str:
    if name in ("images", "sounds"):
        few = min(len(one or ()), len(other))
        place = next((i for i in range(few) if one[i] != other[i]), few)
        return f"{name.removesuffix('s')} {place + 1} of row {row} is not the one that the seed gives"
    return f"row {row} says {name} {_short(one)}, and the seed gives {_short(other)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _of_parquet(file: Path) -> Iterator[dict[str, Any]]:
    if any(group.bytes > MOST_BYTES for group in measured(file)):
        raise ValueError("it takes too much room")
    with pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(GROUP):
            yield from batch.to_pylist()


def _of_jsonl(file: Path) -> Iterator[dict[str, Any]]:
    with file.open("rb") as lines:
        for line in lines:
            yield parse_json(line, str(file), dict)


def _of_tar(file: Path) -> Iterator[dict[str, Any]]:
    """A row is a text, and the files that follow it."""
    with tarfile.open(file, "r:") as tar:  # not one that is packed
        row: dict[str, Any] = {}
        for one in tar:
            if not one.isreg() or one.size > file.stat().st_size:
                raise ValueError("it holds what is no plain file")
            held = tar.extractfile(one)
            content = b"" if held is None else held.read()
            if one.name.endswith(".json"):
                if row:
                    yield row
                row = parse_json(content, str(file), dict) | {"images": []}
            else:
                row.setdefault("images", []).append((one.name, content))
        if row:
            yield row


READERS = {".parquet": _of_parquet, ".jsonl": _of_jsonl, ".tar": _of_tar}
