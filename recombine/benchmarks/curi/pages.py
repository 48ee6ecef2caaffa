"""CURI for people: episodes to look at, the gap tables, and the report."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recombine import __version__
from recombine.benchmarks.curi.english import english
from recombine.benchmarks.curi.language import CURI_LOT
from recombine.benchmarks.curi.media import NO_MEDIA, Media
from recombine.benchmarks.curi.published import EASY_GAP_DROP, FIGURE, PRINTED_GAP, RECOMPUTED
from recombine.benchmarks.curi.spelling import infix, postfix
from recombine.benchmarks.curi.study import Part, Study
from recombine.metrics.gap import Gap
from recombine.metrics.intervals import Interval, bootstrap
from recombine.render.schematic import draw, phrases
from recombine.report.episode import EpisodeView, HypothesisView, SceneView, Totals
from recombine.report.figures import Bar, GapRow, bars, gap_chart, histogram, stand_alone
from recombine.report.page import Section, chart, episode_card, page, paragraph
from recombine.report.table import Column, Table
from recombine.store.errors import UserError
from recombine.tasks.episodes import Negatives, rivals_of
from recombine.tasks.splits import leaks
from recombine.world.scenes import Scenes

SHOWN = 5
"""Hypotheses listed per episode, as in the papers' figures."""
METRICS = {"mAP": "mAP, percent", "accuracy": "class-balanced accuracy, percent"}


# --- one episode


def objects_of(scenes: Scenes, scene: int) -> list[dict[str, object]]:
    """The objects of a scene as dictionaries, with geometry where the world has it."""
    found: list[dict[str, object]] = [dict(one) for one in scenes.objects(scene)]
    columns = {
        "position": scenes.position,
        "rotation": scenes.extra.get("rotation"),
        "pixel": scenes.extra.get("pixel"),
    }
    for name, column in columns.items():
        if column is not None and "pixel" in scenes.extra:
            for i, one in enumerate(found):
                value = column[scene, i]
                one[name] = float(value) if np.ndim(value) == 0 else tuple(map(float, value))
    return found


def episode_view(
    study: Study, split: str, number: int, negatives: Negatives, part: Part = "test", media: Media = NO_MEDIA
) -> EpisodeView:
    """Everything there is to see in one episode."""
    episodes = study.episodes(split, part, negatives)
    if not 0 <= number < len(episodes.concept):
        raise UserError(
            f"there is no episode {number} in {split} ({part}); choose one from 0 to {len(episodes.concept) - 1}"
        )
    space, beliefs = study.space, study.beliefs(split, negatives)
    concept, scene, label = episodes.concept[number], episodes.scene[number], episodes.label[number]
    size = episodes.size
    posteriors = {name: belief.posterior(scene[:size], label[:size]) for name, belief in beliefs.items()}
    accepts = study.table.senses_of(scene[size:])[:, space.sense]  # bool[query, concepts]
    says = {name: accepts @ posterior for name, posterior in posteriors.items()}
    strong, weak = posteriors["strong"], posteriors["weak"]
    likely = [i for i in np.argsort(-strong, kind="stable")[:SHOWN] if strong[i] > 0]
    positives = scene[:size][label[:size]][: study.shape(negatives).positives]
    rival = rivals_of(study.table, int(space.sense[concept]), positives)[space.sense]
    behind = _behind(study, rival, scene[:size][~label[:size]])
    view = EpisodeView(
        split=study.split(split).title,
        number=number,
        negatives=negatives,
        concept_postfix=postfix(space.concepts[concept]),
        concept_infix=infix(space.concepts[concept]),
        concept_english=english(space.concepts[concept]),
        support=tuple(_scene(study, s, y) for s, y in zip(scene[:size], label[:size])),
        query=tuple(
            _scene(study, s, y, float(a), float(b))
            for s, y, a, b in zip(scene[size:], label[size:], says["strong"], says["weak"])
        ),
        hypotheses=tuple(
            HypothesisView(
                infix(space.concepts[i]), english(space.concepts[i]), float(np.log(strong[i])), bool(weak[i] > 0)
            )
            for i in likely
        ),
        rivals=tuple(infix(space.concepts[i]) for i in behind[:SHOWN]),
        totals=Totals(int((strong > 0).sum()), int((weak > 0).sum()), len(behind)),
    )
    return media.added(study, view)


def _behind(study: Study, rival: np.ndarray, negatives: np.ndarray) -> np.ndarray:
    """The rivals that explain negatives, those that explain most of them first."""
    reach = study.table.senses_of(negatives)[:, study.space.sense].sum(axis=0) * rival
    order = np.argsort(-reach, kind="stable")
    return order[reach[order] > 0]


