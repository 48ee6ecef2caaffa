"""Reading .concepts files: definitions and experiments, checked, as a library.

>>> library = read('''
...     concept red(X) "every point is red": all x in X: x.color == red
...     concept north(a, b): a.x_loc == b.x_loc and b.y_loc < a.y_loc
... ''')
>>> library.definitions["red"].body
all[x](var[X], compare[==](property[color](var[x]), color[red]))
>>> library, name = phrase("red north of red", library)
>>> name, write(library.definitions[name].body)
('red_north_of_red', 'Z == (x, y) and north(x, y) and red(y) and red(x)')
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TypeVar

from recombine.benchmarks.concept_world import syntax
from recombine.benchmarks.concept_world.definition import Definition, Experiment, Grid, Library, Line, Place
from recombine.benchmarks.concept_world.formula import both, call, same, var, vector, write
from recombine.benchmarks.concept_world.rules import check_calls, check_ends, check_ties
from recombine.benchmarks.concept_world.syntax import LONGEST_TEXT, Number, Related, Source, Term, Word, nearest, parse
from recombine.benchmarks.concept_world.where import check_names, predicate
from recombine.language.expr import Expr
from recombine.render.grid import COLORS
from recombine.store.errors import UserError

__all__ = ["load_library", "phrase", "read", "read_file", "read_formula", "write"]

LARGEST_SIDE = 512
"""Points along one side of a grid."""


def read(text: str, file: str = "<text>", known: Library | None = None) -> Library:
    """The library of a text, which may speak of the definitions that are known; they are kept."""
    return read_together([Source(file, text)], known or Library({}))


def read_file(path: str | Path, known: Library | None = None) -> Library:
    """The library of a file."""
    return read(_text(Path(path)), str(path), known)


@cache
def load_library() -> Library:
    """The definitions and experiments that come with the package."""
    folder = files("recombine.benchmarks") / "concept_world" / "library"
    shipped = sorted((each for each in folder.iterdir() if each.name.endswith(".concepts")), key=lambda each: each.name)
    return read_together([Source(each.name, each.read_text("utf-8")) for each in shipped], Library({}))


def __getattr__(name: str) -> Library:
    """LIBRARY is `load_library()`, read when somebody asks for it."""
    if name == "LIBRARY":
        return load_library()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def read_together(sources: Iterable[Source], known: Library) -> Library:
    """The library of several texts that may speak of each other's definitions."""
    items: Items = [(source, item) for source in sources for item in parse(source, "file")]
    grid = _grid(items, known.grid)
    concepts = _concepts(items, known.definitions)
    arity = _arity(known) | {name: len(concept.parameters) for name, (_, concept) in concepts.items()}
    for source, concept in concepts.values():
        check_calls(source, concept.body, arity, grid.colors)
        check_ties(source, concept)
    check_ends(concepts, known.definitions.keys())
    new = {name: _definition(*each) for name, each in concepts.items()}
    return Library({**known.definitions, **new}, _experiments(items, known.experiments, arity.keys()), grid)


def read_formula(text: str, library: Library) -> Expr:
    """The formula that a text says, about the concepts of a library."""
    source = Source("<formula>", text)
    said: Term = parse(source, "formula")
    check_calls(source, said, _arity(library), library.grid.colors)
    return said.term


Items = list[tuple[Source, syntax.Item]]
Concepts = dict[str, tuple[Source, syntax.Concept]]


def _arity(library: Library) -> dict[str, int]:
    return {name: len(definition.parameters) for name, definition in library.definitions.items()}


# Files.


