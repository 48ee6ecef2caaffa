"""English: what is said is read back, and real questions are understood."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.english import ask
from recombine.benchmarks.clevr.english_words import DIRECTIONS
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Family, build
from recombine.benchmarks.clevr.language import ATTRIBUTES, CLEVR, CLEVR_VOCABULARY, SYNONYMS, signature
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.shapes import Description, Filling
from recombine.benchmarks.closure.families import ENGLISH, FAMILIES
from recombine.language.expr import Expr
from recombine.store.errors import UserError

DATA = Path(__file__).parents[2] / "../shared/data"
REAL = ("clevr/questions_with_programs_47.json", "closure/closure_val_images0-7.json")
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the real samples are not at {DATA}")
say, forms, read, readings = ENGLISH.say, ENGLISH.forms, ENGLISH.read, ENGLISH.readings
each_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.name}-{family.index}")


def real() -> list[tuple[str, Expr]]:
    """Published questions and their programs."""
    contents = [json.loads((DATA / file).read_text()) for file in REAL]
    lists = [content["questions"] if isinstance(content, dict) else content for content in contents]
    return [(each["question"], read_program(each["program"])) for questions in lists for each in questions]


def random_filling(family: Family, rng: np.random.Generator) -> Filling:
    """Any descriptions and directions; a family that limits its outermost description gets what it wants."""
    filling: Filling = {slot: str(rng.choice(list(DIRECTIONS))) for slot in family.slots}
    described = [slot for slot in family.slots if slot[0] == "D"]
    for slot in described:
        limit = family.outer if slot == described[-1] else None
        named = [name for name in ATTRIBUTES if rng.random() < 0.5] if limit is None else limit
        filling[slot] = Description(**{name: str(rng.choice(CLEVR_VOCABULARY[name].values)) for name in named})
    return filling


@each_family
def test_what_is_said_is_read_back(family: Family) -> None:
    rng = np.random.default_rng(family.index)
    for _ in range(40):
        program = build(family, random_filling(family, rng))
        assert read(say(program, rng)) is program


@each_family
def test_every_form_is_read_back(family: Family) -> None:
    program = build(family, random_filling(family, np.random.default_rng(7)))
    found = list(forms(program))
    assert len(found) >= len(family.spoken)
    assert all(read(sentence) is program for sentence in found)


def test_clevr_has_425_surface_forms() -> None:
    """The release writes 'things' and 'objects' out where a form says nothing of them; here they are synonyms."""
    written_out = [
        text
        for family in CLEVR_FAMILIES
        if family.outer is not None and "shape" not in family.outer
        for text in family.spoken
        if text.startswith(("how many", "what number"))
    ]
    assert sum(len(family.spoken) for family in CLEVR_FAMILIES) + len(written_out) == 425
    assert all(len(family.spoken) == 1 for family in FAMILIES[90:])


def test_no_pattern_has_two_shapes() -> None:
    for patterns in ENGLISH.patterns.values():
        assert len({pattern.family.shape for pattern in patterns}) == 1


def test_whatever_is_said_is_also_readable() -> None:
    for family in CLEVR_FAMILIES:
        assert set(family.spoken) <= set(family.readable)


def test_all_synonyms_are_said() -> None:
    program = read("What color is the small metal sphere to the right of the thing?")
    rng = np.random.default_rng(0)
    said = " ".join(say(program, rng) for _ in range(300))
    for words in (
        *(SYNONYMS[value] for value in ("small", "metal", "sphere")),
        CLEVR.objects.bare,
        DIRECTIONS["right"],
    ):
        assert all(re.search(rf"\b{word}\b", said) for word in words)


def test_optional_words_are_kept_half_of_the_time() -> None:
    program = read("What size is the cube left of the ball?")
    rng = np.random.default_rng(1)
    kept = sum("that is" in say(program, rng) for _ in range(2_000))
    assert 900 < kept < 1_100


def test_the_same_seed_says_the_same() -> None:
    program = read("How many cubes are there?")
    assert say(program, np.random.default_rng(5)) == say(program, np.random.default_rng(5))


def test_a_family_and_its_filling_are_said_as_their_program() -> None:
    filling = random_filling(CLEVR_FAMILIES[30], np.random.default_rng(2))
    program = build(CLEVR_FAMILIES[30], filling)
    assert ask(CLEVR_FAMILIES[30], filling, np.random.default_rng(3)) == say(program, np.random.default_rng(3))


@pytest.mark.parametrize(
    ("program", "other"),
    [
        ("count(filter[color,red](same[size](unique(filter[material,metal](scene)))))", True),
        ("count(filter[color,red](same[size](unique(filter[color,blue](scene)))))", False),
        ("exist(filter[shape,cube](same[size](unique(filter[shape,cube](scene)))))", True),
        ("exist(filter[shape,cube](same[size](unique(scene))))", False),  # as released: a thing is not a cube
        ("query[color](unique(same[size](unique(filter[material,metal](scene)))))", True),
        ("count(same[size](unique(filter[shape,cube](scene))))", True),
    ],
)
def test_other_is_said_where_descriptions_do_not_exclude_each_other(program: str, other: bool) -> None:
    for sentence in forms(signature().parse(program)):
        assert ("other" in sentence or "else" in sentence) is other


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("HOW MANY  red Cubes are there", "How many red cubes are there?"),
        ("how many grey objects are there ?", "How many gray things are there?"),
        ("What colour is the cube which is left of the ball?", "What color is the cube left of the sphere?"),
        ("How many red large cubes are there?", "How many large red cubes are there?"),
        ("There is a cube, what is it made of?", "What is the cube made of?"),
        ("The cube left of the ball has what size?", "What size is the cube left of the ball?"),
        ("Is there a cube left of the ball?", "Are there any cubes left of the ball?"),
        (
            "Is there a cube behind the thing that is the same size as the ball?",
            "Is there a cube behind the thing that is the same size as ball?",
        ),
    ],
)
def test_reading_is_tolerant(text: str, plain: str) -> None:
    assert read(text) is read(plain)


def test_relations_nest_inwards() -> None:
    program = read("What size is the cube left of the sphere that is behind the cylinder?")
    inner = "filter[shape,sphere](relate[behind](unique(filter[shape,cylinder](scene))))"
    assert repr(program) == f"query[size](unique(filter[shape,cube](relate[left](unique({inner})))))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("How many gren cubes are there?", "'How many ⟨here⟩gren cubes are there': .*did you mean 'green'"),
        ("How many cubes is there?", "'How many cubes ⟨here⟩is there': expected 'are' or 'have' here"),
        ("What size is the red?", "'What size is the ⟨here⟩red': expected a name such as 'small gray cube' here"),
        (
            "How many things are behind the cube and the ball?",
            "and the ⟨here⟩ball': expected a direction such as 'left of' here",
        ),
        ("How many red blue cubes are there?", "'How many ⟨here⟩red blue cubes are there': .* names a color twice"),
        ("How many cubes are there of the size?", "there of the ⟨here⟩size': expected 'same' here"),
        ("How many cubes", "'How many cubes⟨here⟩': expected 'are' or 'have' here"),
        ("", "'⟨here⟩': expected"),
        (
            "How many cubes are balls or balls that are the same size as the cube?",
            "⟨here⟩cubes .*expected 'things' here",
        ),
    ],
)
def test_errors_point_at_the_word(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(text)


def test_two_readings_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """No surface form of the families is ambiguous, so here one pattern gets a second meaning."""
    key, (pattern,) = next(item for item in ENGLISH.patterns.items() if item[0] == ("are", "there", "any", "<D>"))
    rival = pattern._replace(family=CLEVR_FAMILIES[84])
    monkeypatch.setitem(vars(ENGLISH), "patterns", {key: (pattern, rival)})
    assert len(readings("Are there any cubes?")) == 2
    with pytest.raises(UserError, match=r"can be read in 2 ways: exist\(.*\); count\("):
        read("Are there any cubes?")


def test_a_program_outside_the_families_cannot_be_said() -> None:
    with pytest.raises(UserError, match="No question family"):
        say(signature().parse("exist(intersect(scene, scene))"), np.random.default_rng(0))


@needs_data
def test_real_questions_are_read_into_their_programs() -> None:
    assert not [question for question, program in real() if read(question) is not program]


def plain(sentence: str) -> str:
    """The sentence with each synonym in its plainest word."""
    words = {
        word: choices[0]
        for choices in (*SYNONYMS.values(), CLEVR.objects.bare, *DIRECTIONS.values())
        for word in choices
    }
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    return re.sub(rf"\b({longest_first})(?=s?\b)", lambda match: words[match[1]], sentence.lower())


@needs_data
def test_real_questions_can_be_said() -> None:
    questions = real()
    unsaid = [question for question, program in questions if plain(question) not in set(map(plain, forms(program)))]
    assert len(questions) == 352
    assert unsaid == []
