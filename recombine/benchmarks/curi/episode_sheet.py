"""An episode as one picture: the concept, its positives, and some of its negatives."""

import textwrap
from collections.abc import Sequence

from recombine.benchmarks.curi.episode import EpisodeView, SceneView
from recombine.benchmarks.curi.episode_card import scoped
from recombine.render.schematic import canvas, element, words
from recombine.report.figures import stand_alone

COLUMNS, WIDTH, HEIGHT, GAP, MARGIN = 5, 160, 106.7, 10, 16
NEGATIVE_ROWS = 2
LINE = 22
GOOD, BAD = "#0b8457", "#c0392b"


def episode_sheet(view: EpisodeView) -> str:
    """A stand-alone SVG of what a learner is shown."""
    positives = [scene for scene in view.support if scene.label]
    negatives = [scene for scene in view.support if not scene.label][: COLUMNS * NEGATIVE_ROWS]
    title = textwrap.wrap(view.concept_english, 84)
    width = 2 * MARGIN + COLUMNS * WIDTH + (COLUMNS - 1) * GAP
    head = MARGIN + LINE * len(title) + 8
    top, first = _grid(positives, head, GOOD, "yes")
    bottom, second = _grid(negatives, top + GAP, BAD, "no")
    text = "".join(
        words(
            "text", line, x=MARGIN, y=MARGIN + LINE * (i + 0.7), font_size=17, font_weight=600, style="fill:var(--ink)"
        )
        for i, line in enumerate(title)
    )
    height = bottom + MARGIN - GAP
    said = f"{view.split}, episode {view.number}: {view.concept_english}"
    drawing = canvas(
        said, width, round(height), text, first, second, class_="sheet", font_family="system-ui, sans-serif"
    )
    return stand_alone(drawing)


def _grid(scenes: Sequence[SceneView], top: float, colour: str, scope: str) -> tuple[float, str]:
    """The scenes in rows, and where the next row begins."""
    drawn = []
    for i, scene in enumerate(scenes):
        x, y = MARGIN + (i % COLUMNS) * (WIDTH + GAP), top + (i // COLUMNS) * (HEIGHT + GAP)
        inner = scoped(scene.drawing, f"{scope}{i}").replace(
            'width="240" height="160"', f'width="{WIDTH}" height="{HEIGHT}"', 1
        )
        frame = element("rect", width=WIDTH, height=HEIGHT, rx=4, fill="none", stroke=colour, stroke_width=2.5)
        mark = words("text", scene.mark, x=7, y=18, font_size=18, font_weight=700, fill=colour)
        drawn.append(element("g", inner, frame, mark, transform=f"translate({x} {y:.1f})"))
    rows = -(-len(scenes) // COLUMNS)
    return top + rows * (HEIGHT + GAP), "".join(drawn)