def _scene(study: Study, scene: int, label: bool, strong: float | None = None, weak: float | None = None) -> SceneView:
    batch, place = study.scene(int(scene))
    objects = objects_of(batch, place)
    return SceneView(draw(objects, prefix=f"s{scene}"), bool(label), int(scene), strong, weak, phrases(objects))


# --- tables


@dataclass(frozen=True)
class GapReport:
    """The gaps of several splits with one kind of negatives."""

    study: Study
    negatives: Negatives
    gaps: dict[str, dict[str, Gap]]  # split -> metric -> gap

    def comparable(self) -> bool:
        """Whether the published figures speak of the same thing."""
        setup = self.study.setup
        return self.negatives == "hard" and setup.world is None and setup.lot == CURI_LOT

    def published(self, metric: str, split: str) -> tuple[float | None, float | None]:
        return FIGURE[metric].get(split, (None, None)) if self.comparable() else (None, None)

    def table(self, metric: str) -> Table:
        """Paper beside ours."""
        columns = [
            Column("split"),
            Column("strong", "right"),
            Column("weak", "right"),
            Column("gap", "right"),
            Column("episodes", "right"),
        ]
        if self.comparable():
            columns[1:1] = [Column(name, "right") for name in ("paper strong", "paper weak", "paper gap")]
            columns += [Column("recomputed", "right")]
        rows = tuple(self._row(metric, split, found[metric]) for split, found in self.gaps.items())
        return Table(f"{METRICS[metric]}, {self.negatives} negatives", tuple(columns), rows, self.note())

    def brief(self, metric: str) -> Table:
        """The same for a terminal of 80 columns."""
        rows = []
        for split, found in self.gaps.items():
            values = (found[metric].strong, found[metric].weak, found[metric].gap)
            paper = self.published(metric, split)
            known = f"{paper[0]} / {paper[1]}" if None not in paper else None
            rows.append((self.study.split(split).title, *map(_plus_minus, values), known))
        columns = (Column("split"), *(Column(name, "right") for name in ("strong", "weak", "gap", "paper")))
        return Table(
            f"{METRICS[metric]}, {self.negatives} negatives", columns, tuple(rows), self.note(recomputed=False)
        )

    def _row(self, metric: str, split: str, found: Gap) -> tuple:
        ours: tuple = (found.strong, found.weak, found.gap, found.episodes)
        title = self.study.split(split).title
        if not self.comparable():
            return (title, *ours)
        strong, weak = self.published(metric, split)
        read = None if strong is None or weak is None else strong - weak
        paper = (strong, weak, PRINTED_GAP[metric].get(split, read))
        again = RECOMPUTED[metric].get(split)
        return (title, *paper, *ours, f"{again[0]} / {again[1]}" if again else None)

    def note(self, recomputed: bool = True) -> str:
        s = self.study.setup
        text = (
            f"Edition {s.edition.name}, scale {s.scale.name}, seed {s.seed}: {s.scale.scenes:,} scenes, "
            f"{len(self.study.space):,} concepts. Values with 95 % bootstrap intervals over episodes; one run."
        )
        if self.comparable():
            text += (
                " Paper: read off the published figure, whose numbers come from the released code (edition release)"
                + (
                    "; recomputed: published concepts on simulated scenes, 400 episodes (strong / weak)." * recomputed
                    or "."
                )
            )
        if self.comparable() and s.concepts is not None:
            text += " The paper's columns speak of the published concepts, not of your list."
        empty = [name for name in self.study.splits if name not in self.study.usable_splits()]
        if empty:
            text += f" Left out, because one side is empty: {', '.join(empty)}."
        if s.world is None and s.scale.name != "paper":
            text += " This is a reduced run: fewer scenes and episodes than in the paper."
        return text

    def rows(self, metric: str) -> list[GapRow]:
        return [
            GapRow(
                self.study.split(split).title, found[metric].strong, found[metric].weak, *self.published(metric, split)
            )
            for split, found in self.gaps.items()
        ]

    def chart(self, metric: str) -> str:
        return gap_chart(self.rows(metric), f"Compositionality gap, {self.negatives} negatives", METRICS[metric])

    def json(self) -> list[dict[str, object]]:
        """One flat record per split and metric."""
        return [_record(self, found) for by_metric in self.gaps.values() for found in by_metric.values()]


def _plus_minus(value: Interval) -> str:
    """A value with half the width of its interval."""
    return f"{value.value:.1f} ± {(value.high - value.low) / 2:.1f}"


