"""What one can do with CLEVR."""

import json
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr import check as checks
from recombine.benchmarks.clevr.english import read
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES
from recombine.benchmarks.clevr.formats import QuestionRecord, SceneFile, write_questions, write_scenes
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.question_page import QuestionView, question_page, question_view
from recombine.benchmarks.clevr.questions import Rules
from recombine.benchmarks.clevr.speed import speeds
from recombine.benchmarks.clevr.study import PARTS, SHARD, ClevrScale, ClevrStudy, Part, clevr_scale
from recombine.benchmarks.clevr.world import COGENT, ClevrWorld
from recombine.metrics.speed import Speed
from recombine.render.folders import Dataset
from recombine.render.rendering import Given, Tell, Wanted, announce, deliver, quiet, refuse_format, works
from recombine.report.table import Column, Table
from recombine.store.engine import Progress, engine, silent
from recombine.store.errors import UserError
from recombine.store.outputs import free_folder, positive
from recombine.store.store import Store, read_table, write_atomically
from recombine.world.scenes import Scenes, join
from recombine.world.shards import read_scenes
from recombine.world.vocabulary import Vocabulary

Format = Literal["parquet", "json", "jsonl"]
EDITIONS = ("paper", "release")
FORMATS: tuple[Format, ...] = ("parquet", "json", "jsonl")


class Spread(NamedTuple):
    """A family's questions, how many different answers they have, and how far the most frequent answer leads."""

    family: int
    name: str
    questions: int
    answers: int
    lead: float | None


