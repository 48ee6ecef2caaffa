"""What one can do with Super-CLEVR."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.arrays import by_pairs, held_out, need_questions
from recombine.benchmarks.clevr.exam import Ideal
from recombine.benchmarks.clevr.formats import QuestionRecord, write_questions
from recombine.benchmarks.clevr.pipeline import PARTS, Part
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.question_page import QuestionView, question_card
from recombine.benchmarks.clevr.questions import Rules
from recombine.benchmarks.clevr.split_exam import items_of, split_exam, split_learners
from recombine.benchmarks.clevr.study import TRAINED, QuestionFile, SceneFiles, asked_of, check_table, part_of
from recombine.benchmarks.study import First, Render, Seed, Size, Splits, Study, Workers
from recombine.benchmarks.study import Part as PartName
from recombine.benchmarks.study import Scale as ScaleName
from recombine.benchmarks.super_clevr import check as checks
from recombine.benchmarks.super_clevr import exam as of_exam
from recombine.benchmarks.super_clevr.drawing import VehicleDataset
from recombine.benchmarks.super_clevr.factors import VARIANTS, variant
from recombine.benchmarks.super_clevr.fleet import Fleet
from recombine.benchmarks.super_clevr.formats import image_name, write_scenes
from recombine.benchmarks.super_clevr.language import EDITIONS, release_world
from recombine.benchmarks.super_clevr.noise import NOISES, Noisy, measured
from recombine.benchmarks.super_clevr.objects import VehicleQuestionSet
from recombine.benchmarks.super_clevr.observers import Observer, checked
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline, SuperClevrScale, scale_named
from recombine.benchmarks.super_clevr.published import degrade_table
from recombine.benchmarks.super_clevr.questions import KINDS, Asking
from recombine.benchmarks.super_clevr.shifts import SHIFTS, exam_of, observers, shift_named
from recombine.benchmarks.super_clevr.speed import speeds
from recombine.benchmarks.super_clevr.symbolic import NAMES as SYMBOLIC
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.metrics.speed import Speed
from recombine.render.rendering import Given, Tell, quiet
from recombine.report.document import Card, Chapter
from recombine.report.gaps import Gaps
from recombine.report.table import Column, Table
from recombine.store.cards import About
from recombine.store.engine import Progress
from recombine.store.errors import UserError
from recombine.store.outputs import positive
from recombine.store.store import Store, read_table
from recombine.tasks.exam import Exam
from recombine.tasks.made_splits import Items, MadeSplit, is_file
from recombine.world.scenes import Scenes

FOLDERS = {"object": "questions", "part": "part_questions"}
"""Where questions of each kind stand in what is made."""
PUBLISHED_FORM = (
    "The files `superCLEVR_*` have the published form: answers are words, numbers and truth values in one column; "
    "`datasets` knows no such column, so it opens the tables beside them: the same, with every answer as a word."
)


class SuperClevr(Study):
    """Super-CLEVR at one scale and seed; `scale` may be a `SuperClevrScale`, and `world` a `VehicleWorld`."""

    name = "super-clevr"
    asks = "Answer the question about the scene."
    baselines: ClassVar[tuple[str, ...]] = ("chance", "majority", "form", "nearest")
    """Without `statistics`, whose regressions over the counts of some 250 values take minutes per exam."""
    solvers: ClassVar[Mapping[str, str]] = dict.fromkeys(SYMBOLIC, "symbolic:named")
    formats: ClassVar[tuple[str, ...]] = ("parquet", "json", "jsonl")
    intro = (
        "Questions about scenes of 3 to 10 vehicles and about their parts, each a program. Our vehicles, our textures "
        "and our renderer; the questions are those of the paper."
    )

    def __init__(
        self,
        scale: ScaleName | SuperClevrScale = "demo",
        seed: Seed = 0,
        *,
        workers: Workers = 1,
        edition: Annotated[str, "paper: plain English; release: every word as published."] = "paper",
        complexity: Annotated[
            str | None, "easy: plain vehicles; mid: parts of other looks; hard: textures too. Default: mid."
        ] = None,
        vehicles: Annotated[
            Path | None, "A folder of models (OBJ, glTF, GLB) instead of our vehicles; their named groups are parts."
        ] = None,
        distribution: Annotated[
            str | None, "bal, slt, long, head, tail or oppo; or an exponent such as 1.5. Default: bal."
        ] = None,
        composition: Annotated[
            str | None,
            "co-0, co-1 or co-2; or a JSON file of probabilities by vehicle and color. Default: co-0.",
        ] = None,
        hold_out: Annotated[
            str | None, "Pairs that no vehicle has: 'sedan: gray,blue; bus: red' leaves out gray and blue sedans."
        ] = None,
        swapped: Annotated[bool, "The test of --hold-out: sedans that are gray or blue, and no others."] = False,
        redundancy: Annotated[
            str, "rd-: no word too many; rd: as found; rd+: every attribute and direction that holds."
        ] = "rd",
        noise: Annotated[float, "How probable the observers of a shift see an attribute of an object wrong."] = 0.1,
        generator: Annotated[
            Path | None, "A generator's run, whose programs nsvqa and p-nsvqa run. Default: our own English reads."
        ] = None,
        world: VehicleWorld | None = None,
        store: Store | None = None,
        progress: Progress | None = None,
    ) -> None:
        size = scale_named(scale) if isinstance(scale, str) else scale
        if edition not in EDITIONS:
            raise UserError(f"there is no edition '{edition}'; choose one of {', '.join(EDITIONS)}")
        told = (complexity, vehicles, distribution, composition, hold_out, swapped or None)
        if world is not None and any(one is not None for one in told):
            raise UserError("complexity, vehicles and colors are settings of the world: give these, or a world")
        positive(scenes=min(size.train, size.val, size.test), questions=max(size.questions, size.part_questions))
        chosen = world or VehicleWorld(
            complexity=complexity or "mid", fleet=Fleet.in_folder(vehicles) if vehicles else Fleet()
        )
        if world is None:
            chosen = variant(chosen, distribution or "bal", composition or "co-0", hold_out, edition, swapped)
        self.noise, self.made, self.generator = checked(noise), dict[str, MadeSplit](), generator
        self.factors = {"distribution": distribution, "composition": composition, "hold_out": hold_out}
        self.factors["swapped"] = "yes" if swapped else None
        self.scale_name, self.seed, self.edition = size.name, seed, edition
        self._open(workers, store, progress)
        paper = edition == "paper"
        asking = Asking(chosen if paper else release_world(chosen), edition, Rules(strict=paper), redundancy)
        self.study = SuperClevrPipeline(size, seed, self.store, self.engine, asking)

    @classmethod
    def files_among(cls, options: Mapping[str, Any]) -> Sequence[str]:
        composed = is_file(options.get("composition") or "")
        return [*(["vehicles"] if options.get("vehicles") else []), *(["composition"] if composed else [])]

    @property
    def world(self) -> VehicleWorld:
        return self.study.world

    @property
    def settings(self) -> dict[str, str | int]:
        plain = {"edition": self.edition, "complexity": self.world.complexity}
        if self.world.fleet.folder:
            plain["vehicles"] = self.world.fleet.folder
        plain |= {name: value for name, value in self.factors.items() if value is not None}
        if self.study.asking.redundancy != "rd":
            plain["redundancy"] = self.study.asking.redundancy
        return {**plain, "scale": self.scale_name, "seed": self.seed}

    def list(self) -> Table:
        """The families."""
        families = [(kind, family) for kind in KINDS for family in self.study.asking.families(kind)]
        rows = tuple((kind, one.index, one.name, one.final, repr(one.shape)) for kind, one in families)
        columns = (Column("about"), Column("family", "right"), Column("name"), Column("answers with"), Column("shape"))
        return Table("Super-CLEVR's families", columns, rows)

    def vehicles(self) -> Table:
        """The vehicles and their parts."""
        fleet = self.world.fleet
        rows = tuple(
            (fleet.category[shape], shape, len(parts), ", ".join(parts)) for shape, parts in fleet.parts.items()
        )
        columns = (Column("category"), Column("vehicle"), Column("parts", "right"), Column("names"))
        return Table("Super-CLEVR's vehicles", columns, rows)

    def questions(self, family: str | None = None, part: PartName = "validation") -> VehicleQuestionSet:
        """The questions of a part: `object`, `part`, or those of a family such as one_hop, part/3 or object/72."""
        self.need_room()
        chosen = part_of(part)
        kind, rows = self._rows(family or "object", chosen)
        table = self.study.questions(chosen, kind)
        scene = partial(self.study.scene, chosen)
        return VehicleQuestionSet(table.take(rows), scene, self.study.asking, family or "object")

    def _rows(self, family: str, part: Part) -> tuple[str, np.ndarray]:
        """The kind that a family belongs to, and its questions; of the file of a split, those that it holds out."""
        if is_file(family):
            made = by_pairs(self.split_of(family))
            held = held_out(self.study.questions(part, "object"), made, self.study.asking.dialect, trained=False)
            return "object", need_questions(np.flatnonzero(held), made.name, part)
        kind, _, index = family.partition("/")
        if kind in KINDS and (kind not in self.study.kinds):
            raise UserError(f"there are no questions about {kind}s in this world; it has no recorded parts")
        if kind in KINDS and not index:
            return kind, np.arange(len(self.study.questions(part, kind)))
        names = {one.name for one in self.study.asking.families("object")}
        if kind not in KINDS:
            kind, index = "object", family
        known = names | {str(one.index) for one in self.study.asking.families(kind)}
        if index not in known:
            choices = f"object, part, part/0 to part/8, object/0 to object/89, or one of {', '.join(sorted(names))}"
            raise UserError(f"Super-CLEVR has no family '{family}'; choose {choices}")
        column = "question_family_index" if index.isdigit() else "family"
        said = np.array(self.study.questions(part, kind)[column].to_pylist())
        return kind, np.flatnonzero(said == (int(index) if index.isdigit() else index))

    def show(
        self, split: str, number: int = 0, part: PartName = "validation", *, pictures: bool = False
    ) -> QuestionView:
        """One question: `split` is object, part, or a family such as one_hop or part/3."""
        return self.questions(split, part).numbered(number).view(pictures)

    def exams(self, splits: Splits = (), part: PartName = "test") -> Sequence[Exam]:
        """New questions about objects and about parts; by their names shifts such as long-to-oppo or rd+."""
        return [self._exam(split, part_of(part)) for split in splits or self._kinds()]

    def _kinds(self) -> Sequence[str]:
        """What is asked about where nothing is said: what a generator has learnt, where there is one."""
        if self.generator is None:
            return self.study.kinds
        from recombine.benchmarks.super_clevr.networks import generator_of

        return [generator_of(self.generator).options.about]

    def _exam(self, split: str, part: Part) -> Exam:
        if is_file(split):
            made = self.split_of(split)
            self.made[made.name] = made
            return split_exam(of_exam.exams(self.study, ["object"], part)[0], made)
        if self.generator is not None and (split == "part") != (self._kinds() == ["part"]):
            raise UserError(
                f"{self.generator} has learnt to read questions about {self._kinds()[0]}s alone, not {split}"
            )
        if split in self.study.kinds:
            return of_exam.exams(self.study, [split], part)[0]
        return exam_of(shift_named(split), self.study, part)

    def score(
        self,
        solver: Any = None,
        splits: Splits = (),
        part: PartName = "test",
        *,
        family: Annotated[str | None, "Only questions of this family, such as one_hop, part/3 or object/72."] = None,
        questions: Annotated[int | None, "So many questions of --family. Default: 500."] = None,
    ) -> Table:
        """The scores of solvers, on questions about objects and about parts, on shifts, or on one family."""
        many = asked_of(family, questions, splits)
        if family is None:
            return super().score(solver, splits, part)
        kind, _ = self.study.asking.named(family)
        plain = self._exam(kind, part_of(part))
        return self._score(solver, [of_exam.family_exam(self.study, plain, family, many, part_of(part))])

    def gap(self, splits: Splits = (), part: PartName = "test") -> Gaps:
        """What a wrong belief about the world costs an ideal observer who sees through noise, shift by shift."""
        return super().gap(splits or [*self.study.kinds, *SHIFTS], part)

    def gap_note(self) -> str:
        return (
            f"Observers see each attribute of an object wrong with probability {self.noise:g}. Under a shift of worlds "
            "the strong one believes in independent, uniform attributes, the weak one in training statistics; under "
            "rd-, rd, rd+ the strong one weighs all constraints together, the weak one takes everything as it sees it."
        )

    def split_items(self) -> Items:
        """The programs of the training questions about objects."""
        self.need_room()
        return items_of(of_exam.training(self.study, "object"))

    def scales_for(self, rows: int) -> Iterable[SuperClevrScale]:
        """As many scenes as ten questions about each need, or some more."""
        each = scale_named("paper").questions
        return [SuperClevrScale(f"fresh-{rows}", 1, 1, -(-times * rows // each) + 1) for times in (1, 2, 4)]

    def scales_for_made(self, rows: int) -> Iterable[SuperClevrScale]:
        """Scenes to train on, and as many to a row as a split needs that holds a tenth of the questions out."""
        return [SuperClevrScale(f"fresh-made-{rows}", TRAINED, 1, times * rows + 1) for times in (1, 4, 16)]

    def learners(self, exam: Exam) -> Mapping[str, Ideal | Observer]:
        """The strong and the weak learner: where nothing is held out they are one, under a shift they are observers."""
        plain = of_exam.learners(self.study.asking)
        if exam.name in self.made:
            return split_learners(plain["strong"], self.made[exam.name], self.study.asking.dialect)
        if exam.name in self.study.kinds:
            return plain
        return observers(shift_named(exam.name), self.study, self.noise)

    def make(  # type: ignore[override]
        self,
        out: str | Path | None = None,
        *,
        family: Annotated[str | None, "Only questions of this family, such as one_hop, part/3 or object/72."] = None,
        questions: Annotated[int | None, "So many questions of --family about each part. Default: 500."] = None,
        render: Render = None,
        size: Size = None,
        first: First = None,
        format: Annotated[str, "parquet, or the official json or jsonl; with --render webdataset."] = "parquet",
        factor: Annotated[
            str | None, "All variants of visual, redundancy, distribution or composition, a folder each."
        ] = None,
        tell: Tell = quiet,
    ) -> Path:
        """Make scenes and questions of all parts; copy them to a folder, or leave them in the store."""
        asked = asked_of(family, questions)
        if factor is not None:
            if family is not None:
                raise UserError("factor makes all questions of its variants: leave family out, or factor")
            return self._make_all(factor, out, render, size, first, format, tell)
        if family is not None:
            self.study.asking.named(family)  # one that is not there is refused before anything is made
        many = asked if family else None
        chosen = {"family": family, "questions": many} if family else {}
        official = partial(self._write_official, format, family, many) if format in ("json", "jsonl") else None
        found = partial(self._folders, family, many)
        used = partial(self._used, found) if family and render else None
        return self._make(out, chosen, found, render, size, first, format, tell, also=official, used=used)

    def _used(self, found: Callable[[], Mapping[str, Path]]) -> dict[str, np.ndarray]:
        """By part, the scenes that questions are about."""
        asked = {name.partition("/")[2]: folder for name, folder in found().items() if "questions" in name}
        return {part: np.unique(read_table(folder, ["image_index"])["image_index"]) for part, folder in asked.items()}

    def _make_all(  # what `make` takes
        self,
        factor: str,
        out: str | Path | None,
        render: Render,
        size: Size,
        first: First,
        format: str,
        tell: Tell,
    ) -> Path:
        """Every variant of a factor in a folder of its own."""
        if factor not in VARIANTS:
            raise UserError(f"there is no factor '{factor}'; choose one of {', '.join(VARIANTS)}")
        made = []
        for name in VARIANTS[factor]:
            tell(f"{factor}: {name}")
            folder = None if out is None else Path(out) / name
            one = self.at(factor, name)
            made.append(one.make(folder, render=render, size=size, first=first, format=format, tell=tell))
        return made[0].parent if out is not None else made[0]

    def at(self, factor: str, name: str) -> "SuperClevr":
        """The same with another variant of a factor; all else stays as it is."""
        told = {"complexity": self.world.complexity, "redundancy": self.study.asking.redundancy, **self.factors}
        told[{"visual": "complexity"}.get(factor, factor)] = name
        other = SuperClevr(
            self.study.scale,
            self.seed,
            edition=self.edition,
            vehicles=Path(self.world.fleet.folder) if self.world.fleet.folder else None,
            noise=self.noise,
            store=self.store,
            progress=self.progress,
            **told,  # type: ignore[arg-type]
        )
        other.engine = other.study.engine = self.engine
        return other

    def artefacts(self, splits: Splits = ()) -> dict[str, Path]:
        return self._folders(None, None)

    def _folders(self, family: str | None, questions: int | None) -> dict[str, Path]:
        found = {f"scenes/{part}": self.study.scenes_folder(part) for part in PARTS}
        if family is not None and questions is not None:
            name = FOLDERS[self.study.asking.named(family)[0]]
            made = {part: self.study.family_file(family, questions, part).parent for part in PARTS}
            return found | {f"{name}/{part}": folder for part, folder in made.items()}
        for kind in self.study.kinds:
            found |= {f"{FOLDERS[kind]}/{part}": self.study.questions_folder(part, kind) for part in PARTS}
        return found

    def card(self, made: Mapping[str, Any], verb: str = "make") -> About:
        about = super().card(made, verb)
        return (
            replace(about, notes=(*about.notes, PUBLISHED_FORM)) if made.get("format") in ("json", "jsonl") else about
        )

    @property
    def dataset(self) -> VehicleDataset:
        parts = tuple((part, self.study.count(part)) for part in PARTS)
        world = self.world
        return VehicleDataset(
            self.name, world.vocabulary, world.high, parts, self.study.shard, 320, 240, None, stage=world.stage
        )

    def scenes_given(self) -> dict[str, Given]:
        study = self.study
        return {part: Given(study.scenes_folder(part), study.scenes_recipe(part).digest) for part in PARTS}

    @property
    def _world(self) -> object:
        return self.world

    def _write_official(self, format: str, family: str | None, questions: int | None, folder: Path) -> None:
        """The files as Super-CLEVR writes them: images are numbered through all parts."""
        first, tables = 0, self._folders(family, questions)
        for part in PARTS:
            name = folder / f"superCLEVR_{part}"
            write_scenes(f"{name}_scenes.{format}", self.study.scenes(part), self.world, "new", first)
            for kind in [kind for kind in KINDS if f"{FOLDERS[kind]}/{part}" in tables]:
                table = read_table(tables[f"{FOLDERS[kind]}/{part}"])
                middle = "_" if kind == "object" else "_part_"
                records = records_of(table, kind, first, self.study.asking)
                write_questions(
                    f"{name}{middle}questions.{format}", records, {"split": "new"}, "type", self.study.asking.dialect
                )
            first += self.study.count(part)

    def scenes(self, part: str) -> Scenes:
        """All scenes of a part."""
        return self.study.scenes(part_of(part))

    def chapters(self) -> Iterable[Chapter]:
        names = ("zero_hop", "same_relate", "part/0", "part/4", "part/7")
        cards = tuple(Card(question_card(self.show(name, 3, pictures=True))) for name in names)
        yield Chapter("Questions", cards, "Some questions, step by step.")
        yield self.gap_chapter(self.gap(), "Ideal observers under the shifts of three factors.")
        noisy = self.by_noise()
        told = "What a wrong belief, or committing too early, costs an observer as it sees less."
        yield Chapter("Noise", (noisy.gaps(), *noisy.figures(), noisy.degrades()), told)
        yield Chapter("Published models", (degrade_table(),))
        yield Chapter("The vehicles", (self.vehicles(),))
        yield Chapter("Settings", (self.settings_table(),))

    def by_noise(self, noises: Sequence[float] = NOISES) -> Noisy:
        """How the ideal observers do under every shift at several levels of noise."""
        self.need_room()
        return measured(self.study, noises)

    def speeds(self) -> Iterator[Speed]:
        return speeds(self.study)

    def check(self, *, scenes: SceneFiles = (), questions: QuestionFile = None) -> tuple[Table, bool]:
        """Every law on fresh scenes and questions; or files, or folders, of scenes and a file of questions.

        Of files, relations are recomputed from coordinates, programs run, and the text is read where there is no
        program; the answers are compared family by family.
        """
        if not scenes and not questions:
            return super().check()
        if not scenes or questions is None:
            raise UserError("scenes and questions belong together: give both files")
        return check_table(checks.check(scenes, questions, self.world), str(questions))

    def need_room(self, splits: Sequence[str] = ()) -> None:
        self.store.need(self.study.size_estimate())


def records_of(table: pa.Table, kind: str, first: int, asking: Asking) -> Iterator[QuestionRecord]:
    """Questions as the official files hold them; `first` is the number of the first image."""
    starts: dict[str, int] = {}
    for one in asking.families(kind):
        starts.setdefault(one.name, one.index)
    dialect = asking.dialect
    for row in table.to_pylist():
        number = first + row["image_index"]
        template, index = row["family"], row["question_family_index"]
        said = row["answer"]
        yield QuestionRecord(
            question=row["question"],
            answer={"yes": True, "no": False}.get(said, int(said) if said.isdecimal() else said),  # type: ignore[arg-type]
            program=read_program(json.loads(row["program"]), dialect),
            family=index - starts[template],
            image_index=number,
            image_filename=image_name(number),
            split="new",
            question_index=row["question_index"],
            extra={
                "image": image_name(number).removesuffix(".png"),
                "template_filename": f"{template}.json",
                "referents": row["referents"],
                "part_referents": row["part_referents"],
            },
        )
