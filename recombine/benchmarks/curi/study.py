"""What one can do with CURI."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast, get_args

import numpy as np
import pyarrow as pa

from recombine.benchmarks.curi import exam as of_exam
from recombine.benchmarks.curi import pages
from recombine.benchmarks.curi.edition import Edition
from recombine.benchmarks.curi.edition import edition as edition_named
from recombine.benchmarks.curi.episode import EpisodeView
from recombine.benchmarks.curi.language import CURI_LOT, Lot
from recombine.benchmarks.curi.media import NO_MEDIA, Media
from recombine.benchmarks.curi.objects import EpisodeSet
from recombine.benchmarks.curi.pipeline import PARTS, CuriPipeline, Part, Scale, Setup
from recombine.benchmarks.curi.pipeline import scale as scale_named
from recombine.benchmarks.curi.published import EASY, FIGURE, PRINTED_GAP, PUBLISHED_ORDER, RECOMPUTED
from recombine.benchmarks.curi.space import read_concepts
from recombine.benchmarks.curi.speed import speeds
from recombine.benchmarks.curi.spelling import Speller
from recombine.benchmarks.curi.splits import atom, where_word
from recombine.benchmarks.curi.world import CuriWorld
from recombine.benchmarks.row_export import stream
from recombine.benchmarks.row_export import write as write_rows
from recombine.benchmarks.study import (
    Difficulties,
    First,
    FirstRows,
    Form,
    Render,
    RenderRows,
    Seed,
    Size,
    Splits,
    Study,
    Workers,
    Worlds,
    part_named,
)
from recombine.benchmarks.study import Part as PartName
from recombine.language.expr import Expr, Symbol
from recombine.language.query import Where, parse_where
from recombine.metrics.gap import Gap
from recombine.metrics.scores import BATCH
from recombine.metrics.speed import Speed
from recombine.render.folders import Dataset
from recombine.render.rendering import Given, Tell, quiet
from recombine.report.document import Chapter
from recombine.report.gaps import Gaps
from recombine.report.table import Cell, Table
from recombine.report.times import Clock
from recombine.report.view import View
from recombine.semantics.table import BLOCK
from recombine.solvers.oracle import Oracle
from recombine.store.engine import Progress
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.outputs import place_for, positive
from recombine.store.store import Store
from recombine.tasks.difficulty import Span
from recombine.tasks.episodes import Negatives
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.made_splits import Items
from recombine.tasks.rows import Piece, Row, RowSet
from recombine.tasks.splits import Split, hold_out
from recombine.world.distribution import World

ENUMERATION = tuple(
    f"enumeration{modality}{prior}" for modality in ("", "-image", "-sound") for prior in ("", "-learnt")
)
"""Learners that weigh the whole language: by what they perceive, and where their prior is from."""
MOST = 8
"""Objects of a scene that there is room for."""
NEGATIVES: tuple[Negatives, ...] = get_args(Negatives)
NegativesName = Annotated[str, "hard (scenes that a rival explanation accepts) or easy (random scenes)."]
FirstEpisodes = Annotated[int | None, "Only the first so many test episodes of each split."]
QueriesOnly = Annotated[bool, "Ask the 25 queries alone, not the large set: for solvers that are expensive."]


class Curi(Study):
    """CURI at one scale, edition and seed.

    `lot` and `world` are a language and a world of your own; scale and edition may be a `Scale` and an `Edition`.
    """

    name = "curi"
    metrics = ("mAP", "accuracy")
    unit = "episodes"
    shown_as = (".html", ".svg")
    intro = pages.INTRO
    asks = "Some scenes fit a hidden rule, others do not. The first ones are given with their answers: find the rule."
    published_note: ClassVar[str] = pages.PUBLISHED
    claimed = PUBLISHED_ORDER
    solvers: ClassVar[Mapping[str, str]] = dict.fromkeys(ENUMERATION, "induction:named")
    inducing: ClassVar[Mapping[str, str]] = {
        "images": "enumeration-image",
        "sounds": "enumeration-sound",
        **dict.fromkeys(("words", "None"), "enumeration"),
    }

    def __init__(
        self,
        scale: Annotated[str | Scale, "How much: demo, small, laptop or paper; demo where it is not said."] = "demo",
        edition: Annotated[
            str | Edition,
            "paper: as the papers say; release: as the released code did; ideal: oracles that know how sets are drawn.",
        ] = "paper",
        seed: Seed = 0,
        *,
        workers: Workers = 1,
        concepts: Annotated[
            str | Path | Sequence[str] | None, "Your own concepts: postfix or infix, one per line, or a JSON list."
        ] = None,
        lot: Lot | None = None,
        world: World | None = None,
        hold_out: Annotated[
            Mapping[str, str | Where] | None,
            "A split of your own: name=predicate, such as mine=green & (cube | length>11).",
        ] = None,
        strict: Annotated[bool, "Leave out test concepts with a synonym on the training side."] = False,
        whole_language: Annotated[bool, "Every concept of the language, not those of 2M draws."] = False,
        episodes: Annotated[int | None, "Test episodes per split, in place of the scale's."] = None,
        objects: Annotated[str | None, "How many objects scenes have, such as 2-3. Default: 2-5."] = None,
        store: Store | None = None,
        progress: Progress | None = None,
    ) -> None:
        lot = lot or Lot()
        size = scale_named(scale) if isinstance(scale, str) else scale
        if whole_language:
            size = replace(size, draws=None)
        if episodes is not None:
            size = replace(size, test=episodes)
        positive(episodes=size.test, scenes=size.scenes)
        of = edition_named(edition) if isinstance(edition, str) else edition
        if objects is not None:
            if world is not None:
                raise UserError("objects is a setting of the world: give it, or a world")
            world = CuriWorld(of.first_bin, *_between(objects))
        self.objects = objects
        setup = Setup(
            edition=of,
            scale=size,
            seed=seed,
            lot=lot,
            world=world,
            concepts=None if concepts is None else _own_concepts(concepts, lot),
            strict=strict,
        )
        self.scale_name, self.seed = size.name, seed
        self.asked: dict[str, int] = {"episodes": episodes} if episodes is not None else {}
        if whole_language:
            self.asked["whole_language"] = True
        self._open(workers, store, progress)
        self.study = CuriPipeline(setup, self.store, self.engine)
        for name, where in (hold_out or {}).items():
            if name in self.study.splits:
                raise UserError(f"there is a split '{name}' already; choose another name for your own")
            self.study.splits[name] = own_split(name, where, lot)

    @classmethod
    def files_among(cls, options: Mapping[str, Any]) -> Sequence[str]:
        return [name for name in ("concepts",) if isinstance(options.get(name), str | Path)]

    @property
    def settings(self) -> dict[str, str | int]:
        setup = self.study.setup
        own = {"concepts": len(setup.concepts)} if setup.concepts else {}
        strict = {"strict": 1} if setup.strict else {}
        objects = {"objects": self.objects} if self.objects else {}
        return {
            "edition": setup.edition.name,
            "scale": self.scale_name,
            "seed": self.seed,
            **own,
            **strict,
            **self.asked,
            **objects,
        }

    def list(self) -> Table:
        """The splits with their sizes and leaks."""
        self._room(splits=0)
        return pages.split_table(self.study)

    def episodes(self, split: str, part: PartName = "test", negatives: NegativesName = "hard") -> EpisodeSet:
        """The episodes of a split: a sequence of objects with labels, scenes, pictures, sounds, hypotheses."""
        split = self.study.split(split).name
        self._room(splits=1)
        return EpisodeSet(self.study, split, cast(Part, part_named(part)), _negatives(negatives))

    def show(
        self,
        split: str,
        number: int = 0,
        part: PartName = "test",
        *,
        negatives: NegativesName = "hard",
        sound: Annotated[bool, "A page with a player for every scene."] = False,
        run: Annotated[
            str | None, "Also what a learner makes of it: one such as enumeration-image, or the folder of a run."
        ] = None,
        pictures: bool = False,
        sounds: int | None = 0,
    ) -> View:
        """One episode: what is shown, what is asked, and what the oracles make of it, or a learner.

        `sounds`: of how many scenes, the positives first; None for all.
        """
        media = Media(pictures or sound, None if sound else sounds)
        view = self.episode_view(split, number, part, negatives, media)
        if run is None:
            return view
        from recombine.benchmarks.curi.learner_view import learner_view

        chosen = cast(Part, part_named(part))
        return learner_view(self, run, split, number, _negatives(negatives), chosen, view)

    def episode_view(
        self, split: str, number: int, part: str = "test", negatives: str = "hard", media: Media = NO_MEDIA
    ) -> EpisodeView:
        """One episode, with what the oracles make of it."""
        split = self.study.split(split).name
        chosen = cast(Part, part_named(part))
        self._room(splits=1)
        return pages.episode_view(self.study, split, number, _negatives(negatives), chosen, media)

    def telling_episode(self, split: str) -> int:
        """A test episode that the strong oracle solves and the weak one does not; of several the shortest concept."""
        return pages.telling_episode(self.study, split)

    def exams(
        self,
        splits: Splits = (),
        part: PartName = "test",
        *,
        negatives: NegativesName = "hard",
        first: FirstEpisodes = None,
        queries_only: QueriesOnly = False,
    ) -> Sequence[Exam]:
        """An exam for each split: class-balanced accuracy on the query, average precision on a large set of scenes."""
        if part_named(part) != "test":
            raise UserError("CURI's exams are about test episodes; leave part out")
        return of_exam.exams(self.study, splits, _negatives(negatives), first, queries_only)

    def learners(self, exam: Exam) -> dict[str, Oracle]:
        """The strong and the weak oracle."""
        return of_exam.learners(self.study, exam)

    def ideal(self, exam: Exam) -> Mapping[str, Marks]:
        """What the oracles earn; the store keeps their answers."""
        negatives = cast(Negatives, exam.name.split("/")[1])
        found = self.study.marks(exam.split, negatives)
        wanted = [metric for metric in self.metrics if metric in found["strong"]]
        return {who: {metric: marks[metric] for metric in wanted} for who, marks in found.items()}

    def gap(self, splits: Splits = (), part: str = "test", *, negatives: NegativesName = "hard") -> Gaps:
        """The compositionality gap of each split on test episodes, by mAP and by class-balanced accuracy."""
        self._room(len(splits) or len(self.study.splits))
        found = self._gap(self.exams(splits, part, negatives=negatives))
        note = pages.PUBLISHED if negatives == "hard" else pages.PUBLISHED_EASY
        return replace(found, settings={**found.settings, "negatives": negatives}, published=note)

    def score(
        self,
        solver: Any = None,
        splits: Splits = (),
        part: str = "test",
        *,
        negatives: NegativesName = "hard",
        first: FirstEpisodes = None,
        queries_only: QueriesOnly = False,
    ) -> Table:
        """The scores of solvers on every split, beside those of the oracles."""
        asked = self.exams(splits, part, negatives=negatives, first=first, queries_only=queries_only)
        self.need_room(splits)
        found = self._score(solver, asked)
        note = f"{found.note} Accuracy is over batches of {BATCH} episodes"
        alone = first is not None and first <= BATCH
        return replace(found, note=f"{note}; of one batch there is no interval." if alone else f"{note}.")

    def row_sets(
        self, splits: Splits = (), part: PartName = "test", *, negatives: NegativesName = "hard"
    ) -> Sequence[RowSet]:
        """The episodes of some splits; all are about the same scenes."""
        chosen = [self.study.split(split).name for split in splits] or self.study.usable_splits()
        kind, named = _negatives(negatives), cast(Part, part_named(part))
        self._room(len(chosen), (named,))
        return [
            RowSet(f"{split}/{kind}", split, named, partial(self._row_pieces, split, named, kind), self.asks, exam=exam)
            for split, exam in zip(chosen, of_exam.exams(self.study, chosen, kind))
        ]

    def _row_pieces(self, split: str, part: Part, negatives: Negatives) -> Iterator[Piece]:
        for examples in of_exam.of_part(self.study, split, negatives, part):
            yield Piece(examples, examples.scene, int(examples.group[0]))

    def rows(
        self,
        splits: Splits = (),
        part: PartName = "test",
        *,
        form: Form = "all",
        first: FirstRows = None,
        render: RenderRows = None,
        size: Size = None,
        difficulty: Difficulties = None,
        negatives: NegativesName = "hard",
    ) -> Iterator[Row]:
        """Episodes as rows."""
        return stream(self.asked_rows(splits, part, form, first, render, size, difficulty, negatives=negatives))

    def export(
        self,
        out: str | Path,
        splits: Splits = (),
        part: PartName = "test",
        *,
        form: Form = "all",
        first: FirstRows = None,
        render: RenderRows = None,
        size: Size = None,
        difficulty: Difficulties = None,
        format: Annotated[str, "parquet, jsonl or webdataset."] = "parquet",
        negatives: NegativesName = "hard",
        tell: Tell = quiet,
    ) -> Path:
        """Write episodes as rows to a new folder, with the pictures or sounds that they use."""
        place = place_for(out)
        asked = self.asked_rows(splits, part, form, first, render, size, difficulty, negatives=negatives)
        return write_rows(asked, place, format, {"held out": self._own_splits()}, tell)

    def atom(self, symbol: Symbol) -> str | None:
        return atom(symbol)

    def split_items(self) -> Items:
        """All concepts; synonyms stay together."""
        space = self.study.space
        return Items(space.concepts, space.sense, space.weight, True)

    def scales_for(self, rows: int) -> Iterable[Scale]:
        """The same scale with so many test episodes."""
        size = self.study.setup.scale
        return [replace(size, name=f"{size.name}-{rows}", test=rows)]

    def published(self, exam: Exam, metric: str) -> Mapping[str, Cell]:
        """The papers' figure, which shows the released code with hard negatives; with easy ones, its networks."""
        setup = self.study.setup
        own = setup.world is not None or setup.lot != CURI_LOT or bool(setup.concepts)
        if own or setup.strict or setup.scale.draws is None or exam.split not in FIGURE[metric]:
            return {}
        if exam.name.endswith("/easy"):
            shown = {f"{modality} relation-net": (modality, "relation-net") for modality in ("schema", "image")}
            known = {name: EASY.get(metric, {}).get(network, {}) for name, network in shown.items()}
            return {name: row[exam.split][0] for name, row in known.items() if exam.split in row}
        strong, weak = FIGURE[metric][exam.split]
        again = RECOMPUTED[metric].get(exam.split)
        return {
            "paper strong": strong,
            "paper weak": weak,
            "paper gap": PRINTED_GAP[metric].get(exam.split, strong - weak),
            "recomputed": f"{again[0]} / {again[1]}" if again else None,
        }

    def gap_note(self) -> str:
        return pages.gap_note(self.study)

    def make(
        self,
        out: str | Path | None = None,
        splits: Splits = (),
        *,
        negatives: Annotated[str, "hard, easy or both."] = "hard",
        render: Render = None,
        size: Size = None,
        first: First = None,
        format: Annotated[str, "parquet; with --render also webdataset."] = "parquet",
        tell: Tell = quiet,
    ) -> Path:
        """Make scenes, concepts and all episodes; copy them to a folder as Parquet, or leave them in the store."""
        kinds = NEGATIVES if negatives == "both" else (_negatives(negatives),)
        self._room(len(splits) or len(self.study.splits), PARTS, len(kinds))
        chosen = {"splits": sorted(splits), "negatives": negatives, "held out": self._own_splits()}
        used = partial(self._used, splits, kinds) if self.asked and render else None
        found = partial(self._folders, splits, kinds)
        return self._make(out, chosen, found, render, size, first, format, tell, used=used)

    def _used(self, splits: Sequence[str], kinds: Sequence[Negatives]) -> dict[str, np.ndarray]:
        """The scenes of the test episodes."""
        chosen = [self.study.split(split).name for split in splits] or self.study.usable_splits()
        shown = [np.unique(self.study.episodes(split, "test", kind).scene) for split in chosen for kind in kinds]
        return {"": np.unique(np.concatenate(shown))}

    def split_names(self) -> Sequence[str]:
        return tuple(self.study.splits)

    notes = (
        "`support` and `query` hold numbers of scenes; `support_label` and `query_label` say where the concept holds.",
        "Both are in an order that tells nothing: the store keeps positives first, a folder is written mixed.",
    )

    def dressed(self, name: str, table: pa.Table) -> pa.Table:
        """Episodes with support and query in an order that tells nothing."""
        key = self.study.key / "mixed" / name / int(table["episode"][0].as_py() if len(table) else 0)
        return super().dressed(name, mixed(table, ("support", "query"), key))

    def own(self, splits: Sequence[str] = ()) -> dict[str, Any]:
        found, held_out = super().own(splits), self.opened_with.get("hold_out") or {}
        if self.study.setup.concepts:
            found["language"] = self.study.candidates_recipe.digest
        return found | (
            {"held_out": {name: self.study.splits[name].test.text for name in held_out}} if held_out else {}
        )

    def _own_splits(self) -> dict[str, str]:
        return {name: split.test.text for name, split in self.study.splits.items()}

    def _folders(self, splits: Sequence[str], kinds: Sequence[Negatives]) -> dict[str, Path]:
        chosen = [self.study.split(split).name for split in splits] or self.study.usable_splits()
        found = {"scenes": self.study.scenes_folder, "concepts": self.study.concepts_file.parent}
        for split in chosen:
            for kind in kinds:
                for part in PARTS:
                    found[f"episodes/{split}/{kind}/{part}"] = self.study.episodes_folder(split, part, kind)
        return found

    @property
    def dataset(self) -> Dataset:
        setup, world = self.study.setup, self.study.world
        first_bin = getattr(world, "first_bin", setup.edition.first_bin)
        return Dataset("curi", world.vocabulary, world.high, (("", setup.scale.scenes),), BLOCK, 240, 160, first_bin)

    def scenes_given(self) -> dict[str, Given]:
        return {"": Given(self.study.scenes_folder, self.study.scenes_recipe.digest)}

    @property
    def _world(self) -> object:
        return self.study.world

    def report(
        self,
        out: str | Path,
        *,
        worlds: Worlds = 0,
        complete: Annotated[bool, "Also make all training and validation episodes."] = False,
    ) -> Path:
        """All splits with hard and easy negatives as one page (.html), or as Markdown with figures (.md)."""
        self.complete, self.worlds = complete, worlds
        return self._report(out)

    def another(self, seed: int) -> "Curi":
        return type(self)("laptop", self.study.setup.edition, seed, store=self.store, progress=self.progress)

    def measured(self, exam: Exam, metric: str, marks: Mapping[str, Marks]) -> Gap:
        """Over meanings: the episodes of a concept, and of its synonyms, are not independent."""
        return self.study.gaps(exam.split, cast(Negatives, exam.name.split("/")[1]), "meanings")[metric]

    complete = False

    def chapters(self) -> Iterable[Chapter]:
        clock, start = Clock(), time.monotonic()
        self._room(len(self.study.splits), PARTS if self.complete else ("test",), len(NEGATIVES))
        clock.time("scenes", lambda: self.study.scenes_folder)
        clock.time("concepts", lambda: self.study.concepts_file)
        clock.time("table of what holds where", lambda: self.study.table_folder)
        if self.complete:
            clock.time("all episodes", lambda: self.make(negatives="both"))
        hard = clock.time("oracles and gaps, hard negatives", lambda: self.gap(negatives="hard"))
        easy = clock.time("oracles and gaps, easy negatives", lambda: self.gap(negatives="easy"))
        there = [trial.split for trial in hard.of()]
        shown = [split for split in ("boolean", "counting", "binding-color") if split in there] or there[:1]
        many = {split: len(self.study.episodes(split, "test", "hard").concept) for split in shown}
        examples = [self.episode_view(split, n % many[split], media=Media()) for n, split in enumerate(shown, 7)]
        yield from pages.chapters(self.study, hard, easy, examples, self.world_chapters())
        yield Chapter("Settings", (self.settings_table(pages.sizes(self.study)), clock.table(time.monotonic() - start)))

    def speeds(self) -> Iterator[Speed]:
        return speeds(self.study)

    def check(self, *, concepts: Annotated[Path | None, "A file of concepts to read."] = None) -> tuple[Table, bool]:
        """Every law on fresh scenes and concepts; or a file of concepts too."""
        table, fine = super().check()
        if concepts is None:
            return table, fine
        read = len(read_concepts(Path(concepts), CURI_LOT))
        row = (f"{concepts}: {read:,} concepts can be read", "holds")
        return replace(table, rows=(*table.rows, row)), fine

    def need_room(self, splits: Sequence[str] = ()) -> None:
        self._room(len(splits) or len(self.study.splits))

    def _room(self, splits: int, parts: Sequence[Part] = ("test",), kinds: int = 1) -> None:
        self.store.need(self.study.size_estimate(parts, splits, kinds))