class Clevr:
    """CLEVR at one scale and seed.

    `scale` is demo, laptop or paper, or a `ClevrScale` of your own; `cogent` A or B; `world` a `ClevrWorld` of your
    own. The edition `release` accepts superfluous relations where the released generator does.
    """

    def __init__(
        self,
        scale: str | ClevrScale = "demo",
        seed: int = 0,
        *,
        workers: int = 1,
        cogent: Literal["A", "B"] | None = None,
        world: ClevrWorld | None = None,
        edition: str = "paper",
        store: Store | None = None,
        progress: Progress = silent,
    ) -> None:
        size = clevr_scale(scale) if isinstance(scale, str) else scale
        if edition not in EDITIONS:
            raise UserError(f"there is no edition '{edition}'; choose one of {', '.join(EDITIONS)}")
        if cogent not in (None, *COGENT):
            raise UserError(f"there is no CoGenT condition '{cogent}'; choose one of {', '.join(COGENT)}")
        positive(workers=workers, scenes=min(size.train, size.val, size.test), questions=size.questions)
        self.engine = engine(workers, progress)
        self.study = ClevrStudy(
            size,
            seed,
            store or Store.default(),
            self.engine,
            world or ClevrWorld(cogent=cogent),
            Rules(strict=edition == "paper"),
        )

    def close(self) -> None:
        """End the workers."""
        self.engine.close()

    def __enter__(self) -> "Clevr":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def list(self) -> Table:
        """The 90 families."""
        rows = tuple((family.index, family.name, family.final, repr(family.shape)) for family in CLEVR_FAMILIES)
        columns = (Column("family", "right"), Column("name"), Column("answers with"), Column("shape"))
        return Table("CLEVR's families", columns, rows)

    def questions(self, part: str = "val") -> pa.Table:
        """All questions of a part."""
        self._room()
        return read_table(self.study.questions_folder(_part(part)))

    def show(self, family: str, number: int = 0, part: str = "val", *, pictures: bool = False) -> QuestionView:
        """One question: `family` is a name such as one_hop, or an index."""
        table = self.questions(part)
        column = "question_family_index" if family.isdigit() else "family"
        known = {str(value) for f in CLEVR_FAMILIES for value in (f.index, f.name)}
        if family not in known:
            names = dict.fromkeys(f.name for f in CLEVR_FAMILIES)
            raise UserError(f"CLEVR has no family '{family}'; choose one of {', '.join(names)}, or 0 to 89")
        rows = np.flatnonzero(np.array(table[column].to_pylist()) == (int(family) if family.isdigit() else family))
        scene = partial(self.study.scene, _part(part))
        return view_of(table.take(rows), number, f"{family}", "CLEVR", scene, pictured=pictures)

    def make(
        self,
        out: str | Path | None = None,
        format: str = "parquet",
        *,
        render: str | Wanted | None = None,
        tell: Tell = quiet,
    ) -> Path:
        """Make scenes and questions of all parts; copy them to `out`, or leave them in the store.

        `render` makes images of the scenes too; then `format` is parquet or webdataset.
        """
        free_folder(out)
        if not render:
            refuse_format(format, FORMATS)
        self._room()
        todo, folder = works(self.dataset, self._scenes, render, format), None if out is None else Path(out)
        announce(todo, self.study.store, folder, self.engine, tell)
        found = {}
        for part in PARTS:
            found[f"scenes/{part}"] = self.study.scenes_folder(part)
            found[f"questions/{part}"] = self.study.questions_folder(part)
        if folder is None or todo or format == "parquet":
            return deliver(self.dataset, self.study.world, found, todo, self.study.store, self.engine, folder)
        return self._official(folder, format)

    @property
    def dataset(self) -> Dataset:
        """What it takes to draw the scenes."""
        world, parts = self.study.world, tuple((part, self.study.count(part)) for part in PARTS)
        return Dataset("clevr", world.vocabulary, world.high, parts, SHARD, 320, 240, None)

    def _scenes(self) -> dict[str, Given]:
        study = self.study
        return {part: Given(study.scenes_folder(part), study.scenes_recipe(part).digest) for part in PARTS}

    def _official(self, out: Path, format: str) -> Path:
        """The files as CLEVR names and writes them."""
        draft = out.with_name(f".{out.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        for part in PARTS:
            write_scenes(draft / f"CLEVR_{part}_scenes.{format}", SceneFile.of(self.scenes(part), part))
            records = records_of(self.questions(part), part, self.study.world.vocabulary)
            write_questions(draft / f"CLEVR_{part}_questions.{format}", records, {"split": part})
        if out.exists():
            out.rmdir()
        draft.rename(out)
        return out

    def scenes(self, part: str) -> Scenes:
        """All scenes of a part."""
        folder, shards = self.study.scenes_folder(_part(part)), range(self.study.shards(_part(part)))
        return join([read_scenes(self.study.world, folder, shard) for shard in shards])

    def spread(self, part: str = "val") -> tuple[Spread, ...]:
        """How the questions of a part and their answers are spread over the families."""
        table = self.questions(part)
        family, answer = table["question_family_index"].to_numpy(), np.array(table["answer"].to_pylist())
        found = []
        for one in CLEVR_FAMILIES:
            counts = np.sort(np.unique(answer[family == one.index], return_counts=True)[1])[::-1]
            lead = float(counts[0] / counts[1]) if len(counts) > 1 else None
            found.append(Spread(one.index, one.name, int(counts.sum()), len(counts), lead))
        return tuple(found)

    def balance(self, part: str = "val") -> Table:
        """How even the answers of each family are."""
        names = ("questions", "answers", "largest / second")
        columns = (Column("family", "right"), Column("name"), *(Column(name, "right", ".3f") for name in names))
        return Table(f"Answers of {part}", columns, tuple(map(tuple, self.spread(part))))

    def gap(self, *_: object) -> None:
        """CLEVR has none."""
        raise UserError("CLEVR holds nothing out, so it has no gap; CLOSURE's tests have one: recombine gap closure")

    def report(self, *_: object) -> None:
        """CLEVR's is CLOSURE's."""
        raise UserError(
            "CLEVR holds nothing out; its questions and the gap of CLOSURE's tests: recombine report closure"
        )

    def speeds(self) -> Iterator[Speed]:
        """What every part costs beside its plain reference."""
        return speeds(self.study)

    def _room(self) -> None:
        """Refuse before anything is written if the disk is too small."""
        for part in PARTS:
            if not self.study.store.has(self.study.questions_recipe(part)):
                self.study.store.need(self.study.count(part) * (700 + self.study.scale.questions * 500))


def _part(name: str) -> Part:
    name = "val" if name == "validation" else name
    if name not in PARTS:
        raise UserError(f"there is no part '{name}'; choose one of {', '.join(PARTS)}")
    return cast(Part, name)


def view_of(
    table: pa.Table,
    number: int,
    family: str,
    benchmark: str,
    scene: Any,
    weak: Any = None,
    pictured: bool = False,
) -> QuestionView:
    """One row of a table of questions, to look at."""
    if not 0 <= number < len(table):
        raise UserError(f"there is no question {number} of {family}; choose one from 0 to {len(table) - 1}")
    row = table.slice(number, 1).to_pylist()[0]
    scenes, place = scene(row["image_index"])
    program = read_program(json.loads(row["program"]), scenes.vocabulary)
    name = f"{row['family']} {row['question_family_index']}"
    return question_view(
        program,
        row["question"],
        row["answer"],
        scenes,
        place,
        name,
        number,
        benchmark=benchmark,
        scene_number=row["image_index"],
        weak=weak(program, scenes, place) if weak else None,
        strong=row["answer"] if weak else None,
        pictured=pictured,
    )


def write_question(view: QuestionView, out: Path) -> Path:
    """One question as a self-contained page."""
    if out.suffix != ".html":
        raise UserError(f"{out}: a question is an .html page; choose this ending")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, lambda draft: draft.write_text(question_page(view), encoding="utf-8"))
    return out


def records_of(table: pa.Table, split: str, vocabulary: Vocabulary) -> list[QuestionRecord]:
    """Questions as the official files hold them."""
    return [
        QuestionRecord(
            question=row["question"],
            answer=row["answer"],
            program=read_program(json.loads(row["program"]), vocabulary),
            family=row["question_family_index"],
            image_index=row["image_index"],
            image_filename=f"CLEVR_{split}_{row['image_index']:06}.png",
            split=split,
            question_index=row["question_index"],
            extra={"referents": row["referents"], "trace": row["trace"]},
        )
        for row in table.to_pylist()
    ]


def check_files(scenes: Sequence[str | Path], questions: str | Path) -> tuple[Table, bool]:
    """Recompute a question file from its scenes; whether everything agrees."""
    found = checks.check(scenes, questions, read)
    missing = next((row.first_missing for row in found.families if row.first_missing), "")
    if missing:
        raise UserError(f"{questions}: {missing}; give its file with --scenes too")
    rows = tuple(
        (r.family, r.questions, r.with_program, r.agree, r.differ, r.unread + r.no_answer, r.first_difference)
        for r in found.families
    )
    names = ("asked", "programs", "agree", "differ", "not compared")
    columns = (Column("family"), *(Column(name, "right") for name in names), Column("first difference"))
    relations = found.relations
    note = f"Relations: {relations.agree:,} of {relations.with_relations:,} scenes agree. {relations.first_difference}"
    return Table(f"{questions}", columns, rows, note), found.fine
