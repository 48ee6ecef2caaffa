"""`recombine demo`: what Recombine is, told in a minute on one page; everything else is folded away below."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from recombine.benchmarks.clevr import formats
from recombine.benchmarks.clevr.question_page import QuestionView, question_story, question_view
from recombine.benchmarks.closure.families import FAMILIES
from recombine.benchmarks.closure.learners import taken_for
from recombine.benchmarks.closure.study import Closure, most_likely
from recombine.benchmarks.concept_world.concept_image import shots
from recombine.benchmarks.concept_world.study import ConceptWorld
from recombine.benchmarks.curi.episode_card import episode_story, sound_card
from recombine.benchmarks.curi.media import Media
from recombine.benchmarks.curi.study import Curi
from recombine.benchmarks.super_clevr.study import SuperClevr
from recombine.benchmarks.super_clevr.vehicles import MEASURED, VEHICLES, vehicle
from recombine.report.document import section_of
from recombine.report.figures import NARROW, PHONE
from recombine.report.gaps import Gaps
from recombine.report.page import Section, chart, page
from recombine.report.picture import png_image
from recombine.report.times import untimed
from recombine.store.engine import Progress, become_worker, silent
from recombine.store.outputs import free_file, write_file
from recombine.store.store import Store
from recombine.verbs import Answer

EXAMPLES = Path(formats.__file__).parent / "examples"
SUBTITLE = (
    "Can a learner put known parts together in new ways? Recombine makes worlds of objects and sentences about them, "
    "holds combinations out, and measures what is lost: an ideal learner that knows the whole language against one "
    "that knows only what it was trained on. To play with it, run `recombine explore` (or `make explore`)."
)
INTROS = {
    "episode": "Some scenes have something in common. Two ideal learners look at them; one knows every concept.",
    "question": "CLEVR never combines these parts. The weak learner knows only what CLEVR asks.",
    "vehicles": "Super-CLEVR's vehicles, modelled here.",
    "sound": "Every object is a note; this is the first scene of the episode above.",
    "gaps": "Strong minus weak is the compositionality gap: what cannot be solved without recombining known parts.",
}
STORY_SPLIT = "counting"


def run(
    what: None,
    asked: Mapping[str, Any],
    progress: Any,
    *,
    out: Annotated[Path, "The page (.html)."] = Path("demo.html"),
    workers: Annotated[int, "Processes. Default: all cores."] = 1,
) -> Answer:
    written = write_demo(out, workers=workers, progress=progress)
    note = "recombine explore opens the same worlds to play with."
    return Answer((f"wrote {written}",), {"file": str(written)}, (note,))


def write_demo(out: str | Path, *, workers: int = 1, store: Store | None = None, progress: Progress = silent) -> Path:
    """The story, and the report of a small CURI below it."""
    file = free_file(out, (".html",))
    home = (store or Store.default()).home
    with ProcessPoolExecutor(2, get_context("spawn"), become_worker) as beside:
        # On a new machine most of the time goes into compiling. So what uses the same loops is one piece of work, and
        # the picture is first: the episode is drawn by the same loops.
        question, vehicles = beside.submit(_question, home), beside.submit(_vehicles, home)
        asked, concepts = beside.submit(_question_gaps, home), beside.submit(_drawn_concepts, home)
        with Curi("demo", "release", workers=workers, store=store, progress=progress) as curi:
            told = list(_story(curi, question, vehicles, asked, concepts))
            folded = [section_of(untimed(chapter), folded=True) for chapter in curi.chapters()]
        write_file(
            file, page("Recombine: what a learner cannot put together", [*told, *folded], SUBTITLE, compact=True)
        )
    return file


def _story(
    curi: Curi,
    question: "Future[str]",
    vehicles: "Future[str]",
    asked: "Future[tuple[Gaps, Gaps]]",
    concepts: "Future[tuple[str, str, Gaps]]",
) -> Iterator[Section]:
    gaps = curi.gap()
    number = curi.telling_episode(STORY_SPLIT)
    view = curi.episode_view(STORY_SPLIT, number, media=Media(sounds=1))
    yield Section("Where the weak learner fails", episode_story(view), INTROS["episode"])
    yield Section("A question, step by step", question.result(), INTROS["question"])
    images, about, world = concepts.result()
    yield Section("Concepts that draw", images, about)
    yield Section("Vehicles", vehicles.result(), INTROS["vehicles"])
    yield Section("What a scene sounds like", sound_card(view), INTROS["sound"])
    closure, shifts = asked.result()
    charts = "".join((_plot(gaps), _plot(closure), _plot(shifts, SEEN), _plot(world)))
    yield Section("The gap of each benchmark", f'<div class="plots">{charts}</div>', INTROS["gaps"])


def _plot(gaps: Gaps, how: str = "") -> str:
    made = ", ".join(f"{name} {value}" for name, value in gaps.settings.items() if name in ("scale", "seed"))
    said = f"{gaps.title}: {gaps.metrics[0]} in percent{how} ({made}: a small run)."
    return chart(gaps.chart(width=NARROW), said, gaps.chart(width=PHONE))


def _question(home: Path) -> str:
    """A question that CLEVR never asks, about a scene in a picture."""
    return question_story(list(example_questions())[1])


def _question_gaps(home: Path) -> tuple[Gaps, Gaps]:
    """What ideal learners lose on questions of CLOSURE, and observers of vehicles when the world shifts."""
    store = Store(home)
    with Closure(store=store) as closure, SuperClevr(noise=NOISE, store=store) as vehicles:
        return closure.gap(), vehicles.gap(SHIFTS)


def _drawn_concepts(home: Path) -> tuple[str, str, Gaps]:
    """Images of ConceptWorld, what they are, and the gaps of its experiments."""
    with ConceptWorld(store=Store(home)) as world:
        return *_images(world), world.gap()


def _images(world: ConceptWorld) -> tuple[str, str]:
    """Training images of an experiment beside its hardest test."""
    view = world.show("sequences")
    train, last = view.parts[0], view.parts[-1]
    trained = {image.label: image for image in train.images}  # the longest of each class
    strip = shots([*trained.values(), *last.images][:6])
    trained_on = "first what is trained, then the same classes in the test"
    return f'<article class="episode">{strip}</article>', f"{view.title}: {trained_on} '{last.name}', longer than any."


SIZE, WIDTH, HEIGHT, SHOWN = 5.0, 360, 270, 7
MIDDLE = slice(30, 200), slice(70, 290)
NOISE, SHIFTS = 0.2, ("long-to-bal", "long-to-oppo", "co-1-to-co-2", "rd-", "rd", "rd+")
"""How often an observer of vehicles sees an attribute wrong, and some of the shifts it meets."""
SEEN = (
    "; both observers see one attribute in five wrong, and six shifts are shown: "
    "recombine gap super-clevr --noise 0.2 has all, also those where the weak one gains"
)
COLORS = ("red", "blue", "green", "yellow", "cyan", "purple", "brown")


def _vehicles(home: Path) -> str:
    """One of every few vehicles in a row."""
    from recombine.render.fine import modelled
    from recombine.render.instances import Instance, Look, gather

    names = [name for kinds in VEHICLES.values() for name in kinds]
    names = names[:: -(-len(names) // SHOWN)]
    scenes = [
        [
            Instance(
                0,
                name,
                (0.0, 0.0, MEASURED[name].ground * SIZE),
                35.0 + 40 * (i % 3),
                SIZE,
                Look(color, ("rubber", "metal")[i % 2]),
            )
        ]
        for i, (name, color) in enumerate(zip(names, COLORS))
    ]
    still = np.zeros((len(scenes), 3)), np.zeros((len(scenes), 3, 3))
    drawn = modelled(gather(scenes, [vehicle(name) for name in names], *still), WIDTH, HEIGHT)
    pictures = ((name, png_image(np.ascontiguousarray(one[MIDDLE]), name)) for name, one in zip(names, drawn))
    shots = (f'<figure class="shot">{shown}<figcaption>{name}</figcaption></figure>' for name, shown in pictures)
    return f'<article class="episode"><div class="strip">{"".join(shots)}</div></article>'


def example_questions() -> Iterator[QuestionView]:
    """Questions about a scene that comes with the package; the second is one that CLEVR never asks."""
    file, names = formats.read_scenes(EXAMPLES / "scenes.json"), {family.index: family.name for family in FAMILIES}
    for number, asked in enumerate(formats.read_questions(EXAMPLES / "questions.json")):
        assert asked.program is not None and asked.answer is not None and asked.family is not None
        new = number > 0
        yield question_view(
            asked.program,
            asked.question,
            asked.answer,
            file.scenes,
            0,
            names.get(asked.family, str(asked.family)),
            number,
            benchmark="CLOSURE" if new else "CLEVR",
            pictured=True,
            weak=most_likely(asked.program, file.scenes, 0) if new else None,
            strong=asked.answer if new else None,
            taken_for=taken_for(asked.program) if new else (),
        )