def _record(report: GapReport, found: Gap) -> dict[str, object]:
    s = report.study.setup
    strong, weak = report.published(found.metric, found.split)
    values = {"strong": found.strong, "weak": found.weak, "gap": found.gap}
    return {
        "benchmark": "curi",
        "split": found.split,
        "metric": found.metric,
        "negatives": report.negatives,
        "edition": s.edition.name,
        "scale": s.scale.name,
        "seed": s.seed,
        "episodes": found.episodes,
        **{
            f"{k}{end}": getattr(v, a)
            for k, v in values.items()
            for end, a in (("", "value"), ("_low", "low"), ("_high", "high"))
        },
        "published_strong": strong,
        "published_weak": weak,
    }


def gap_report(study: Study, splits: Sequence[str], negatives: Negatives) -> GapReport:
    """Compute the gaps."""
    return GapReport(study, negatives, {split: study.gaps(split, negatives) for split in splits})


def split_table(study: Study) -> Table:
    """How many concepts are on which side, and how many of them leak."""
    space, rows = study.space, []
    usable = study.usable_splits()
    for split in study.splits.values():
        found = study.sides(split.name) if split.name in usable else study.count_sides(split.name)
        leaking = int(leaks(found, space.sense).sum()) if split.train is not split.test or split.shuffled else None
        counts = (int(found.train.sum()), int(found.validation.sum()), int(found.test.sum()), int(found.dropped.sum()))
        rows.append((split.name, *counts, leaking, split.about))
    columns = ("split", "train", "validation", "test", "dropped", "leaking")
    return Table(
        "Splits",
        (*(Column(name, "left" if name == "split" else "right") for name in columns), Column("held out")),
        tuple(rows),
        "Leaking: test concepts with a synonym among the training concepts; the published splits look at words, not at "
        "meanings, so they leak. `--strict` leaves these concepts out.",
    )


def concept_table(study: Study, n: int = 8) -> Table:
    """A few concepts of every length."""
    space = study.space
    order = np.argsort(-space.weight + 1e-9 * np.arange(len(space)), kind="stable")
    picked = order[np.linspace(0, len(order) - 1, n).astype(int)]
    rows = tuple(
        (
            english(space.concepts[i]),
            postfix(space.concepts[i]),
            f"{100 * space.count[i] / study.setup.scale.scenes:.2f} %",
        )
        for i in picked
    )
    columns = (Column("in English"), Column("as published"), Column("true on", "right"))
    return Table("Concepts", columns, rows, f"{n} of {len(space):,}, from the likeliest to the least likely.")


def easy_note(hard: GapReport, easy: GapReport) -> str:
    """How much smaller the gaps are with easy negatives."""
    shared = [split for split in hard.gaps if split in easy.gaps and hard.gaps[split]["mAP"].gap.value > 0.5]
    drops = [hard.gaps[s]["mAP"].gap.value - easy.gaps[s]["mAP"].gap.value for s in shared]
    if not drops:
        return ""
    error = np.std(drops, ddof=1) / np.sqrt(len(drops)) if len(drops) > 1 else 0.0
    value, theirs = EASY_GAP_DROP
    return (
        f"With easy negatives the mAP gap is {np.mean(drops):.1f} ± {error:.1f} points smaller on average over "
        f"{len(drops)} splits (the papers: {value} ± {theirs})."
    )


def entropy_bars(study: Study, splits: Sequence[str], negatives: Negatives) -> dict[str, list[Bar]]:
    """The strong oracle's uncertainty per split, about the concept and about a query scene."""
    found: dict[str, list[Bar]] = {"concept": [], "prediction": []}
    for split in splits:
        values = study.entropies(split, negatives)
        columns = np.stack([values["concept"], values["prediction"]], axis=1)
        intervals = bootstrap(columns, study.key / "entropy" / split)
        for name, interval in zip(found, intervals):
            found[name].append(Bar(study.split(split).title, interval))
    return found


# --- the report


def settings_table(study: Study) -> Table:
    s = study.setup
    rows = (
        ("edition", s.edition.name),
        ("scale", s.scale.name),
        ("seed", str(s.seed)),
        ("scenes", f"{s.scale.scenes:,}"),
        ("strings drawn from the grammar", "the whole language" if s.scale.draws is None else f"{s.scale.draws:,}"),
        ("concepts", f"{len(study.space):,}" + (" (your own list)" if s.concepts else "")),
        ("distinct meanings", f"{study.table.senses:,}"),
        ("test episodes per split", f"{s.episodes('test'):,}"),
        ("scenes for mAP", f"{len(study.probe_scenes):,}"),
        ("software", f"recombine {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"),
    )
    return Table("Settings", (Column("setting"), Column("value")), rows)


@dataclass(frozen=True)
class Figure:
    """A chart with its name and caption."""

    name: str
    caption: str
    svg: str


