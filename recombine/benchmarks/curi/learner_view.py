"""One episode through the eyes of a learner: what it perceives, what it believes, which concept it infers."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from recombine.benchmarks.curi.english import english
from recombine.benchmarks.curi.episode import EpisodeView, SceneView
from recombine.benchmarks.curi.episode_card import episode_card, scoped
from recombine.benchmarks.curi.exam import piece
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.pipeline import CuriPipeline, Part
from recombine.benchmarks.curi.spelling import infix
from recombine.language.expr import Expr
from recombine.render.schematic import element, words
from recombine.report.page import Section, details, page
from recombine.report.view import View
from recombine.semantics.fold import fold
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.episodes import Episodes, Negatives
from recombine.world.scenes import Scenes, join

if TYPE_CHECKING:
    from recombine.benchmarks.curi.induction import Induction, Perceived
    from recombine.benchmarks.curi.study import Curi

COUNTED = {"schema": 16_384, "image": 512, "sound": 512}
"""Scenes of the world beside the episode's that the learner counts on; the exams have it look at all."""
LISTED = 5
"""Concepts that are listed."""
FAINT = 0.1
"""How sure of an object one must be to draw it."""


@dataclass(frozen=True)
class PerceivedObject:
    """An object as it is perceived."""

    values: dict[str, str]
    beliefs: dict[str, float]
    """How likely each of these values is."""
    confidence: float
    box: tuple[float, float, float, float] | None = None
    """Left, top, width and height in pixels of the picture."""

    @property
    def text(self) -> str:
        sizes = {"0.35": "small", "0.7": "large"}
        said = (self.values[name] for name in ("size", "color", "material", "shape") if name in self.values)
        return " ".join(sizes.get(value, value) for value in said)

    @property
    def least(self) -> str:
        """What one is least sure of."""
        if not self.beliefs:
            return ""
        name = min(self.beliefs, key=lambda one: self.beliefs[one])
        return f"{name} {self.beliefs[name]:.0%}"


@dataclass(frozen=True)
class PerceivedScene:
    """A scene, what is perceived in it, and how likely the learner finds it that the concept holds there."""

    scene: int
    label: bool
    asked: bool
    yes: float | None
    objects: tuple[PerceivedObject, ...]
    picture: str = ""

    @property
    def wrong(self) -> bool:
        return self.yes is not None and (self.yes > 0.5) != self.label


@dataclass(frozen=True)
class Inferred:
    """A concept that the learner believes in."""

    text: str
    english: str
    probability: float
    right: bool
    """Whether it holds on exactly the scenes on which the hidden concept holds."""


@dataclass(frozen=True)
class LearnerView(View):
    """An episode, and what a learner makes of it."""

    episode: EpisodeView
    learner: str
    about: str
    inferred: tuple[Inferred, ...]
    scenes: tuple[PerceivedScene, ...]

    @property
    def said(self) -> str:
        asked = [one for one in self.scenes if one.asked]
        right = sum(not one.wrong for one in asked)
        named = ""
        if self.inferred:
            verdict = "which is the hidden concept" if self.inferred[0].right else "which is not the hidden concept"
            named = f" It infers: {self.inferred[0].english}, {verdict}."
        return f"{self.learner} answers {right} of {len(asked)} rightly.{named}"

    def terminal(self) -> RenderableType:
        table = RichTable(box=None, pad_edge=False, header_style="dim", title_justify="left")
        for name in ("", "scene", "what is perceived", "yes"):
            table.add_column(name)
        for one in sorted(self.scenes, key=lambda one: (one.asked, not one.label)):
            seen = "; ".join(f"{thing.text} ({thing.confidence:.0%})" for thing in one.objects) or "–"
            style = "bold green" if one.label else "bold red"
            table.add_row(Text("+" if one.label else "−", style=style), str(one.scene), seen, _bar(one))
        lines: list[RenderableType] = [Text(self.said, style="bold"), Text(self.about, style="dim")]
        for concept in self.inferred:
            said = Text(f"{concept.probability:6.1%} {'✓' if concept.right else ' '} {concept.text}")
            lines.append(said.append(f"  {concept.english}", style="dim"))
        return Group(self.episode.terminal(), *lines, Text(""), table)

    def html(self) -> str:
        kinds = (("Support", False), ("Query", True))
        shown = "".join(_grid(title, [one for one in self.scenes if one.asked is asked]) for title, asked in kinds)
        listed = "".join(_concept(one) for one in self.inferred)
        concepts = f'<h4>What it infers</h4><ol class="hypotheses">{listed}</ol>' if listed else ""
        body = f'<article class="episode"><p>{escape(self.said)} {escape(self.about)}</p>{concepts}{shown}</article>'
        sections = [
            Section(f"What {self.learner} makes of it", body),
            Section("The episode", episode_card(self.episode)),
        ]
        return page(f"CURI, {self.episode.title}", sections)


