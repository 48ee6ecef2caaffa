"""Reading .concepts files: what is written is read back, what is wrong is said with its place, nothing else happens."""

import re
from dataclasses import replace
from importlib.resources import files
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.benchmarks.concept_world import formula as f
from recombine.benchmarks.concept_world import rules, syntax
from recombine.benchmarks.concept_world.definition import Definition, Grid, Library, Place
from recombine.benchmarks.concept_world.formula import write
from recombine.benchmarks.concept_world.reader import load_library, phrase, read, read_file, read_formula
from recombine.benchmarks.concept_world.syntax import KEYWORDS, Source, named, parse
from recombine.language.expr import Expr
from recombine.store.errors import UserError

LIBRARY = load_library()
FOLDER = files("recombine.benchmarks") / "concept_world" / "library"
TEXTS = {each.name: each.read_text("utf-8") for each in FOLDER.iterdir() if each.name.endswith(".concepts")}

# --- formulas -----------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "X", "XS", "red", "2x2", "not_in", "x_loc", "depth")
variables = st.sampled_from(NAMES).map(f.var)
objects = st.recursive(
    variables,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f.vector(*items))
        | st.builds(lambda heads, rest: f.split(tuple(heads), rest), st.lists(inner, min_size=1, max_size=3), inner)
    ),
    max_leaves=5,
)
plain_numbers = (
    st.builds(f.prop, st.sampled_from(("x_loc", "y_loc")), variables)
    | st.integers(0, 1_000_000).map(f.number)
    | st.sampled_from(f.SIZES).map(f.size)
)
numbers = st.builds(f.plus, plain_numbers, st.integers(-9, 9))
colored = st.builds(f.prop, st.just("color"), variables)
colors = colored | st.sampled_from(LIBRARY.grid.colors).map(f.color)
equality = st.sampled_from(("==", "!="))
calls = st.sampled_from([(d.name, len(d.parameters)) for d in LIBRARY.definitions.values()]).flatmap(
    lambda each: st.lists(objects, min_size=each[1], max_size=each[1]).map(lambda args: f.call(each[0], *args))
)
atoms = st.one_of(
    calls,
    objects.map(f.point),
    st.builds(f.same, variables, objects),
    st.builds(
        f.extreme, st.sampled_from(("argmin", "argmax")), st.sampled_from(("x_loc", "y_loc")), variables, objects
    ),
    st.builds(f.compare, st.sampled_from(f.COMPARISONS), numbers, numbers),
    st.builds(f.compare, equality, colored, colors),
    st.builds(f.compare, equality, colors, colored),
)
formulas = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f.both(*parts)),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f.either(*parts)),
        inner.map(f.no),
        st.builds(f.every, st.sampled_from(NAMES), objects, inner),
        st.builds(f.some, st.sampled_from(NAMES), objects, inner),
    ),
    max_leaves=12,
)


@given(formulas)
def test_what_is_written_is_read_back(term: Expr) -> None:
    assert read_formula(write(term), LIBRARY) is term


@given(formulas, st.sampled_from(("\n", "\t ", "  # a remark (not in all\n", "\r\n")))
def test_line_breaks_and_remarks_do_not_matter(term: Expr, space: str) -> None:
    assert read_formula(write(term).replace(" ", space), LIBRARY) is term


@given(formulas)
def test_the_place_of_every_name_is_kept(term: Expr) -> None:
    text = write(term)
    said = parse(Source("a", text), "formula")
    names = [part.head.index[0] for part in named(term)]
    assert len(said.marks) == len(names)
    assert all(text.startswith(name, at) for name, at in zip(names, said.marks))


def test_definitions_are_read_back() -> None:
    text = "\n".join(
        f'concept {d.name}({", ".join(d.parameters)}) "{d.about}": {write(d.body)}'
        for d in LIBRARY.definitions.values()
    )
    found = read(text).definitions
    assert found.keys() == LIBRARY.definitions.keys()
    nowhere = Place("", 0, 0)
    assert all(replace(found[d.name], place=nowhere) == replace(d, place=nowhere) for d in LIBRARY.definitions.values())