def figures(study: Study, hard: GapReport, easy: GapReport | None) -> list[Figure]:
    """All charts of the report."""
    found = [
        Figure(
            f"gap-{metric.lower()}-{report.negatives}",
            f"{METRICS[metric]}, {report.negatives} negatives.",
            report.chart(metric),
        )
        for report in (hard, easy)
        if report
        for metric in METRICS
    ]
    entropy = entropy_bars(study, list(hard.gaps), "hard")
    names = {"concept": "uncertainty about the concept", "prediction": "uncertainty about a query scene"}
    for name, title in names.items():
        found.append(
            Figure(
                f"entropy-{name}",
                f"The strong oracle's {title} (nats).",
                bars(entropy[name], "nats", f"Strong oracle: {title}"),
            )
        )
    lengths = np.bincount(study.space.length)
    found.append(
        Figure(
            "lengths",
            "How long the concepts are.",
            histogram(
                {str(n): int(c) for n, c in enumerate(lengths) if c}, "Concept lengths", "postfix tokens", "concepts"
            ),
        )
    )
    sizes = np.bincount(np.bincount(study.space.sense))
    found.append(
        Figure(
            "synonyms",
            "How many concepts share a meaning (log scale).",
            histogram(
                {str(n): int(c) for n, c in enumerate(sizes) if c and n},
                "Synonyms",
                "concepts per meaning",
                "meanings",
                log=True,
            ),
        )
    )
    return found


INTRO = (
    "An ideal learner sees 25 labelled scenes and must say of others whether the hidden concept holds there. The "
    "strong oracle weighs every concept of the language; the weak oracle knows only the concepts it was trained on. "
    "What the second loses against the first is the compositionality gap: how much of the task cannot be solved "
    "without recombining known parts."
)


def html_report(
    study: Study,
    hard: GapReport,
    easy: GapReport | None,
    examples: Sequence[EpisodeView],
    more: Sequence[Section] = (),
) -> str:
    """One self-contained page; `more` comes after the episodes."""
    drawn = {figure.name: chart(figure.svg, figure.caption) for figure in figures(study, hard, easy)}
    sections = [
        Section(
            "The compositionality gap",
            drawn["gap-map-hard"]
            + hard.table("mAP").html()
            + drawn["gap-accuracy-hard"]
            + hard.table("accuracy").html(),
            "Hard negatives: scenes that a rival explanation accepts.",
        )
    ]
    if easy:
        body = paragraph(easy_note(hard, easy)) + "".join(
            drawn[f"gap-{metric.lower()}-easy"] + easy.table(metric).html() for metric in METRICS
        )
        sections.append(Section("Easy negatives", body, "The same with random scenes as negatives."))
    sections += [
        Section("How uncertain is the ideal learner?", drawn["entropy-concept"] + drawn["entropy-prediction"]),
        Section(
            "Episodes", "".join(map(episode_card, examples)), "What a learner sees, and what the oracles make of it."
        ),
        *more,
        Section("The concepts", concept_table(study).html() + drawn["lengths"] + drawn["synonyms"]),
        Section("The splits", split_table(study).html()),
        Section("Settings", settings_table(study).html()),
    ]
    return page("CURI: how far from the ideal learner?", sections, INTRO)


def markdown_report(
    study: Study, hard: GapReport, easy: GapReport | None, file: Path, timings: Table | None = None
) -> None:
    """The report as Markdown, with its figures in a folder beside it."""
    folder = file.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for figure in figures(study, hard, easy):
        (folder / f"{figure.name}.svg").write_text(stand_alone(figure.svg), encoding="utf-8")
        drawn[figure.name] = f"![{figure.caption}]({folder.name}/{figure.name}.svg)\n"
    parts = ["# CURI: the ideal learners\n", INTRO + "\n", "## Hard negatives\n"]
    for metric in METRICS:
        parts += [drawn[f"gap-{metric.lower()}-hard"], hard.table(metric).markdown() + "\n"]
    if easy:
        parts += ["## Easy negatives\n", easy_note(hard, easy) + "\n"]
        for metric in METRICS:
            parts += [drawn[f"gap-{metric.lower()}-easy"], easy.table(metric).markdown() + "\n"]
    parts += ["## Uncertainty of the strong oracle\n", drawn["entropy-concept"], drawn["entropy-prediction"]]
    parts += ["## Splits\n", split_table(study).markdown() + "\n"]
    parts += ["## Concepts\n", drawn["lengths"], drawn["synonyms"]]
    parts += ["## Settings\n", settings_table(study).markdown() + "\n"]
    if timings:
        parts += [timings.markdown() + "\n"]
    file.write_text("\n".join(parts), encoding="utf-8")