def _bar(one: PerceivedScene) -> Text:
    if one.yes is None:
        return Text("")
    full = round(10 * one.yes)
    return Text(f"{'█' * full}{'·' * (10 - full)} {one.yes:.2f}{' ✗' if one.wrong else ''}", "red" if one.wrong else "")


def _concept(one: Inferred) -> str:
    badge = '<span class="badge true">the hidden concept</span>' if one.right else ""
    meter = f'<span class="meter"><i style="width:{100 * one.probability:.1f}%"></i></span>'
    gloss = words("span", one.english, class_="gloss")
    mine = ' class="hit"' if one.right else ""
    odds = f'<div class="odds">{meter}<b>{one.probability:.1%}</b></div>'
    return f"<li{mine}>{odds}<div><code>{escape(one.text)}</code> {badge}{gloss}</div></li>"


def _grid(title: str, scenes: Sequence[PerceivedScene]) -> str:
    rows = []
    for label, kind in ((True, "positive"), (False, "negative")):
        some = [one for one in scenes if one.label is label]
        shots = "".join(_shot(one, f"seen-{title.lower()}-{i}") for i, one in enumerate(some))
        if some:
            rows.append(f'<p class="group {kind}">{len(some)} {kind}</p><div class="shots {kind}">{shots}</div>')
    return f"<h4>{title}</h4>{''.join(rows)}"


def _shot(one: PerceivedScene, scope: str) -> str:
    told = "; ".join(f"{thing.text}, {thing.confidence:.0%}, least sure of {thing.least}" for thing in one.objects)
    belief = ""
    if one.yes is not None:
        value = f'<span class="p{" wrong" if one.wrong else ""}">{one.yes:.2f}{" ✗" if one.wrong else ""}</span>'
        meter = f'<span class="meter"><i style="width:{100 * one.yes:.1f}%"></i></span>'
        belief = f'<div class="belief"><span>yes</span>{meter}{value}</div>'
    listed = "".join(_beliefs(thing) for thing in one.objects)
    listed = details(f"{len(one.objects)} objects", f'<ul class="rivals">{listed}</ul>') if listed else ""
    frame = f'<div class="frame">{scoped(one.picture, scope)}</div>'
    caption = f"<figcaption>scene {one.scene}</figcaption>"
    return f'<figure class="shot" title="{escape(told)}">{frame}{caption}{belief}{listed}</figure>'


def _beliefs(thing: PerceivedObject) -> str:
    """An object with how sure of it one is, and of each of its values, as bars."""
    rows = {"object": thing.confidence, **thing.beliefs}
    bars = "".join(
        f'<div class="belief"><span>{escape(name[:8])}</span><span class="meter"><i style="width:{100 * value:.0f}%">'
        f'</i></span><span class="p">{value:.0%}</span></div>'
        for name, value in rows.items()
    )
    return f"<li>{escape(thing.text)}{bars}</li>"


# --- making it ----------------------------------------------------------------------------------------------------


def learner_view(
    study: "Curi", run: str, split: str, number: int, negatives: Negatives, part: Part, view: EpisodeView
) -> LearnerView:
    """What a learner, by its name, or the network of a run, by its folder, makes of one episode."""
    columns = study.study.episodes(split, part, negatives)
    some = Episodes(*(column[number : number + 1] for column in columns))
    if run in study.solvers:
        return _reasoned(study, run, split, negatives, some, view)
    return _answered(study, Path(run), some, view)


def _reasoned(
    study: "Curi", name: str, split: str, negatives: Negatives, some: Episodes, view: EpisodeView
) -> LearnerView:
    from recombine.benchmarks.curi.induction import listened_to, looked_at, modality_of
    from recombine.solvers.sitting import taught

    modality, pipeline = modality_of(name), study.study
    exam = next(iter(study.exams([split], negatives=negatives)))
    solver: Induction = taught(study.solvers_named(name)[name], exam, Key(study.seed) / "show")  # type: ignore
    own = join([batch[place : place + 1] for batch, place in map(pipeline.scene, some.scene[0].tolist())])
    world = join([own, pipeline.scenes[: COUNTED[modality]]])
    size, first_bin = some.size, pipeline.setup.edition.first_bin
    kinds = solver.hypotheses(world)
    belief = solver.posterior(world, np.arange(size), some.label[0, :size])
    likely = np.flatnonzero(belief > 1e-6 * belief.max())
    yes = belief[likely] @ kinds.on(likely, np.arange(size, len(own))) / belief[likely].sum()
    top = np.argsort(-belief, kind="stable")[:LISTED]
    seen = {"image": looked_at, "sound": lambda scenes: listened_to(scenes, first_bin)}.get(modality)
    perceived = [()] * len(own) if seen is None else _objects(own, seen(own))
    truth = pipeline.space.concepts[int(some.concept[0])]
    inferred = tuple(
        Inferred(infix(term), english(term), float(belief[i]), _same(pipeline, term, truth))
        for i, term in ((i, solver.plan.terms[kinds.first[i]]) for i in top)
        if belief[i] > 1e-3
    )
    prior = "a prior learnt from the training concepts" if name.endswith("-learnt") else "the grammar's prior"
    senses = {"schema": "lists of properties", "image": "pictures", "sound": "sounds"}[modality]
    about = f"It weighs all {len(solver.plan.terms):,} concepts by {senses}, with {prior}; " + (
        f"how often each holds it counts on {len(world):,} scenes."
    )
    return LearnerView(view, name, about, inferred, _scenes(view, perceived, [None] * size + yes.tolist()))