def _text(path: Path) -> str:
    content = _content(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = Place(str(path), before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        raise UserError(f"{place}: this is not UTF-8 text; save the file as UTF-8") from None


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder; name a .concepts file in it")
        if not path.is_file():
            raise UserError(f"there is no file {path}")
        if path.stat().st_size > LONGEST_TEXT:
            raise UserError(
                f"{path}:1:1: the file is larger than the {LONGEST_TEXT // 1_000_000} MB allowed; divide it"
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise UserError(f"the file {path} cannot be read: {error}") from None


# The grid.


def _grid(items: Items, known: Grid) -> Grid:
    """The grid that is known, changed by what the tops of the files say."""
    grid, said, begun = known, set[type](), set[Source]()
    for source, item in items:
        if not isinstance(item, syntax.Sides | syntax.Colors):
            begun.add(source)
            continue
        word = "grid" if isinstance(item, syntax.Sides) else "colors"
        if source in begun:
            raise source.error(item.at, f"'{word}' stands at the top of a file, before its concepts and experiments")
        if type(item) in said:
            raise source.error(item.at, f"'{word}' is said a second time; keep one of the two")
        said.add(type(item))
        grid = _sized(source, item, grid) if isinstance(item, syntax.Sides) else _colored(source, item, grid)
    return grid


def _sized(source: Source, sides: syntax.Sides, grid: Grid) -> Grid:
    for side in (sides.width, sides.height):
        if not 1 <= side.value <= LARGEST_SIDE:
            raise source.error(side.at, f"a side of the grid has 1 to {LARGEST_SIDE} points, not {side.value:,}")
    return replace(grid, width=sides.width.value, height=sides.height.value)


def _colored(source: Source, colors: syntax.Colors, grid: Grid) -> Grid:
    _refuse_twice(source, colors.names, "colour")
    for name, at in colors.names:
        if name not in COLORS:
            hint = nearest(name, COLORS, f"; choose among {', '.join(COLORS)}")
            raise source.error(at, f"there is no colour '{name}'{hint}")
    return replace(grid, colors=tuple(name for name, _ in colors.names))


def _refuse_twice(source: Source, words: Iterable[Word], what: str) -> None:
    seen = set[str]()
    for name, at in words:
        if name in seen:
            raise source.error(at, f"the {what} '{name}' comes twice; leave one out or rename it")
        seen.add(name)


# Definitions.


def _concepts(items: Items, known: Mapping[str, Definition]) -> Concepts:
    found: Concepts = {}
    for source, item in items:
        if isinstance(item, syntax.Concept):
            if item.name.text in found:
                other, twin = found[item.name.text]
                raise _taken(source, item.name, "concept", other.place(twin.name.at))
            if item.name.text in known:
                raise _taken(source, item.name, "concept", known[item.name.text].place)
            _refuse_twice(source, item.parameters, "parameter")
            found[item.name.text] = source, item
    return found


def _taken(source: Source, name: Word, what: str, place: Place) -> UserError:
    return source.error(name.at, f"the {what} '{name.text}' is already defined, at {place}; give this one another name")


def _definition(source: Source, concept: syntax.Concept) -> Definition:
    parameters = tuple(name for name, _ in concept.parameters)
    return Definition(concept.name.text, parameters, concept.body.term, concept.about, source.place(concept.name.at))


# Experiments.


def _experiments(items: Items, known: Mapping[str, Experiment], concepts: Iterable[str]) -> dict[str, Experiment]:
    found, names = dict(known), frozenset(concepts)
    for source, item in items:
        if isinstance(item, syntax.Experiment):
            if item.name.text in found:
                raise _taken(source, item.name, "experiment", found[item.name.text].place)
            found[item.name.text] = _experiment(source, item, names)
    return found


def _experiment(source: Source, said: syntax.Experiment, concepts: frozenset[str]) -> Experiment:
    train = _only(source, said, syntax.Taught, "train")
    curriculum = _only(source, said, syntax.Curriculum, "curriculum")
    tests = [part for part in said.parts if isinstance(part, syntax.Asked)]
    if train is None or not tests:
        missing = "'train:'" if train is None else "'test NAME:'"
        raise source.error(said.name.at, f"the experiment '{said.name.text}' has no {missing} with lines; add one")
    _refuse_twice(source, [Word(test.name, test.at) for test in tests], "test")
    first = curriculum.first if curriculum else []
    _refuse_untrained(source, train, [line.label for test in tests for line in test.lines], "tested")
    _refuse_untrained(source, train, first, "in the curriculum")
    return Experiment(
        said.name.text,
        said.title,
        _lines(source, train.lines, concepts),
        {test.name: _lines(source, test.lines, concepts) for test in tests},
        _positive(source, curriculum.epochs) if curriculum else 0,
        tuple(name for name, _ in first),
        source.place(said.name.at),
    )


Part = TypeVar("Part", syntax.Taught, syntax.Curriculum)


def _only(source: Source, said: syntax.Experiment, kind: type[Part], word: str) -> Part | None:
    """The one part of a kind, if there is one."""
    parts = [part for part in said.parts if isinstance(part, kind)]
    if len(parts) > 1:
        raise source.error(parts[1].at, f"the experiment '{said.name.text}' has a second '{word}'; keep one of the two")
    return parts[0] if parts else None


def _refuse_untrained(source: Source, train: syntax.Taught, labels: Iterable[Word], where: str) -> None:
    trained = dict.fromkeys(line.label.text for line in train.lines)
    for label, at in labels:
        if label not in trained:
            hint = nearest(label, trained, "; add a line for it to 'train:'")
            raise source.error(at, f"the class '{label}' is {where} but never trained{hint}")


def _lines(source: Source, lines: Iterable[syntax.Line], concepts: frozenset[str]) -> tuple[Line, ...]:
    return tuple(_line(source, line, concepts) for line in lines)


def _line(source: Source, line: syntax.Line, concepts: frozenset[str]) -> Line:
    name, at = line.concept
    if name not in concepts:
        raise source.error(at, f"there is no concept '{name}'{nearest(name, concepts)}")
    if line.where:
        check_names(source, line.where, concepts)
    where = predicate(line.where.term).text if line.where else ""
    return Line(line.label.text, _positive(source, line.images), name, where, source.place(line.label.at))


def _positive(source: Source, number: Number) -> int:
    if number.value < 1:
        raise source.error(number.at, f"a number of images or epochs is at least 1, not {number.value}")
    return number.value


# Phrases.


def phrase(text: str, library: Library) -> tuple[Library, str]:
    """The concept that a phrase names, such as `f_pent west of z_pent`, and the library with it.

    `A west of B` is about the vector of B and A: west(x, y) says that y is west of x.
    """
    source = Source("<phrase>", text)
    said: Word | Related = parse(source, "phrase")
    if isinstance(said, Word):
        _arity_of(source, said, library)
        return library, said.text
    return _related(source, said, library)


def _related(source: Source, said: Word | Related, library: Library) -> tuple[Library, str]:
    if isinstance(said, Word):
        _refuse_arity(source, said, library, 1)
        return library, said.text
    _refuse_arity(source, said.relation, library, 2)
    library, thing = _related(source, said.thing, library)
    library, other = _related(source, said.other, library)
    x, y = var("x"), var("y")
    body = both(same(var("Z"), vector(x, y)), call(said.relation.text, x, y), call(thing, y), call(other, x))
    wanted = f"{thing}_{said.relation.text}_of_{other}"
    for name in _free_names(wanted):
        definition = Definition(name, ("Z",), body, wanted.replace("_", " "), source.place(said.relation.at))
        if name not in library.definitions:
            return replace(library, definitions={**library.definitions, name: definition}), name
        if library.definitions[name].body is body:
            return library, name
    raise AssertionError("names do not run out")


def _free_names(wanted: str) -> Iterator[str]:
    yield wanted
    yield from (f"{wanted}_{n}" for n in count(2))


def _arity_of(source: Source, word: Word, library: Library) -> int:
    if word.text not in library.definitions:
        raise source.error(word.at, f"there is no concept '{word.text}'{nearest(word.text, library.definitions)}")
    return len(library.definitions[word.text].parameters)


def _refuse_arity(source: Source, word: Word, library: Library, wanted: int) -> None:
    given = _arity_of(source, word, library)
    if given != wanted:
        what = "one object" if wanted == 1 else "two objects"
        raise source.error(
            word.at, f"'{word.text}' is about {given} objects, and a concept about {what} is needed here"
        )
