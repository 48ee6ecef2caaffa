"""What one can do with CLEVR."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
import pyarrow as pa

from recombine import benchmarks
from recombine.benchmarks.clevr import check as checks
from recombine.benchmarks.clevr import exam as of_exam
from recombine.benchmarks.clevr.arrays import by_pairs, held_out, need_questions
from recombine.benchmarks.clevr.english import read
from recombine.benchmarks.clevr.exam import Ideal
from recombine.benchmarks.clevr.families import Families
from recombine.benchmarks.clevr.formats import QuestionRecord, SceneFile, write_questions, write_scenes
from recombine.benchmarks.clevr.objects import QuestionSet
from recombine.benchmarks.clevr.pipeline import PARTS, ClevrPipeline, ClevrScale, Part, clevr_scale
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.question_page import QuestionView, question_card
from recombine.benchmarks.clevr.questions import Rules
from recombine.benchmarks.clevr.speed import speeds
from recombine.benchmarks.clevr.split_exam import items_of, split_exam, split_learners
from recombine.benchmarks.clevr.world import COGENT, ClevrWorld, Condition
from recombine.benchmarks.study import First, Render, Seed, Size, Splits, Study, Workers, part_named
from recombine.benchmarks.study import Part as PartName
from recombine.benchmarks.study import Scale as ScaleName
from recombine.language.expr import Expr
from recombine.metrics.speed import Speed
from recombine.render.folders import Dataset
from recombine.render.rendering import Given, Tell, quiet
from recombine.report.document import Card, Chapter
from recombine.report.table import Column, Table
from recombine.store.engine import Progress
from recombine.store.errors import UserError
from recombine.store.outputs import positive
from recombine.store.store import Store, read_table
from recombine.tasks.exam import Exam
from recombine.tasks.made_splits import Items, MadeSplit, is_file
from recombine.tasks.rows import Piece, RowSet
from recombine.world.scenes import Scenes, join
from recombine.world.shards import read_scenes
from recombine.world.vocabulary import Vocabulary

EDITIONS = ("paper", "release")
SceneFiles = Annotated[Sequence[Path], "A file of scenes, JSON or JSON lines; may be repeated.", ("--scenes",)]
QuestionFile = Annotated[Path | None, "A file of questions about them."]


class Spread(NamedTuple):
    """A family's questions, how many different answers they have, and how far the most frequent answer leads."""

    family: int
    name: str
    questions: int
    answers: int
    lead: float | None


def shard_pieces(exam: Exam) -> Iterator[Piece]:
    """The questions of an exam that asks shard by shard."""
    first = scenes = 0
    for examples in exam.pieces():
        yield Piece(examples, examples.scene + scenes, first)
        first, scenes = first + len(examples.scene), scenes + len(examples.scenes)


TRAINED = 300
"""Scenes that a fresh test of a split that was made has to train on."""


