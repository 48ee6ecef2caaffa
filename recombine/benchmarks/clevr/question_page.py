"""One question to look at: the scene, the program as a graph, and what each of its steps finds, in plain language.

`trace_text` says the steps alone, one line each, and is made for many questions; `question_view` holds all there is to
show as plain data, for a page (`question_card`, `question_page`) and for the terminal (`question_terminal`). Objects
go by their numbers in the data.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2s
from html import escape
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from recombine.benchmarks.clevr.meaning import TraceStep
from recombine.benchmarks.clevr.program import in_order, is_answer
from recombine.benchmarks.clevr.trace import Related, plain_scene, steps_in_words, value_in_words
from recombine.language.expr import Expr
from recombine.render.schematic import PLACES, Drawable, canvas, draw, element, number, phrase, words
from recombine.report.figures import COLOURS, FONT
from recombine.report.page import Section, details, page
from recombine.report.picture import Picture, can_be_drawn, pictures
from recombine.report.view import View
from recombine.world.scenes import Scenes

"""The value of a step that is not reached, because `unique` met no object or several."""


@dataclass(frozen=True)
class StepView:
    """A step of a program on a scene."""

    text: str
    english: str
    objects: tuple[int, ...] | None  # None where it gives no objects
    value: str
    sort: str = "objects"
    """What its things are called; those of CLEVR are all objects."""


@dataclass(frozen=True)
class ProgramNode:
    """A box of the graph, named after the step whose value it shows; a run of filters is one box."""

    id: int
    label: str
    words: str
    inputs: tuple[int, ...]


@dataclass(frozen=True)
class QuestionView(View):
    """A question about a scene, and how its answer comes about."""

    benchmark: str
    family: str
    number: int
    question: str
    answer: str
    scene: int
    objects: tuple[Drawable, ...]
    image: tuple[float, float]  # width, height
    steps: tuple[StepView, ...]
    program: tuple[ProgramNode, ...]
    weak: tuple[tuple[str, float], ...] | None = None  # answer, probability
    strong: str | None = None
    picture: Picture | None = None
    taken_for: tuple[str, ...] = ()
    """The questions that the weak learner takes this one for."""
    names: tuple[str, ...] | None = None
    """The objects in words, where they are not those of CLEVR."""
    parts: tuple[str, ...] = ()
    """Their parts in words, numbered as steps speak of them."""

    @property
    def phrases(self) -> tuple[str, ...]:
        return tuple(map(phrase, self.objects)) if self.names is None else self.names

    @property
    def title(self) -> str:
        return f"{self.benchmark}, {self.family}, question {self.number}"

    def terminal(self) -> RenderableType:
        return question_terminal(self)

    def html(self) -> str:
        return question_page(self)


def question_view(
    program: Expr,
    question: str,
    answer: str,
    scenes: Scenes,
    scene: int,
    family: str,
    number: int,
    *,
    benchmark: str = "CLEVR",
    scene_number: int | None = None,
    image: tuple[float, float] = (320, 240),
    related: Related | None = None,
    weak: tuple[tuple[str, float], ...] | None = None,
    strong: str | None = None,
    pictured: bool = False,
    taken_for: tuple[str, ...] = (),
) -> QuestionView:
    """All there is to see in a question about scene i of a batch.

    `related`: the masks[n, k] of every direction, where they do not follow from the places; `scene_number`: what the
    scene is called, where that is not its place in the batch.
    """
    return QuestionView(
        benchmark=benchmark,
        family=family,
        number=number,
        question=question,
        answer=answer,
        scene=scene if scene_number is None else scene_number,
        objects=tuple(_drawables(scenes, scene)),
        image=image,
        steps=tuple(_step_view(*step) for step in steps_in_words(program, plain_scene(scenes, scene, related))),
        program=program_nodes(program),
        weak=weak,
        strong=strong,
        picture=_picture(scenes[scene : scene + 1], image) if pictured else None,
        taken_for=taken_for,
    )


def _picture(scenes: Scenes, image: tuple[float, float]) -> Picture | None:
    """What the scene looks like, where it can be drawn."""
    if not can_be_drawn(scenes):
        return None
    title = "; ".join(map(phrase, _drawables(scenes, 0)))
    return pictures(scenes, [title], round(image[0]), round(image[1]))[0]


# --- steps ----------------------------------------------------------------------------------------------------


def _step_view(found: TraceStep, english: str) -> StepView:
    gives_objects = not is_answer(found.kind) and found.value is not None
    return StepView(found.symbol, english, found.objects if gives_objects else None, value_in_words(found))


def _drawables(scenes: Scenes, scene: int) -> Iterator[dict[str, Any]]:
    """The objects with the places that are known, as a drawing takes them."""
    columns = {"position": scenes.position, **{name: scenes.extra[name] for name in PLACES if name in scenes.extra}}
    for i, one in enumerate(scenes.objects(scene)):
        places = {name: column[scene, i].tolist() for name, column in columns.items()}
        yield {**one, **{name: tuple(at) if isinstance(at, list) else at for name, at in places.items()}}


def program_nodes(program: Expr) -> tuple[ProgramNode, ...]:
    nodes: dict[int, ProgramNode] = {}
    ends: list[int] = []  # the nodes that no other node takes yet
    for i, step in enumerate(in_order(program)):
        first = len(ends) - len(step.args)
        node = ProgramNode(i, step.head.family.replace("_", " "), "".join(step.head.index[-1:]), tuple(ends[first:]))
        if node.label.endswith("filter") and nodes[node.inputs[0]].label == node.label:
            before = nodes.pop(node.inputs[0])
            node = ProgramNode(i, node.label, f"{before.words} {node.words}", before.inputs)
        nodes[i] = node
        ends[first:] = [i]
    return tuple(nodes.values())


# --- the program as a graph ---------------------------------------------------------------------------------------

_LINE, _PAD, _GAP, _DISC = 15, 9, 24, 7
_BELOW = 30  # room for the value


@dataclass(frozen=True)
class _Box:
    """A node where it is drawn: its left side and the height of its middle."""

    node: ProgramNode
    step: StepView
    lines: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float
    final: bool


def program_graph(view: QuestionView) -> str:
    """The program from left to right, with what each part found under its box."""
    boxes = _layout(view)
    width = max(box.x + box.width for box in boxes.values()) + 2
    height = max(box.y + box.height / 2 for box in boxes.values()) + _BELOW
    arrows = "".join(_arrow(boxes[i], box) for box in boxes.values() for i in box.node.inputs)
    size = f"width:100%;min-width:{number(0.72 * width)}px;max-width:{number(width)}px;height:auto"
    return canvas(
        f"Program of {view.title}",
        width,
        height,
        arrows,
        *map(_box, boxes.values()),
        description="; ".join(step.english for step in view.steps),
        class_="graph",
        style=f"display:block;{size};font-family:{FONT};font-size:12.5px",
    )


def _layout(view: QuestionView) -> dict[int, _Box]:
    """Each node right of its inputs, as high as they are on average; every branch begins in a row of its own."""
    lines = {node.id: tuple(textwrap.wrap(node.words, 15)) for node in view.program}
    tall = 2 * _PAD + _LINE * (1 + max(map(len, lines.values())))
    widths = {node.id: _box_width(node, lines[node.id], view.steps[node.id]) for node in view.program}
    column, row = dict[int, int](), dict[int, float]()
    for node in view.program:
        column[node.id] = max((column[i] + 1 for i in node.inputs), default=0)
        starts = sum(1 for i in row if column[i] == 0)
        row[node.id] = sum(row[i] for i in node.inputs) / len(node.inputs) if node.inputs else float(starts)
    wide = [max(widths[i] for i in column if column[i] == c) for c in range(max(column.values()) + 1)]
    over = max(_tags_width(view.steps[i], widths[i]) - widths[i] for i in column if column[i] == 0) / 2
    left = [2 + max(0.0, over) + sum(wide[:c]) + _GAP * c for c in range(len(wide))]
    return {
        node.id: _Box(
            node,
            view.steps[node.id],
            lines[node.id],
            left[column[node.id]] + (wide[column[node.id]] - widths[node.id]) / 2,
            2 + tall / 2 + row[node.id] * (tall + _BELOW + 6),
            widths[node.id],
            tall,
            node is view.program[-1],
        )
        for node in view.program
    }


def _box_width(node: ProgramNode, lines: Sequence[str], step: StepView) -> float:
    """Wide enough for what stands in the box, and for the answer below it."""
    below = 7.6 * len(step.value) if step.objects is None else 0.0
    label = 6.2 * len(node.label) if lines else 7.6 * len(node.label) - 6  # one that stands alone is bold
    return max(below, 2 * _PAD + max(40.0, label, *(6.9 * len(line) for line in lines)))


def _tags_width(step: StepView, width: float) -> float:
    """What the numbers of the objects take below a box of this width; 0 where they find no room."""
    wanted = (2 * _half(max(step.objects)) + 3) * len(step.objects) if step.objects else 0.0
    return wanted if wanted <= width + _GAP - 6 else 0.0


def _arrow(start: _Box, end: _Box) -> str:
    x, X, y, Y = start.x + start.width, end.x - 1, start.y, end.y
    turn = max(x, X - 60)  # a long way is straight at first
    middle = (turn + X - 6) / 2
    bend = f"C{number(middle)},{number(y)} {number(middle)},{number(Y)} {number(X - 6)},{number(Y)}"
    line = f"M{number(x)},{number(y)}H{number(turn)}{bend}"
    head = f"M{number(X)},{number(Y)}l-7,-3.5v7z"
    stroke = element("path", d=line, style=f"stroke:{_ink('muted')};stroke-width:1.3;fill:none")
    return stroke + element("path", d=head, style=f"fill:{_ink('muted')}")


def _box(box: _Box) -> str:
    middle, top = box.x + box.width / 2, box.y - box.height / 2
    look = ("gap", "strong", 1.6) if box.final else ("ground", "line", 1.2)
    style = f"fill:{_ink(look[0])};stroke:{_ink(look[1])};stroke-width:{look[2]}"
    frame = element("rect", x=box.x, y=top, width=box.width, height=box.height, rx=7, style=style)
    first = box.y - _LINE * len(box.lines) / 2 + 4.3
    text = _label(box.node.label, middle, first, "muted" if box.lines else "ink", 400 if box.lines else 600)
    text += "".join(_label(line, middle, first + _LINE * i) for i, line in enumerate(box.lines, 1))
    return element("g", words("title", box.step.english), frame, text, _found(box, middle, top + box.height + 14))


def _label(text: str, x: float, y: float, ink: str = "ink", weight: int = 600) -> str:
    return words("text", text, x=x, y=y, text_anchor="middle", style=f"fill:{_ink(ink)};font-weight:{weight}")


def _found(box: _Box, x: float, y: float) -> str:
    """The numbers of the objects as tags where there is room for them, else how many; or the answer."""
    objects = box.step.objects
    if objects is None:
        return _label(box.step.value, x, y + 4.3, "strong" if box.final else "ink", 700)
    if not _tags_width(box.step, box.width):
        return _label(f"{len(objects)} {box.step.sort}" if objects else "none", x, y + 4.3, "muted", 400)
    half = _half(max(objects))
    step = 2 * half + 3
    left = x - step * (len(objects) - 1) / 2
    return "".join(_number_tag(i, left + step * place, y, half) for place, i in enumerate(objects))


def _half(most: int) -> float:
    """Half the width of a tag that holds numbers up to this one."""
    return _DISC + (3 if most > 9 else 0)


def _number_tag(i: int, x: float, y: float, half: float) -> str:
    style = f"fill:{_ink('surface')};stroke:{_ink('muted')}"
    text = f"fill:{_ink('ink')};font-size:10px;font-weight:600"
    disc = element("ellipse", cx=x, cy=y, rx=half, ry=_DISC, style=style)
    return disc + words("text", str(i), x=x, y=y + 3.5, text_anchor="middle", style=text)


def _ink(name: str) -> str:
    return f"var(--{name},{COLOURS[name][0]})"


# --- the page -----------------------------------------------------------------------------------------------------

_COLUMNS = "display:grid;gap:{};grid-template-columns:repeat({},minmax(min({}),1fr))"
_TWO = _COLUMNS.format(".6rem 1.6rem", "auto-fit", "100%,19rem") + ";align-items:start;margin:1rem 0 0"
_MANY = _COLUMNS.format("1.1rem .8rem", "auto-fill", "45%,10.5rem")  # two on a phone
_LISTED = "columns:2 11rem;column-gap:2.4rem;padding-left:1.6rem;font-size:.8rem;margin:.4rem 0 0"
_SMALL = "font-size:.85rem;color:var(--muted)"
_FINE = "font-size:.68rem;color:var(--muted)"
_DISC_CSS = (
    "flex:none;width:1.3rem;height:1.3rem;border-radius:50%;border:1px solid var(--muted);text-align:center;"
    "font:600 .75rem/1.2rem system-ui,sans-serif"
)


def question_page(view: QuestionView) -> str:
    """The question as a document of its own."""
    return page(view.title, [Section(f"About scene {view.scene}", question_card(view))])


def question_story(view: QuestionView) -> str:
    """The same in brief: the scene beside the question and its answers, then the program; steps are folded away."""
    scope = "t" + blake2s(repr(replace(view, picture=None)).encode(), digest_size=5).hexdigest()
    scene = f'<div class="frame" style="--edge:var(--line)">{_drawn(view, f"{scope}-scene", None)}</div>'
    graph = f'<div class="scroll" tabindex="0" role="region" aria-label="Program">{program_graph(view)}</div>'
    steps = "".join(_step(view, i, f"{scope}-{i}") for i in range(len(view.steps)))
    more = details("Every step as a picture", f'<div style="{_MANY}">{steps}</div>')
    program = f"<div><h4>Its program, and what every part finds</h4>{graph}</div>"
    parts = f"{scene}<div>{_asked(view)}</div><div>{_taken_for(view)}</div>{program}"
    return f'<article class="episode question"><div class="beside">{parts}</div>{more}</article>'


def question_card(view: QuestionView) -> str:
    """The scene, the question, its program and every step of it."""
    scope = "q" + blake2s(repr(replace(view, picture=None)).encode(), digest_size=5).hexdigest()
    about = f'<div><ol style="margin:0;padding:0;list-style:none">{_objects(view)}</ol>{_part_list(view)}</div>'
    scene = f'<div class="frame" style="--edge:var(--line)">{_drawn(view, f"{scope}-scene", None)}</div>'
    steps = "".join(_step(view, i, f"{scope}-{i}") for i in range(len(view.steps)))
    graph = f'<div class="scroll" tabindex="0" role="region" aria-label="Program">{program_graph(view)}</div>'
    parts = [_asked(view), _taken_for(view), f'<div style="{_TWO}">{scene}{about}</div>', "<h4>Program</h4>", graph]
    parts += ["<h4>Step by step</h4>", f'<div style="{_MANY}">{steps}</div>']
    return f'<article class="episode question">{"".join(parts)}</article>'


def _asked(view: QuestionView) -> str:
    texts = (view.benchmark, view.family, f"question {view.number}", f"scene {view.scene}")
    tags = "".join(words("span", text, class_="tag") for text in texts)
    answer = f'<p style="margin:0 0 .6rem">Answer: <b style="font-size:1.2rem">{escape(view.answer)}</b></p>'
    return f'<div class="tags">{tags}</div><h3>{escape(view.question)}</h3>{answer}{_beliefs(view)}'


def _taken_for(view: QuestionView) -> str:
    """Why the weak learner answers as it does."""
    if not view.taken_for:
        return ""
    first, *others = view.taken_for
    about = "The weak learner does not know such a program. It takes the question for the closest that CLEVR asks"
    said = f'<p style="margin:.5rem 0 0;{_SMALL}">{about}: <i>{escape(first)}</i></p>'
    if not others:
        return said
    listed = "".join(f"<li>{escape(text)}</li>" for text in others)
    return said + details(
        f"or for {len(others)} others, as likely", f'<ul style="margin:.1rem 0;{_SMALL}">{listed}</ul>'
    )


def _beliefs(view: QuestionView) -> str:
    """What the oracles say, where they were asked."""
    said: list[tuple[str, str, float | None]] = [("strong", view.strong, None)] if view.strong is not None else []
    said += [("weak", answer, probability) for answer, probability in view.weak or ()]
    return "".join(_belief(*row, wrong=row[1] != view.answer) for row in said)


def _belief(oracle: str, answer: str, probability: float | None, wrong: bool) -> str:
    said = f'<span class="p{" wrong" if wrong else ""}">{escape(answer)}{" ✗" if wrong else ""}</span>'
    meter = "" if probability is None else f'<span class="meter"><i style="width:{100 * probability:.1f}%"></i></span>'
    odds = "" if probability is None else f"<span>{probability:.2f}</span>"
    return f'<div class="belief {oracle}"><span>{oracle} learner</span>{said}{meter}{odds}</div>'


def _objects(view: QuestionView) -> str:
    """The objects in words, beside their numbers."""
    row = "display:flex;gap:.6rem;align-items:center;padding:.16rem 0;font-size:.9rem"
    tags = (f'<span style="{_DISC_CSS}">{i}</span>' for i in range(len(view.objects)))
    return "".join(f'<li style="{row}">{tag}{escape(one)}</li>' for tag, one in zip(tags, view.phrases))


def _part_list(view: QuestionView) -> str:
    """The parts in words, beside their numbers."""
    if not view.parts:
        return ""
    items = "".join(f"<li>{escape(part)}</li>" for part in view.parts)
    listed = f'<ol start="0" style="{_LISTED}">{items}</ol>'
    return f"<details><summary>{len(view.parts)} parts of other looks</summary>{listed}</details>"


def _drawn(view: QuestionView, scope: str, lit: tuple[int, ...] | None) -> str:
    """The scene with numbers, or with some objects lit; the pixels are where the numbers are."""
    if view.picture is not None:
        whole, _, _ = scope.rpartition("-")
        return view.picture.svg(whole, numbered=True) if lit is None else view.picture.lit(whole, scope, lit)
    return draw(view.objects, *view.image, lit=lit, numbered=lit is None, prefix=scope)


def _step(view: QuestionView, i: int, scope: str) -> str:
    """What a step found: its objects, lit among the others, or its answer in large."""
    step, final = view.steps[i], i == len(view.steps) - 1
    shown = _large(view, step.value) if step.objects is None else _drawn(view, scope, _lit(view, step))
    frame = f'<div class="frame" style="--edge:var(--{"strong" if final else "line"})">{shown}</div>'
    text = f'<b>{i + 1}.</b> {escape(step.english)}<br><code style="{_FINE}">{escape(step.text)}</code>'
    caption = f'<figcaption style="color:var(--ink);font-size:.8rem">{text}</figcaption>'
    return f'<figure class="shot">{frame}{caption}</figure>'


def _lit(view: QuestionView, step: StepView) -> tuple[int, ...]:
    """The masks of what a step found: parts come after the objects."""
    assert step.objects is not None
    return step.objects if step.sort == "objects" else tuple(len(view.objects) + part for part in step.objects)


def _large(view: QuestionView, value: str) -> str:
    ratio = f"{number(view.image[0])}/{number(view.image[1])}"
    place = "display:grid;place-items:center;text-align:center;padding:0 .4rem"
    style = f"aspect-ratio:{ratio};{place};font:600 1.5rem ui-serif,Georgia,serif"
    return f'<div style="{style};background:var(--ground)">{escape(value)}</div>'


# --- the terminal -------------------------------------------------------------------------------------------------


def question_terminal(view: QuestionView) -> RenderableType:
    """The question in words."""
    things = [("Scene", "object", view.phrases), *([("Parts", "part", view.parts)] if view.parts else [])]
    tables = (*(_thing_table(*one) for one in things), _step_table(view))
    parts: tuple[RenderableType, ...] = (_heading(view), *tables)
    return Group(*(Padding(part, (0, 0, 1, 0)) for part in parts))


def _heading(view: QuestionView) -> Text:
    lines = Text(f"{view.title}, scene {view.scene}\n", style="dim")
    lines.append(view.question + "\n", style="bold not dim")
    lines.append(f"answer: {view.answer}", style="bold green not dim")
    if view.strong is not None:
        lines.append(f"\nstrong learner: {view.strong}", style="not dim")
    if view.weak is not None:
        lines.append("\nweak learner: " + ", ".join(f"{answer} ({p:.2f})" for answer, p in view.weak), style="not dim")
    if view.taken_for:
        lines.append(f"\n  which takes it for: {' / '.join(view.taken_for)}", style="dim not bold")
    return lines


def _thing_table(title: str, kind: str, phrases: Sequence[str]) -> RichTable:
    table = _plain_table(title)
    table.add_column(kind, justify="right")
    table.add_column("")
    for i, one in enumerate(phrases):
        table.add_row(str(i), Text(one))
    return table


def _step_table(view: QuestionView) -> RichTable:
    table = _plain_table("Step by step")
    table.add_column("", justify="right", style="dim")
    table.add_column("step", style="cyan")
    table.add_column("in words")
    for i, step in enumerate(view.steps, 1):
        table.add_row(str(i), Text(step.text), Text(step.english))
    return table


def _plain_table(title: str) -> RichTable:
    return RichTable(
        title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False, header_style="dim"
    )
