"""One episode to look at: the concept, what was shown, what was asked, and what an ideal learner makes of it.

Plain data only; whoever makes the view has already drawn the scenes and put everything into words.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from recombine.report.page import Section, page
from recombine.report.view import View


@dataclass(frozen=True)
class SceneView:
    """A scene, whether the concept holds there, and the probability of "yes" from each oracle where it was asked."""

    svg: str
    label: bool
    scene: int
    strong: float | None = None
    weak: float | None = None
    words: tuple[str, ...] = ()
    picture: str = ""
    """What it looks like, as SVG; where there is none, the schematic stands for it."""
    sound: str = ""
    """What it sounds like, as a data address."""
    plays: str = ""
    """The same in words."""

    @property
    def drawing(self) -> str:
        return self.picture or self.svg

    @property
    def mark(self) -> str:
        return "+" if self.label else "−"


@dataclass(frozen=True)
class HypothesisView:
    """A meaning that fits all that was shown: one of its spellings, and the posterior log-probability of them all."""

    text: str
    english: str
    log_prob: float
    known_to_weak: bool
    true: bool = False
    """Whether it is what the hidden concept means."""
    spellings: int = 1

    @property
    def probability(self) -> float:
        return math.exp(self.log_prob)


@dataclass(frozen=True)
class Totals:
    """How many there are in all; a view may list fewer."""

    hypotheses: int
    known_to_weak: int
    rivals: int


@dataclass(frozen=True)
class EpisodeView(View):
    """An episode of CURI, as in the papers' Figures 6 to 11."""

    split: str
    number: int
    negatives: str
    concept_postfix: str
    concept_infix: str
    concept_english: str
    support: tuple[SceneView, ...]
    query: tuple[SceneView, ...]
    hypotheses: tuple[HypothesisView, ...]
    rivals: tuple[str, ...]
    totals: Totals

    @property
    def title(self) -> str:
        return f"{self.split}, episode {self.number}"

    def terminal(self) -> RenderableType:
        return episode_terminal(self)

    def html(self) -> str:
        from recombine.benchmarks.curi.episode_card import episode_card

        return page(f"CURI, {self.title}", [Section("The episode", episode_card(self))])

    def files(self) -> Mapping[str, Callable[[], str]]:
        """A page, or what it shows as a picture."""
        from recombine.benchmarks.curi.episode_sheet import episode_sheet

        return {".html": self.html, ".svg": lambda: episode_sheet(self)}


def wrong(scene: SceneView, probability: float) -> bool:
    """Whether a learner that says "yes" above one half errs here."""
    return (probability > 0.5) != scene.label


def listed(shown: int, total: int, what: str) -> str:
    """
    >>> listed(5, 1204, "valid hypotheses")
    '5 of 1,204 valid hypotheses'
    """
    return f"{shown:,} of {total:,} {what}" if shown < total else f"{total:,} {what}"


def hypotheses_title(view: EpisodeView) -> str:
    """How many hypotheses there are, and how many of them a learner could have met in training."""
    known = f"{view.totals.known_to_weak:,} known to the weak oracle"
    shown = sum(one.spellings for one in view.hypotheses)
    return f"{listed(shown, view.totals.hypotheses, 'valid hypotheses')}, {known}"


def badges(one: HypothesisView) -> list[tuple[str, str]]:
    """What there is to say of a hypothesis in a word or two, each with the class of its badge."""
    found = [("true", "the hidden concept")] if one.true else []
    found.append(("known", "weak knows it") if one.known_to_weak else ("novel", "new to weak"))
    return [*found, *([("twins", f"{one.spellings} spellings")] if one.spellings > 1 else [])]


def rivals_title(view: EpisodeView) -> str:
    return listed(len(view.rivals), view.totals.rivals, "hypotheses behind the hard negatives")


# --- the terminal -------------------------------------------------------------------------------------------------


def episode_terminal(view: EpisodeView) -> RenderableType:
    """The episode in words."""
    parts: list[RenderableType] = [
        _heading(view),
        _scenes("Support", view.support),
        _scenes("Query", view.query),
        _hypotheses(view),
    ]
    parts += [_rivals(view)] if view.rivals else []
    return Group(*(Padding(part, (0, 0, 1, 0)) for part in parts))


def _heading(view: EpisodeView) -> Text:
    lines = Text(f"{view.title}, {view.negatives} negatives\n", style="dim")
    lines.append(view.concept_english + "\n", style="bold not dim")
    lines.append(view.concept_infix + "\n", style="cyan not dim")
    return lines.append(view.concept_postfix)


def _scenes(title: str, scenes: tuple[SceneView, ...]) -> RichTable:
    asked = any(scene.strong is not None or scene.weak is not None for scene in scenes)
    table = _plain_table(title)
    table.add_column("", justify="center")
    table.add_column("scene", justify="right", style="dim")
    table.add_column("objects")
    for oracle in ("strong", "weak") if asked else ():
        table.add_column(oracle, justify="right")
    for scene in sorted(scenes, key=lambda scene: not scene.label):
        beliefs = (_belief(scene, scene.strong), _belief(scene, scene.weak)) if asked else ()
        table.add_row(_mark(scene), str(scene.scene), Text("; ".join(scene.words)), *beliefs)
    return table


def _hypotheses(view: EpisodeView) -> RichTable:
    table = _plain_table(hypotheses_title(view))
    for name in ("log-prob", "posterior"):
        table.add_column(name, justify="right")
    table.add_column("")
    table.add_column("hypothesis")
    for one in view.hypotheses:
        text = (
            Text(one.text, style="cyan").append(f"\n{one.english}", style="default") if one.english else Text(one.text)
        )
        said = Text("\n".join(words for _, words in badges(one)), style="green" if one.true else "")
        table.add_row(f"{one.log_prob:.3f}", f"{one.probability:.1%}", said, text)
    return table


def _rivals(view: EpisodeView) -> RichTable:
    table = _plain_table(rivals_title(view))
    table.add_column("hypothesis", style="cyan")
    for rival in view.rivals:
        table.add_row(Text(rival))
    return table


def _plain_table(title: str) -> RichTable:
    return RichTable(
        title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False, header_style="dim"
    )


def _mark(scene: SceneView) -> Text:
    return Text(scene.mark, style="bold green" if scene.label else "bold red")


def _belief(scene: SceneView, probability: float | None) -> Text:
    if probability is None:
        return Text("–", style="dim")
    return Text(f"{probability:.2f} ✗", style="red") if wrong(scene, probability) else Text(f"{probability:.2f}  ")