@pytest.mark.parametrize(
    "text, same_as",
    [
        ("all x in X: red(x) and blue(X)", "(all x in X: red(x)) and blue(X)"),
        ("red(a) or red(b) and red(c)", "red(a) or (red(b) and red(c))"),
        ("not red(a) and red(b)", "(not red(a)) and red(b)"),
        ("(red(a) and red(b)) and red(c)", "red(a) and red(b) and red(c)"),
        ("some a in A, b in B: east(a, b)", "some a in A: some b in B: east(a, b)"),
        ("X != ()", "not X == ()"),
        ("X == a :: b :: c", "X == (a) :: (b) :: c"),
        ("x.x_loc == 007 + 0", "x.x_loc == 7"),
    ],
)
def test_two_ways_to_say_the_same(text: str, same_as: str) -> None:
    assert read_formula(text, LIBRARY) is read_formula(same_as, LIBRARY)


def test_a_vector_before_a_rest_is_several_heads_and_in_parentheses_one() -> None:
    a, b, c, x = map(f.var, "abcX")
    assert read_formula("X == (a, b) :: c", LIBRARY) is f.same(x, f.split((a, b), c))
    assert read_formula("X == ((a, b)) :: c", LIBRARY) is f.same(x, f.split((f.vector(a, b),), c))


# --- files --------------------------------------------------------------------------------------------------------


def test_an_empty_file_is_fine() -> None:
    assert read("") == read("# nothing but a remark") == Library({})


def test_definitions_may_stand_in_any_order_and_call_each_other() -> None:
    found = read("concept f(X): X == () or (X == x :: Y and g(Y)) concept g(X): X == x :: Y and f(Y)")
    assert list(found.definitions) == ["f", "g"]


def test_what_is_known_is_seen_and_kept() -> None:
    found = read('grid 8 by 4 concept pair(Z) "two": Z == (x, y) and red(x) and red(y)', "my.concepts", LIBRARY)
    assert found.definitions.keys() - LIBRARY.definitions.keys() == {"pair"}
    assert found.definitions["pair"].about == "two"
    assert found.definitions["pair"].place == Place("my.concepts", 1, 21)
    assert found.experiments == LIBRARY.experiments
    assert found.grid == Grid(8, 4, LIBRARY.grid.colors)


def test_a_file_may_choose_its_colors() -> None:
    found = read("colors purple, white concept f(x): x.color == purple")
    assert found.grid.colors == ("purple", "white")


def test_files_are_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "my.concepts"
    path.write_bytes(b"\xef\xbb\xbfconcept f(x):\r\n  red(x)\r\n")
    assert read_file(path, LIBRARY).definitions["f"].place == Place(str(path), 1, 9)


def test_bad_paths_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"there is no file .*gone\.concepts"):
        read_file(tmp_path / "gone.concepts")
    with pytest.raises(UserError, match=r"is a folder; name a \.concepts file"):
        read_file(tmp_path)
    (tmp_path / "latin.concepts").write_bytes(b"concept f(x):\n  red(x) # caf\xe9")
    with pytest.raises(UserError, match=r"latin.concepts:2:15: this is not UTF-8"):
        read_file(tmp_path / "latin.concepts")
    with pytest.raises(UserError):
        read_file("a\0b")
    with pytest.raises(UserError):
        read_file("a" * 10_000)
    monkeypatch.setattr("recombine.benchmarks.concept_world.reader.LONGEST_TEXT", 10)
    with pytest.raises(UserError, match="larger than the"):
        read_file(tmp_path / "latin.concepts")


# --- sentences about what is wrong --------------------------------------------------------------------------------

RED = "concept red(X): all x in X: x.color == red\n"
EXPERIMENT = RED + "experiment e:\n"