def _same(study: CuriPipeline, one: Expr, other: Expr) -> bool:
    """Whether two concepts hold on the same scenes, as far as these are counted on."""
    meaning, memo = Exact(study.scenes[: COUNTED["schema"]], study.setup.lot), dict[Any, Any]()
    return bool((fold(one, meaning, memo) == fold(other, meaning, memo)).all())


def _objects(scenes: Scenes, seen: "Perceived") -> list[tuple[PerceivedObject, ...]]:
    """What is perceived in every scene, in words."""
    found = []
    for i in range(len(scenes)):
        things = []
        for k in np.flatnonzero(seen.sure[i] > FAINT):
            values, beliefs = dict[str, str](), dict[str, float]()
            for name, belief in seen.beliefs.items():
                best = int(belief[i, k].argmax())
                values[name] = scenes.vocabulary[name].values[best]
                beliefs[name] = round(float(belief[i, k, best]), 4)
            things.append(PerceivedObject(values, beliefs, round(float(seen.sure[i, k]), 4), _pixels(seen, i, int(k))))
        found.append(tuple(things))
    return found


def _pixels(seen: "Perceived", i: int, k: int) -> tuple[float, float, float, float] | None:
    from recombine.benchmarks.curi.induction import HEIGHT, WIDTH

    if seen.box is None:
        return None
    left, top, right, bottom = (seen.box[i, k] * WIDTH + np.array([WIDTH / 2, HEIGHT / 2] * 2)).round(1).tolist()
    return left, top, round(right - left, 1), round(bottom - top, 1)


def _scenes(
    view: EpisodeView, perceived: Sequence[tuple[PerceivedObject, ...]], yes: Sequence[float | None]
) -> tuple[PerceivedScene, ...]:
    shown = [*((one, False) for one in view.support), *((one, True) for one in view.query)]
    return tuple(
        PerceivedScene(one.scene, one.label, asked, said, objects, drawn_over(one, objects))
        for (one, asked), objects, said in zip(shown, perceived, yes)
    )


def drawn_over(scene: SceneView, objects: Sequence[PerceivedObject]) -> str:
    """The picture of a scene with what is perceived in boxes; the surer, the less transparent."""
    boxes = []
    for one in objects:
        if one.box is not None and scene.picture:
            left, top, width, height = one.box
            place: dict[str, float] = {"x": left, "y": top, "width": width, "height": height, "rx": 2}
            look = {"fill": "none", "stroke": "#ffb000", "stroke_width": "1.5"}
            style = "font:600 7px system-ui,sans-serif;fill:#fff;stroke:#000;stroke-width:1.6px;paint-order:stroke"
            boxes.append(element("rect", **place, **look, stroke_opacity=f"{one.confidence:.2f}"))
            label = f"{one.values['color']} {one.values['shape']}"
            boxes.append(words("text", label, x=max(1, left), y=max(8, top - 2), style=style))
    return scene.drawing.replace("</svg>", "".join(boxes) + "</svg>") if boxes else scene.drawing


def _answered(study: "Curi", folder: Path, some: Episodes, view: EpisodeView) -> LearnerView:
    """What the network of a run says; networks name no concept."""
    from recombine.benchmarks.networks import job_of
    from recombine.solvers.sitting import answered
    from recombine.solvers.training.loop import load_best
    from recombine.solvers.training.records import identity_of, read_config
    from recombine.solvers.training.settings import need_torch
    from recombine.store.engine import InProcess

    if not folder.is_dir():
        raise UserError(f"there is no learner '{folder}'; choose one of {', '.join(study.solvers)}, or a run's folder")
    need_torch()
    config = read_config(folder)
    job = job_of(config, folder)
    if job.benchmark != "curi":
        raise UserError(f"{folder} is a run of {job.benchmark}, not of curi")
    pipeline = job.networks.open(job, study.store, InProcess())
    if pipeline.scenes_recipe.digest != study.study.scenes_recipe.digest:
        raise UserError(f"{folder} learnt from other scenes than these; give its scale, edition and seed")
    network = job.networks.network(job, pipeline)
    load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(config))
    solver = job.networks.solver(job, pipeline, network.eval())
    assert solver is not None
    said = answered(solver, piece(study.study, some, 0, queries_only=True), job.name)
    yes = [None] * some.size + said[:, 1].tolist()
    about = f"A network with {sum(one.numel() for one in network.parameters()):,} weights; it names no concept."
    return LearnerView(view, folder.name, about, (), _scenes(view, [()] * len(yes), yes))