class Clevr(Study):
    """CLEVR at one scale and seed; `scale` may be a `ClevrScale`, and `world` a `ClevrWorld` of your own."""

    name = "clevr"
    baselines: ClassVar[tuple[str, ...]] = ("chance", "majority", "form", "nearest", "statistics")
    formats: ClassVar[tuple[str, ...]] = ("parquet", "json", "jsonl")
    asks = "Answer the question about the scene."
    intro = "Questions about scenes of 3 to 10 objects, each a program; nothing is held out."

    def __init__(
        self,
        scale: ScaleName | ClevrScale = "demo",
        seed: Seed = 0,
        *,
        workers: Workers = 1,
        cogent: Annotated[Literal["A", "B"] | None, "CoGenT: cubes and cylinders of half of the colours each."] = None,
        edition: Annotated[str, "paper: no superfluous relation; release: as the released generator."] = "paper",
        hold_out: Annotated[
            str | None, "Pairs that no object has: 'cube: gray,blue; cylinder: red' leaves out gray and blue cubes."
        ] = None,
        swapped: Annotated[bool, "The test of --hold-out: cubes that are gray or blue, and no others."] = False,
        world: ClevrWorld | None = None,
        store: Store | None = None,
        progress: Progress | None = None,
    ) -> None:
        size = clevr_scale(scale) if isinstance(scale, str) else scale
        if edition not in EDITIONS:
            raise UserError(f"there is no edition '{edition}'; choose one of {', '.join(EDITIONS)}")
        if cogent not in (None, *COGENT):
            raise UserError(f"there is no CoGenT condition '{cogent}'; choose one of {', '.join(COGENT)}")
        positive(scenes=min(size.train, size.val, size.test), questions=size.questions)
        self.scale_name, self.seed, self.edition, self.cogent = size.name, seed, edition, cogent
        self._open(workers, store, progress)
        if swapped and hold_out is None:
            raise UserError("swapped is for hold_out; say which pairs are left out")
        self.left_out, self.swapped = None if hold_out is None else Condition.read(hold_out), swapped
        condition = self.left_out.swapped if self.left_out and not swapped else self.left_out
        pairs = () if condition is None else condition.held_out
        rules = Rules(strict=edition == "paper")
        chosen = world or ClevrWorld(cogent=cogent, held_out=pairs)
        self.made: dict[str, MadeSplit] = {}
        self.study = ClevrPipeline(size, seed, self.store, self.engine, chosen, rules)

    @property
    def settings(self) -> dict[str, str | int]:
        cogent = {"cogent": self.cogent} if self.cogent else {}
        left_out = {"hold-out": str(self.left_out)} if self.left_out else {}
        swapped = {"swapped": "yes"} if self.swapped else {}
        return {"edition": self.edition, "scale": self.scale_name, "seed": self.seed, **cogent, **left_out, **swapped}

    def list(self) -> Table:
        """The families: 90, and more where the world has more attributes."""
        known = self.study.families
        rows = tuple((family.index, family.name, family.final, repr(family.shape)) for family in known)
        columns = (Column("family", "right"), Column("name"), Column("answers with"), Column("shape"))
        return Table("CLEVR's families", columns, rows)

    def questions(self, family: str | None = None, part: PartName = "validation") -> QuestionSet:
        """The questions of a part: all, or those of a family, by its name such as one_hop or its index."""
        self.need_room()
        chosen = part_of(part)
        table = read_table(self.study.questions_folder(chosen))
        if family is not None and is_file(family):
            return self.held_out_questions(self.split_of(family), part)
        if family is not None:
            table = table.take(_rows_of(self.study.families, family, table))
        return QuestionSet(table, partial(self.study.scene, chosen), "CLEVR", family or chosen)

    def held_out_questions(self, made: MadeSplit, part: PartName = "validation") -> QuestionSet:
        """The questions of a part that a split holds out."""
        chosen = part_of(part)
        table = read_table(self.study.questions_folder(chosen))
        held = held_out(table, by_pairs(made), self.study.dialect, trained=False)
        rows = need_questions(np.flatnonzero(held), made.name, chosen)
        return QuestionSet(table.take(rows), partial(self.study.scene, chosen), "CLEVR", made.name)

    def show(
        self, split: str, number: int = 0, part: PartName = "validation", *, pictures: bool = False
    ) -> QuestionView:
        """One question: `split` is the name of a family such as one_hop, its index, or the file of a split."""
        return self.questions(split, part).numbered(number).view(pictures)

    def exams(self, splits: Splits = (), part: PartName = "test") -> Sequence[Exam]:
        """The one exam: new questions about new scenes."""
        if unknown := [split for split in splits if split != "iid" and not is_file(split)]:
            raise UserError(
                f"CLEVR has no split '{unknown[0]}'; it holds nothing out: choose iid, or a file of a split"
            )
        (plain,) = of_exam.exams(self.study, part_of(part))
        return [self.exam_of(self.split_of(split), plain) if is_file(split) else plain for split in splits or ["iid"]]

    def score(
        self,
        solver: Any = None,
        splits: Splits = (),
        part: PartName = "test",
        *,
        family: Annotated[str | None, "Only questions of this family, by its name or index."] = None,
        questions: Annotated[int | None, "So many questions of --family. Default: 500."] = None,
    ) -> Table:
        """The scores of solvers, on all questions or on those of one family."""
        many = asked_of(family, questions, splits)
        if family is None:
            return super().score(solver, splits, part)
        self.study.families.named(family)
        return self._score(solver, [of_exam.family_exam(self.study, family, many, part_of(part))])

    def exam_of(self, made: MadeSplit, plain: Exam) -> Exam:
        """The exam of a split that was made."""
        self.made[made.name] = made
        return split_exam(plain, made)

    def split_items(self) -> Items:
        """The programs of the training questions."""
        self.store.need(self.study.size_estimate(["train"]))
        return items_of(of_exam.training(self.study))

    def row_sets(self, splits: Splits = (), part: PartName = "test") -> Sequence[RowSet]:
        """The questions of a part, about its scenes."""
        name = part_of(part)
        return [
            RowSet(exam.name, exam.name, part_named(part), partial(shard_pieces, exam), self.asks, name, exam)
            for exam in self.exams(splits, part)
        ]

    def scales_for(self, rows: int) -> Iterable[ClevrScale]:
        """As many scenes as ten questions about each need, or some more."""
        each = clevr_scale("paper").questions
        return [ClevrScale(f"fresh-{rows}", 1, 1, -(-times * rows // each) + 1) for times in (1, 2, 4)]

    def scales_for_made(self, rows: int) -> Iterable[ClevrScale]:
        """Scenes to train on, and as many to a row as a split needs that holds a tenth of the questions out."""
        return [ClevrScale(f"fresh-made-{rows}", TRAINED, 1, times * rows + 1) for times in (1, 4, 16)]

    def learners(self, exam: Exam) -> Mapping[str, Ideal]:
        """The strong and the weak learner, who are one where nothing is held out."""
        found = of_exam.learners(self.study.dialect)
        return (
            split_learners(found["strong"], self.made[exam.name], self.study.dialect)
            if exam.name in self.made
            else found
        )

    def make(  # type: ignore[override]
        self,
        out: str | Path | None = None,
        *,
        family: Annotated[str | None, "Only questions of this family, by its name or index."] = None,
        questions: Annotated[int | None, "So many questions of --family about each part. Default: 500."] = None,
        render: Render = None,
        size: Size = None,
        first: First = None,
        format: Annotated[str, "parquet, or the official json or jsonl; with --render webdataset."] = "parquet",
        tell: Tell = quiet,
    ) -> Path:
        """Make scenes and questions of all parts; copy them to a folder, or leave them in the store."""
        asked = asked_of(family, questions)
        if family is not None:
            self.study.families.named(family)  # one that is not there is refused before anything is made
        many = asked if family else None
        chosen = {"family": family, "questions": many} if family else {}
        official = partial(self._write_official, format, family, many) if format in ("json", "jsonl") else None
        found = partial(self._folders, family, many)
        used = partial(self._used, found) if family and render else None
        return self._make(out, chosen, found, render, size, first, format, tell, official, used=used)

    def _used(self, found: Callable[[], Mapping[str, Path]]) -> dict[str, np.ndarray]:
        """By part, the scenes that questions are about."""
        asked = {part: found()[f"questions/{part}"] for part in PARTS}
        return {part: np.unique(read_table(folder, ["image_index"])["image_index"]) for part, folder in asked.items()}

    def artefacts(self, splits: Splits = ()) -> dict[str, Path]:
        return self._folders(None, None)

    def _folders(self, family: str | None, questions: int | None) -> dict[str, Path]:
        found = {}
        for part in PARTS:
            found[f"scenes/{part}"] = self.study.scenes_folder(part)
            if family is None or questions is None:
                found[f"questions/{part}"] = self.study.questions_folder(part)
            else:
                found[f"questions/{part}"] = self.study.family_file(family, questions, part).parent
        return found

    @property
    def dataset(self) -> Dataset:
        world, parts = self.study.world, tuple((part, self.study.count(part)) for part in PARTS)
        return Dataset("clevr", world.vocabulary, world.high, parts, self.study.shard, 320, 240, None)

    def scenes_given(self) -> dict[str, Given]:
        study = self.study
        return {part: Given(study.scenes_folder(part), study.scenes_recipe(part).digest) for part in PARTS}

    @property
    def _world(self) -> object:
        return self.study.world

    def _write_official(self, format: str, family: str | None, questions: int | None, folder: Path) -> None:
        """The files as CLEVR names and writes them."""
        tables = self._folders(family, questions)
        for part in PARTS:
            write_scenes(folder / f"CLEVR_{part}_scenes.{format}", SceneFile.of(self.scenes(part), part))
            records = records_of(read_table(tables[f"questions/{part}"]), part, self.study.world.vocabulary)
            write_questions(folder / f"CLEVR_{part}_questions.{format}", records, {"split": part})

    def scenes(self, part: str) -> Scenes:
        """All scenes of a part."""
        chosen = part_of(part)
        folder, shards = self.study.scenes_folder(chosen), range(self.study.shards(chosen))
        return join([read_scenes(self.study.world, folder, shard) for shard in shards])

    def spread(self, part: str = "validation") -> tuple[Spread, ...]:
        """How the questions of a part and their answers are spread over the families."""
        table = self.questions(None, part).table
        family, answer = table["question_family_index"].to_numpy(), np.array(table["answer"].to_pylist())
        found = []
        for one in self.study.families:
            counts = np.sort(np.unique(answer[family == one.index], return_counts=True)[1])[::-1]
            lead = float(counts[0] / counts[1]) if len(counts) > 1 else None
            found.append(Spread(one.index, one.name, int(counts.sum()), len(counts), lead))
        return tuple(found)

    def balance(self, part: str = "validation") -> Table:
        """How even the answers of each family are."""
        names = ("questions", "answers", "largest / second")
        columns = (Column("family", "right"), Column("name"), *(Column(name, "right", ".3f") for name in names))
        return Table(f"Answers of {part}", columns, tuple(map(tuple, self.spread(part))))

    def chapters(self) -> Iterable[Chapter]:
        families = dict.fromkeys(family.name for family in self.study.families)
        cards = tuple(Card(question_card(self.show(name, 3, pictures=True))) for name in families)
        yield Chapter("Questions", cards, "One question of each kind of family, step by step.")
        yield self.gap_chapter(self.gap(), "Nothing is held out here, so the gap is 0; CLOSURE's tests have one.")
        yield Chapter("The answers", (self.balance(),))
        yield Chapter("Settings", (self.settings_table(),))

    def speeds(self) -> Iterator[Speed]:
        return speeds(self.study)

    def check(
        self,
        *,
        scenes: SceneFiles = (),
        questions: QuestionFile = None,
    ) -> tuple[Table, bool]:
        """Every law on fresh scenes and questions; or files of scenes and questions.

        Of files, relations are recomputed from coordinates, programs run, and the text is read where there is no
        program; the answers are compared family by family.
        """
        return check_files(scenes, questions, read_any) if scenes or questions else super().check()

    def need_room(self, splits: Sequence[str] = ()) -> None:
        self.store.need(self.study.size_estimate())


def read_any(text: str) -> Expr:
    """A question of CLEVR as a program; or of any benchmark that asks in more ways."""
    try:
        return read(text)
    except UserError as unread:
        for other in benchmarks.every():
            with suppress(UserError):
                if other.reader_at and other.name != Clevr.name:
                    found: Expr = other.part(other.reader_at)(text)
                    return found
        raise unread


def part_of(name: str) -> Part:
    """A part as CLEVR's files call it."""
    return cast(Part, {"validation": "val"}.get(part_named(name), name))


def asked_of(family: str | None, questions: int | None, splits: Splits = ()) -> int:
    """How many questions of a family are asked for."""
    if questions is not None and family is None:
        raise UserError("questions is for family; say which family, such as one_hop")
    if family is not None and splits:
        raise UserError(f"the questions of a family are no part of a split; leave out {splits[0]}, or family")
    positive(questions=500 if questions is None else questions)
    return 500 if questions is None else questions


def _rows_of(known: Families, family: str, table: pa.Table) -> np.ndarray:
    if family not in {str(value) for one in known for value in (one.index, one.name)}:
        names = dict.fromkeys(one.name for one in known)
        raise UserError(f"CLEVR has no family '{family}'; choose one of {', '.join(names)}, or 0 to {len(known) - 1}")
    column = "question_family_index" if family.isdigit() else "family"
    return np.flatnonzero(np.array(table[column].to_pylist()) == (int(family) if family.isdigit() else family))


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


def check_files(
    scenes: Sequence[str | Path], questions: str | Path | None, read: checks.Reader = read
) -> tuple[Table, bool]:
    """Recompute a question file from its scenes; whether everything agrees. `read` is for questions without program."""
    if not scenes or questions is None:
        raise UserError("scenes and questions belong together: give both files")
    return check_table(checks.check(scenes, questions, read), str(questions))


def check_table(found: checks.Check, questions: str) -> tuple[Table, bool]:
    """What was found in a file of questions, family by family; whether everything agrees."""
    missing = next((row.first_missing for row in found.families if row.first_missing), "")
    if missing:
        raise UserError(f"{questions}: {missing}; give its scenes too")
    rows = tuple(
        (r.family, r.questions, r.with_program, r.agree, r.differ, r.unread + r.no_answer, r.first_difference)
        for r in found.families
    )
    names = ("asked", "programs", "agree", "differ", "not compared")
    columns = (Column("family"), *(Column(name, "right") for name in names), Column("first difference"))
    relations = found.relations
    asked, agree = sum(r.questions for r in found.families), sum(r.agree for r in found.families)
    note = (
        f"{agree:,} of {asked:,} answers agree. Relations: {relations.agree:,} of {relations.with_relations:,} scenes "
        f"agree. {relations.first_difference}"
    )
    return Table(questions, columns, rows, note.strip()), found.fine