@pytest.mark.parametrize(
    "text, place, said",
    [
        # Syntax.
        ("concept f(x) x", "1:14", "'x' has no place here; expected ':' or a text in"),
        ("concept f(x): red(x", "1:20", "ends too early; expected ')'"),
        ("concept f(x): x.x_loc = 3", "1:23", "'=' has no place here; write '=='"),
        ("concept f(x): x.x_loc == 3 & point(x)", "1:28", "write 'and'"),
        ("concept f(x): é", "1:15", "no such sign"),
        ("concept f(x): \0", "1:15", "letter U+0000"),
        ('concept f(x) "about: x', "1:14", "a text in quotes ends on its line"),
        ("concept of(x): red(x)", "1:9", "'of' is a word of the language and cannot be a name"),
        ("concept f(): point(x)", "1:11", "expected a name"),
        ("concept f(x):\n\n  (a, b) == x", "3:5", "',' has no place here"),
        ("concept f(x): point(x)\npoint(x)", "2:1", "expected 'and', 'or', the end or the next concept"),
        ("grid 3 by", "1:10", "ends too early; expected a number"),
        # Values.
        ("concept f(x): x.x_lock == 3", "1:17", "a point has no 'x_lock'; did you mean 'x_loc'?"),
        ("concept f(x): x.size == 3", "1:17", "a point has no 'size'; it has x_loc, y_loc and color"),
        ("concept f(x): x.color == rde", "1:26", "there is no colour 'rde'; did you mean 'red'?"),
        ("colors red concept f(x): x.color == blue", "1:37", "there is no colour 'blue'; there are red"),
        ("concept f(x): x.color == 3", "1:23", "compares a number with a colour"),
        ("concept f(x): x.x_loc == x.color", "1:23", "compares a number with a colour"),
        ("concept f(x): x.x_loc == red", "1:26", "'red' is a colour and not a number"),
        ("concept f(x): x.color < x.color", "1:23", "colours have no order"),
        ("concept f(x, y): x < y", "1:20", "'<' compares numbers, and 'x' is an object; write x.x_loc"),
        ("concept f(x, y): x.x_loc == y", "1:29", "'y' is not a number; write y.x_loc"),
        ("concept f(x): x + 1 == 2", "1:15", "'x' is not a number"),
        ("concept f(x): x.color + 1 == 2", "1:15", "cannot be added to a colour"),
        ("concept f(x): x.x_loc == (x)", "1:15", "cannot equal an object"),
        ("concept f(x): x == argmax(x, color)", "1:30", "takes the property x_loc or y_loc"),
        ("concept f(x): x != argmax(x, x_loc)", "1:17", "argmax comes after '=='"),
        ("concept f(x): x == () :: x", "1:26", "'()' splits nothing off"),
        ("concept f(width): point(x)", "1:11", "'width' is the width of the grid"),
        ("concept f(x): all height in x: point(x)", "1:19", "'height' is the height of the grid"),
        ("concept f(x): x.x_loc == 1000001", "1:26", "larger than the 1,000,000 allowed"),
        # Names.
        (RED + "concept f(x): rde(x)", "2:15", "there is no concept 'rde'; did you mean 'red'?"),
        ("concept f(x): zebra(x)", "1:15", "there is no concept 'zebra'"),
        (RED + "concept f(x): red(x, x)", "2:15", "'red' is about 1 object, and here it gets 2"),
        (RED + "concept f(x): red()", "2:15", "here it gets 0"),
        (RED + "concept red(x): point(x)", "2:9", "the concept 'red' is already defined, at a.concepts:1:9"),
        ("concept f(x, x): point(x)", "1:14", "the parameter 'x' comes twice"),
        # Variables.
        (
            "concept f(Z): point(x)",
            "1:21",
            "nothing ties 'x' to a parameter of 'f'; say what it is a part of, such as Z == (x",
        ),
        ("concept f(Z): x == y", "1:15", "nothing ties 'x'"),
        ("concept f(Z): a == argmax(A, x_loc)", "1:15", "nothing ties 'a'"),
        ("concept f(Z): (Z == (x) or point(Z)) and point(x)", "1:48", "nothing ties 'x'"),
        ("concept f(Z): Z == (x) and not y == x :: Z and point(y)", "1:32", "nothing ties 'y'"),
        ("concept f(Z): not (Z == (a) and point(a)) and not (Z == (b, a) and point(b))", "1:26", "nothing ties 'a'"),
        ("concept f(X): all x in X: point(x) and x.x_loc == 1", "1:40", "put parentheses around all that it says"),
        ("concept f(X): all x in Y: point(x)", "1:24", "nothing ties 'Y'"),
        # Endings.
        ("concept f(X): f(X)", "1:9", "'f' can never end, because every alternative needs 'f' again"),
        (
            "concept f(X): X == x :: Y and g(Y)\nconcept g(X): X == x :: Y and f(Y)",
            "1:9",
            "needs 'g', which cannot end",
        ),
        ("concept f(X): point(X) and (f(X) or (f(X) and point(X)))", "1:9", "can never end"),
        ("concept f(X): some x in X: f(x)", "1:9", "can never end"),
        # The grid.
        ("grid 0 by 3", "1:6", "1 to 512 points, not 0"),
        ("grid 3 by 513", "1:11", "1 to 512 points, not 513"),
        ("grid 3 by 3 grid 3 by 3", "1:13", "'grid' is said a second time"),
        (RED + "grid 3 by 3", "2:1", "'grid' stands at the top of a file"),
        ("colors red, red", "1:13", "the colour 'red' comes twice"),
        ("colors red, blu", "1:13", "there is no colour 'blu'; did you mean 'blue'?"),
        # Experiments.
        (EXPERIMENT + "train: a 3 of red\ntest t: b 3 of red", "4:9", "the class 'b' is tested but never trained"),
        (EXPERIMENT + "train: a 3 of red\ntest t: a 0 of red", "4:11", "at least 1, not 0"),
        (
            EXPERIMENT + "train: a 3 of rde\ntest t: a 3 of red",
            "3:15",
            "there is no concept 'rde'; did you mean 'red'?",
        ),
        (EXPERIMENT + "train: a 3 of red where depth(rad) == 1 test t: a 3 of red", "3:31", "did you mean 'red'?"),
        (EXPERIMENT + "train: a 3 of red where dept(red) == 1 test t: a 3 of red", "3:25", "did you mean 'depth'?"),
        (EXPERIMENT + "train: a 3 of red", "2:12", "the experiment 'e' has no 'test NAME:'"),
        (EXPERIMENT + "test t: a 3 of red", "2:12", "the experiment 'e' has no 'train:'"),
        (EXPERIMENT + "train: a 3 of red train: a 3 of red", "3:19", "has a second 'train'"),
        (EXPERIMENT + "train: a 3 of red test t: a 3 of red test t: a 3 of red", "3:43", "the test 't' comes twice"),
        (EXPERIMENT + "train: a 3 of red test t: a 3 of red curriculum 0: a", "3:49", "at least 1, not 0"),
        (
            EXPERIMENT + "train: a 3 of red test t: a 3 of red curriculum 2: b",
            "3:52",
            "in the curriculum but never trained",
        ),
        (
            EXPERIMENT + "train: a 3 of red test t: a 3 of red experiment e:",
            "3:49",
            "the experiment 'e' is already defined",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(text, "a.concepts")
    assert str(caught.value).startswith(f"a.concepts:{place}: ")
    assert said in str(caught.value)


def test_a_name_of_the_library_is_taken() -> None:
    with pytest.raises(UserError, match=r"^x:1:9: the concept 'red' is already defined, at points.concepts:\d+:9"):
        read("concept red(X): point(X)", "x", LIBRARY)
    with pytest.raises(
        UserError, match=r"^x:1:12: the experiment 'boxworld' is already defined, at experiments.concepts"
    ):
        read("experiment boxworld: train: a 3 of red test t: a 3 of red", "x", LIBRARY)


@pytest.mark.parametrize(
    "text",
    [
        "concept f(Z): Z == (x, y) and point(x) and point(y)",
        "concept f(Z): point(x) and y == (x) and Z == y :: W and point(W)",
        "concept f(A): a == argmax((A, B), x_loc) and A == (B) and point(a)",
        "concept f(Z): (Z == (x) or Z == (x, y)) and point(x)",
        "concept f(Z): (Z == (x) and point(x)) or (Z == (x, y) and point(x) and point(y))",
        "concept f(Z): not (Z == (a, b) and point(a))",
        "concept f(Z): all z in Z: (Z == (a) and a == z)",
        "concept f(Z): all Z in Z: point(Z)",
        "concept f(X): point(X) or (X == x :: Y and f(Y))",
        "concept f(X): not f(X)",
        "concept f(X): g(X) concept g(X): h(X) or f(X) concept h(X): point(X)",
    ],
)
def test_tied_variables_and_definitions_that_end_are_fine(text: str) -> None:
    assert "f" in read(text).definitions


few = st.sampled_from("Zabc").map(f.var)
tying = st.one_of(
    st.builds(f.same, few, few | st.lists(few, max_size=2).map(lambda items: f.vector(*items))),
    st.builds(f.extreme, st.just("argmax"), st.just("x_loc"), few, few),
    few.map(f.point),
)
conjunctions = st.lists(tying, min_size=1, max_size=5).map(lambda parts: f.both(*parts))
alternatives = st.lists(conjunctions, min_size=1, max_size=3).map(lambda parts: f.either(*parts))
mixtures = st.recursive(
    tying,
    lambda inner: st.builds(
        lambda join, parts: join(*parts), st.sampled_from((f.both, f.either)), st.lists(inner, min_size=1, max_size=4)
    ),
    max_leaves=9,
)


def conjunctions_of(term: Expr) -> list[tuple[Expr, ...]]:
    """The alternatives of a formula, each a conjunction of atoms."""
    if term.head.family == "or":
        return [each for part in term.args for each in conjunctions_of(part)]
    if term.head.family == "and":
        return [sum(each, ()) for each in product(*map(conjunctions_of, term.args))]
    return [(term,)]


def all_tied(atoms: tuple[Expr, ...]) -> bool:
    """Whether Z decides every variable of a conjunction."""
    tied = {"Z"}
    for _ in atoms:
        for atom in atoms:
            left, right = (set(f.variables(arg)) for arg in (atom.args * 2)[:2])
            if atom.head.family == "same" and left <= tied:
                tied |= right
            if atom.head.family in ("same", "argmax") and right <= tied:
                tied |= left
    return all(name in tied for atom in atoms for name in f.variables(atom))


def accepted(body: Expr) -> bool:
    try:
        return bool(read(f"concept f(Z): {write(body)}").definitions)
    except UserError as error:
        assert "nothing ties" in str(error)
        return False


@given(alternatives)
def test_variables_are_tied_where_every_alternative_ties_its_own(body: Expr) -> None:
    assert accepted(body) == all(map(all_tied, conjunctions_of(body)))


@given(mixtures)
def test_what_is_accepted_is_tied_in_every_combination_of_alternatives(body: Expr) -> None:
    if accepted(body):
        assert all(map(all_tied, conjunctions_of(body)))


def test_a_class_may_be_trained_without_a_test_and_speak_of_a_relation() -> None:
    found = read("experiment e: train: a 3 of red b 2 of east test t: a 1 of red", "x", LIBRARY).experiments["e"]
    assert found.classes == ("a", "b")


# --- limits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, place, said",
    [
        (" " * 20_000_001, "1:1", "longer than the 20,000,000 allowed"),
        ("concept f(x): " + "(" * 101 + "point(x)" + ")" * 101, "1:115", "deeper than the 100 levels"),
        ("concept f(x): " + "not " * 101 + "point(x)", "1:415", "deeper than the 100 levels"),
        ("concept f(x): all " + ", ".join(["y in x"] * 101) + ": point(y)", "1:821", "deeper than the 100 levels"),
        ("concept f(x): x == " + " :: ".join(["x"] * 102), "1:522", "deeper than the 100 levels"),
        ("concept f(x): x == (" + ", ".join(["x"] * 1025) + ")", "1:3093", "a vector of 1,025 objects"),
        ("concept " + "f" * 201 + "(x): point(x)", "1:9", "200 are allowed"),
        ("concept f(x): x.x_loc == " + "1" * 5_000, "1:26", "200 are allowed"),
        ("(" * 1_000_000, "1:101", "deeper than the 100 levels"),
    ],
    ids=["text", "parentheses", "not", "all", "split", "vector", "name", "number", "soup"],
)
def test_what_is_too_large_is_refused(text: str, place: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        read(text, "a")
    assert str(caught.value).startswith(f"a:{place}: ")
    assert said in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        "concept f(x): " + "(" * 99 + "point(x)" + ")" * 99,
        "concept f(x): " + "not " * 98 + "point(x)",
        "concept f(x): all " + ", ".join(["y in x"] * 99) + ": point(y)",
        "concept f(x): x == (" + ", ".join(["y :: ()"] * 1024) + ")",
        "concept f(x): " + " and ".join(["not point(x)"] * 200),
        "concept f(x): " + "".join(f"x == (a{i}) and (point(x) or " for i in range(30)) + "point(x)" + ")" * 30,
    ],
    ids=["parentheses", "not", "all", "vector", "flat", "alternatives"],
)
def test_what_is_just_small_enough_is_read(text: str) -> None:
    definition = read(text).definitions["f"]
    assert read_formula(write(definition.body), LIBRARY) is definition.body


def test_long_bodies_and_long_chains_of_definitions_do_not_nest() -> None:
    n = 2_500
    body = " and ".join(f"x{i} == (x{i + 1})" for i in range(n))
    chain = "\n".join(f"concept c{i}(X): c{i + 1}(X)" for i in range(n))
    assert len(read(f"concept f(x0): {body}").definitions["f"].body.args) == n
    assert len(read(f"{chain} concept c{n}(X): point(X)").definitions) == n + 1
    with pytest.raises(UserError, match=r"^a:1:9: 'c0' can never end"):
        read(f"{chain} concept c{n}(X): c0(X)", "a")


def test_words_and_roundabout_patterns_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "concept f(a): c == (d) and b == (c) and a == (b)"
    assert read(text).definitions
    monkeypatch.setattr(rules, "MOST_STEPS", 5)
    with pytest.raises(UserError, match=r"^a:1:9: the patterns of 'f' refer back and forth too often"):
        read(text, "a")
    monkeypatch.setattr(syntax, "MOST_WORDS", 12)
    with pytest.raises(UserError, match=r"^a:1:24: a text of more than 12 words and signs"):
        read(text, "a")


# --- any text -----------------------------------------------------------------------------------------------------

SIGNS = (
    "(",
    ")",
    ",",
    ":",
    "::",
    ".",
    "==",
    "!=",
    "<",
    "<=",
    "+",
    "-",
    "=",
    '"',
    '"a"',
    "#",
    "\n",
    "é",
    "\0",
    "\ud800",
)
WORDS = (*KEYWORDS, *SIGNS, "x", "X", "red", "east", "x_loc", "color", "width", "2x2", "0", "3", "depth", "uses")
soup = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join) | st.text(max_size=40)