def _own_concepts(concepts: str | Path | Sequence[str], lot: Lot) -> tuple[Expr, ...]:
    """From a file, or from a list of texts."""
    if isinstance(concepts, str | Path):
        return read_concepts(Path(concepts), lot)
    return tuple(dict.fromkeys(map(Speller(lot).read, concepts)))


def _between(objects: str) -> tuple[int, int]:
    low, high = Span.read(objects)
    if not 1 <= low <= high <= MOST:
        raise UserError(f"CURI's scenes have from 1 to {MOST} objects, not {objects}; write a range such as 2-3")
    return low, high


def own_split(name: str, where: str | Where, lot: Lot) -> Split:
    """A split that holds out what a predicate accepts."""
    held_out = parse_where(where, where_word(lot)) if isinstance(where, str) else where
    return hold_out(name, name, held_out.text, held_out)


def mixed(table: pa.Table, columns: Sequence[str], key: Key) -> pa.Table:
    """A table whose lists, and the lists of their labels, are in an order that tells nothing."""
    for name in columns:
        values, labels = (table[one].combine_chunks() for one in (name, f"{name}_label"))
        size = values.type.list_size
        order = np.argsort((key / name).rng().random((len(table), size)), axis=1)
        flat = pa.array((order + np.arange(len(table))[:, None] * size).reshape(-1))
        for one, column in ((name, values), (f"{name}_label", labels)):
            again = pa.FixedSizeListArray.from_arrays(column.flatten().take(flat), size)
            table = table.set_column(table.column_names.index(one), one, again)
    return table


def _negatives(name: str) -> Negatives:
    if name not in NEGATIVES:
        raise UserError(f"there are no '{name}' negatives; choose hard or easy")
    return cast(Negatives, name)
