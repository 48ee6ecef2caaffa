"""What one can do with CURI."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

from recombine.benchmarks.curi import pages
from recombine.benchmarks.curi.edition import Edition
from recombine.benchmarks.curi.edition import edition as edition_named
from recombine.benchmarks.curi.language import Lot
from recombine.benchmarks.curi.media import Media
from recombine.benchmarks.curi.space import read_concepts
from recombine.benchmarks.curi.speed import speeds
from recombine.benchmarks.curi.spelling import Speller
from recombine.benchmarks.curi.splits import where_word
from recombine.benchmarks.curi.study import PARTS, Part, Scale, Setup, Study
from recombine.benchmarks.curi.study import scale as scale_named
from recombine.language.expr import Expr
from recombine.language.query import Where, parse_where
from recombine.metrics.speed import Speed
from recombine.render.folders import Dataset
from recombine.render.rendering import Given, Tell, Wanted, announce, deliver, quiet, refuse_format, works
from recombine.report.episode import EpisodeView
from recombine.report.page import Section, episode_card, page
from recombine.report.sheet import episode_sheet
from recombine.report.table import Table
from recombine.semantics.table import BLOCK
from recombine.store.engine import Progress, engine, silent
from recombine.store.errors import UserError
from recombine.store.outputs import Clock, free_file, free_folder, positive
from recombine.store.store import Store, write_atomically
from recombine.tasks.episodes import Negatives
from recombine.tasks.splits import Split, hold_out
from recombine.world.distribution import World

NEGATIVES: tuple[Negatives, ...] = ("hard", "easy")


class Curi:
    """CURI at one scale, edition and seed.

    `scale` is demo, small, laptop or paper, or a `Scale` of your own; `edition` is paper or release, or an `Edition`;
    `concepts` a file of concepts, or a list of strings; `lot` and `world` a language and a world of your own;
    `hold_out` further splits, by name: a predicate or its text.
    """

    def __init__(
        self,
        scale: str | Scale = "demo",
        edition: str | Edition = "paper",
        seed: int = 0,
        *,
        workers: int = 1,
        concepts: str | Path | Sequence[str] | None = None,
        lot: Lot | None = None,
        world: World | None = None,
        hold_out: Mapping[str, str | Where] | None = None,
        strict: bool = False,
        whole_language: bool = False,
        episodes: int | None = None,
        store: Store | None = None,
        progress: Progress = silent,
    ) -> None:
        lot = lot or Lot()
        size = scale_named(scale) if isinstance(scale, str) else scale
        if whole_language:
            size = replace(size, draws=None)
        if episodes is not None:
            size = replace(size, test=episodes)
        positive(workers=workers, episodes=size.test, scenes=size.scenes)
        setup = Setup(
            edition=edition_named(edition) if isinstance(edition, str) else edition,
            scale=size,
            seed=seed,
            lot=lot,
            world=world,
            concepts=None if concepts is None else _own_concepts(concepts, lot),
            strict=strict,
        )
        self.engine = engine(workers, progress)
        self.study = Study(setup, store or Store.default(), self.engine)
        for name, where in (hold_out or {}).items():
            if name in self.study.splits:
                raise UserError(f"there is a split '{name}' already; choose another name for your own")
            self.study.splits[name] = own_split(name, where, lot)

    def close(self) -> None:
        """End the workers."""
        self.engine.close()

    def __enter__(self) -> "Curi":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def list(self) -> Table:
        """The splits with their sizes and leaks."""
        self._room(splits=0)
        return pages.split_table(self.study)

    def show(
        self,
        split: str,
        episode: int = 0,
        negatives: str = "hard",
        part: str = "test",
        *,
        pictures: bool = False,
        sounds: int | None = 0,
    ) -> EpisodeView:
        """One episode: what is shown, what is asked, and what the oracles make of it.

        `sounds`: of how many scenes, the positives first; None for all.
        """
        self.study.split(split)
        part = "validation" if part == "val" else part
        if part not in PARTS:
            raise UserError(f"there is no part '{part}'; choose one of {', '.join(PARTS)}")
        self._room(splits=1)
        media = Media(pictures, sounds)
        return pages.episode_view(self.study, split, episode, _negatives(negatives), part, media)

    def make(
        self,
        out: str | Path | None = None,
        splits: Sequence[str] = (),
        negatives: str = "hard",
        *,
        render: str | Wanted | None = None,
        format: str = "parquet",
        tell: Tell = quiet,
    ) -> Path:
        """Make scenes, concepts and all episodes; copy them to `out` as Parquet files, or leave them in the store.

        `render` makes images and sounds of the scenes too, as `format` says: parquet or webdataset.
        """
        free_folder(out)
        if not render:
            refuse_format(format)
        kinds = _kinds(negatives)
        self._room(len(splits) or len(self.study.splits), PARTS, len(kinds))
        todo, folder = works(self.dataset, self._scenes, render, format), None if out is None else Path(out)
        announce(todo, self.study.store, folder, self.engine, tell)
        chosen = self._splits(splits)
        found = {"scenes": self.study.scenes_folder, "concepts": self.study.concepts_file.parent}
        for split in chosen:
            for kind in kinds:
                for part in PARTS:
                    found[f"episodes/{split}/{kind}/{part}"] = self.study.episodes_folder(split, part, kind)
        return deliver(self.dataset, self.study.world, found, todo, self.study.store, self.engine, folder)

    @property
    def dataset(self) -> Dataset:
        """What it takes to draw the scenes."""
        setup, world = self.study.setup, self.study.world
        first_bin = getattr(world, "first_bin", setup.edition.first_bin)
        return Dataset("curi", world.vocabulary, world.high, (("", setup.scale.scenes),), BLOCK, 240, 160, first_bin)

    def _scenes(self) -> dict[str, Given]:
        return {"": Given(self.study.scenes_folder, self.study.scenes_recipe.digest)}

    def gap(self, splits: Sequence[str] = (), negatives: str = "hard") -> pages.GapReport:
        """The compositionality gap of each split, by mAP and by class-balanced accuracy."""
        kind = _negatives(negatives)
        self._room(len(splits) or len(self.study.splits))
        return pages.gap_report(self.study, self._splits(splits), kind)

    def report(self, out: str | Path, *, complete: bool = False, sounds: int = 0, more: Sequence[Section] = ()) -> Path:
        """All nine splits with hard and easy negatives as one page (.html) or as Markdown with figures (.md).

        `complete` also makes every training and validation episode; `sounds` are heard of each episode on the page;
        `more` comes after the episodes there.
        """
        out, start = free_file(out, (".html", ".md")), time.monotonic()
        clock = Clock()
        self._room(len(self.study.splits), PARTS if complete else ("test",), len(NEGATIVES))
        clock.time("scenes", lambda: self.study.scenes_folder)
        clock.time("concepts", lambda: self.study.concepts_file)
        clock.time("table of what holds where", lambda: self.study.table_folder)
        if complete:
            clock.time("all episodes", lambda: self.make(negatives="both"))
        hard, easy = (
            clock.time(f"oracles and gaps, {kind} negatives", partial(self.gap, negatives=kind)) for kind in NEGATIVES
        )
        if out.suffix == ".md":
            pages.markdown_report(self.study, hard, easy, out, clock.table(time.monotonic() - start))
            return out
        wanted = [split for split in ("boolean", "counting", "binding-color") if split in hard.gaps] or list(hard.gaps)[
            :1
        ]
        examples = [self.show(split, number, pictures=True, sounds=sounds) for number, split in enumerate(wanted, 7)]
        text = pages.html_report(self.study, hard, easy, examples, more)
        write_atomically(out, lambda draft: draft.write_text(text, encoding="utf-8"))
        return out

    def speeds(self) -> Iterator[Speed]:
        """What every part costs beside its plain reference."""
        return speeds(self.study)

    def _splits(self, splits: Sequence[str]) -> Sequence[str]:
        """These splits, or all whose sides are not empty."""
        return [self.study.split(split).name for split in splits] or self.study.usable_splits()

    def _room(self, splits: int, parts: Sequence[Part] = ("test",), kinds: int = 1) -> None:
        """Refuse before anything is written if the disk is too small."""
        there = self.study.store.has(self.study.scenes_recipe)
        self.study.store.need(self.study.size_estimate(parts, splits, kinds, scenes=not there))


def _own_concepts(concepts: str | Path | Sequence[str], lot: Lot) -> tuple[Expr, ...]:
    """From a file, or from a list of texts."""
    if isinstance(concepts, str | Path):
        return read_concepts(Path(concepts), lot)
    return tuple(dict.fromkeys(map(Speller(lot).read, concepts)))


def own_split(name: str, where: str | Where, lot: Lot) -> Split:
    """A split that holds out what a predicate accepts."""
    held_out = parse_where(where, where_word(lot)) if isinstance(where, str) else where
    return hold_out(name, name, held_out.text, held_out)


def write_episode(view: EpisodeView, out: Path) -> Path:
    """One episode as a self-contained page (.html), or what it shows as a picture (.svg)."""
    if out.suffix == ".html":
        text = page(f"CURI, {view.split}, episode {view.number}", [Section("The episode", episode_card(view))])
    elif out.suffix == ".svg":
        text = episode_sheet(view)
    else:
        raise UserError(f"{out}: an episode is an .html page or an .svg picture; choose one of these endings")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, lambda draft: draft.write_text(text, encoding="utf-8"))
    return out


def _negatives(name: str) -> Negatives:
    if name not in NEGATIVES:
        raise UserError(f"there are no '{name}' negatives; choose hard or easy")
    return cast(Negatives, name)


def _kinds(name: str) -> tuple[Negatives, ...]:
    return NEGATIVES if name == "both" else (_negatives(name),)