def refuses_with_a_place(text: str, error: UserError) -> bool:
    """Whether the sentence names a line and column of the text."""
    found = re.match(r"^[^:]*:(\d+):(\d+): .", str(error))
    lines = text.split("\n")
    return found is not None and int(found[1]) <= len(lines) and int(found[2]) <= len(lines[int(found[1]) - 1]) + 1


@given(soup)
def test_any_words_are_read_or_refused_with_their_place(text: str) -> None:
    for attempt in (
        lambda: read(text, "a", LIBRARY),
        lambda: read(f"concept f(x, X): {text}", "a", LIBRARY),
        lambda: read_formula(text, LIBRARY),
        lambda: phrase(text, LIBRARY),
    ):
        try:
            attempt()
        except UserError as error:
            assert refuses_with_a_place(f"concept f(x, X): {text}", error)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_change_to_the_library_is_read_or_refused_with_its_place(data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(sorted(TEXTS)))
    others = {name: d for name, d in LIBRARY.definitions.items() if d.place.file != file}
    text = TEXTS[file]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(soup) + text[at + data.draw(st.integers(0, 30)) :]
    try:
        assert isinstance(read(text, "a", Library(others)), Library)
    except UserError as error:
        assert refuses_with_a_place(text, error)


# --- phrases ------------------------------------------------------------------------------------------------------


def body_of(text: str, library: Library = LIBRARY) -> tuple[str, str]:
    library, name = phrase(text, library)
    return name, write(library.definitions[name].body)


def test_a_name_is_itself() -> None:
    assert phrase("f_pent", LIBRARY) == (LIBRARY, "f_pent")
    assert phrase("(east)", LIBRARY) == (LIBRARY, "east")


def test_a_phrase_becomes_a_definition() -> None:
    name, body = body_of("f_pent west of z_pent")
    assert name == "f_pent_west_of_z_pent"
    assert body == "Z == (x, y) and west(x, y) and f_pent(y) and z_pent(x)"
    assert write(LIBRARY.definitions["f_pent_west_z_pent"].body) == body


def test_phrases_nest() -> None:
    library, name = phrase("(red_square north of f_pent) east of (i_pent south_1 of red)", LIBRARY)
    assert name == "red_square_north_of_f_pent_east_of_i_pent_south_1_of_red"
    assert write(library.definitions[name].body) == (
        "Z == (x, y) and east(x, y) and red_square_north_of_f_pent(y) and i_pent_south_1_of_red(x)"
    )
    assert len(library.definitions) == len(LIBRARY.definitions) + 3
    assert read("\n".join(map(text_of, library.definitions.values()))).definitions.keys() == library.definitions.keys()


def text_of(definition: Definition) -> str:
    return f"concept {definition.name}({', '.join(definition.parameters)}): {write(definition.body)}"


def test_the_same_phrase_is_the_same_definition_and_another_is_another() -> None:
    once, name = phrase("(red west of red) west of red", LIBRARY)
    assert phrase("(red west of red) west of red", once) == (once, name)
    twice, other = phrase("red west of (red west of red)", once)
    assert other == f"{name}_2"
    assert twice.definitions[other].body is not twice.definitions[name].body


@pytest.mark.parametrize(
    "text, place, said",
    [
        ("f_pnt west of z_pent", "1:1", "there is no concept 'f_pnt'; did you mean 'f_pent'?"),
        ("f_pent wset of z_pent", "1:8", "there is no concept 'wset'; did you mean 'west'?"),
        ("f_pent red of z_pent", "1:8", "'red' is about 1 objects, and a concept about two objects is needed"),
        ("west west of z_pent", "1:1", "'west' is about 2 objects, and a concept about one object is needed"),
        ("f_pent west z_pent", "1:13", "expected 'of'"),
        ("red west of red west of red", "1:17", "expected the end"),
        ("", "1:1", "ends too early"),
        ("(" * 200, "1:101", "deeper than the 100 levels"),
    ],
)
def test_a_bad_phrase_is_explained(text: str, place: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        phrase(text, LIBRARY)
    assert str(caught.value).startswith(f"<phrase>:{place}: ")
    assert said in str(caught.value)


# --- the library --------------------------------------------------------------------------------------------------


def test_the_library_loads_once_and_every_definition_says_what_it_is_about() -> None:
    from recombine.benchmarks.concept_world import reader

    assert load_library() is LIBRARY is reader.LIBRARY
    assert len(LIBRARY.definitions) > 80
    assert all(d.about and d.place.file in TEXTS for d in LIBRARY.definitions.values())
    assert LIBRARY.grid == Grid()


def counts(name: str) -> dict[str, dict[str, list[int]]]:
    """The numbers of images of an experiment: by part and class, line by line."""
    experiment = LIBRARY.experiments[name]
    parts = {"train": experiment.train, **experiment.tests}
    return {
        part: {label: [line.count for line in lines if line.label == label] for label in experiment.classes}
        for part, lines in parts.items()
    }


def of_types(types: list[int], pairs: list[int]) -> dict[str, list[int]]:
    return {"type_1": types, "type_2": types, "type_1_pair": pairs, "type_2_pair": pairs, "mixed_pair": pairs}


def test_the_experiments_have_the_numbers_of_the_paper() -> None:
    assert counts("sequences") == {  # Table 3
        "train": {"red": [800, 800], "blue": [800, 800], "mixed": [1600]},
        "length_3": {"red": [600], "blue": [600], "mixed": [600]},
        "length_5": {"red": [600], "blue": [600], "mixed": [600]},
        "length_7": {"red": [500], "blue": [500], "mixed": [500]},
    }
    assert counts("boxworld") == {  # Table 5
        "train": {"solution": [500, 500], "distractor": [500, 500], "2x2_square": [1000]},
        "length_3": {"solution": [500], "distractor": [500], "2x2_square": [500]},
        "length_5": {"solution": [500], "distractor": [500], "2x2_square": [500]},
    }
    assert counts("patterns") == {  # Table 7
        "train": {"blue": [700], "red": [700], "stripes": [800], "checkerboard": [800]},
        "squares_4x4": {"blue": [350], "red": [350], "stripes": [350], "checkerboard": [350]},
    }
    assert counts("substitution") == {  # Table 9
        "train": of_types([400, 400], [800]),
        "one_substitution": of_types([200, 200], [400]),
        "two_substitutions": of_types([200, 200], [400]),
    }
    assert (LIBRARY.experiments["substitution"].first_epochs, LIBRARY.experiments["substitution"].first) == (
        20,
        ("type_1", "type_2"),
    )
