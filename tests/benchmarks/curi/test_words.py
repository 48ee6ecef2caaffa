"""Concepts as words: every concept comes back from its numbers, and what is written is judged as it should be."""

from typing import Literal, cast, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Curi
from recombine.benchmarks.curi import words as of_words
from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.language import Lot
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.pipeline import CuriPipeline
from recombine.benchmarks.curi.spelling import Speller, postfix, prefix
from recombine.benchmarks.curi.words import LAMBDA, Words, judge
from recombine.language.expr import Expr
from recombine.semantics.fold import fold
from recombine.solvers.text import BEGIN, END, PAD, SPECIAL, UNKNOWN
from recombine.store.errors import UserError
from recombine.store.key import Key

Spelling = Literal["prefix", "postfix"]
SPELLINGS = cast(tuple[Spelling, ...], get_args(Spelling))
SPELLER, GRAMMAR = Speller(), Lot().grammar(PAPER.nesting)


@pytest.fixture
def study(tiny: Curi) -> CuriPipeline:
    return tiny.study


# --- numbers and back


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_concept_comes_back_from_its_numbers(study: CuriPipeline, spelling: Spelling) -> None:
    words, concepts = Words(spelling), study.space.concepts
    numbers = words.numbers(concepts)
    written = {"prefix": prefix, "postfix": postfix}[spelling]
    assert numbers.dtype == np.int64 and len(concepts) > 1_000
    for concept, row in zip(concepts, numbers):
        text = words.text(row)
        assert text == written(concept) and words.read(text) is concept


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.sampled_from(SPELLINGS))
def test_drawn_concepts_come_back_too(seed: int, spelling: Spelling) -> None:
    words, concept = Words(spelling), GRAMMAR.draw(Key(seed).rng())
    assert words.read(words.text(words.numbers([concept])[0])) is concept
    assert SPELLER.read_prefix(prefix(concept)) is concept


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_there_are_41_words_and_four_signs(spelling: Spelling) -> None:
    words = Words(spelling)
    assert len(words) == 45 and len(set(words.words)) == 41 and LAMBDA in words.words
    assert sorted(words.number.values()) == list(range(SPECIAL, 45))


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_text_has_its_words_then_one_end_then_nothing(study: CuriPipeline, spelling: Spelling) -> None:
    numbers = Words(spelling).numbers(study.space.concepts)
    for row, length in zip(numbers, study.space.length):  # which counts `lambda S.` twice
        assert (row[: length - 1] >= SPECIAL).all() and row[length - 1] == END and (row[length:] == PAD).all()
    assert numbers.shape[1] == study.space.length.max()


def test_a_text_ends_where_it_says_so() -> None:
    words = Words("postfix")
    red, x = words.number["red"], words.number["x"]
    assert words.text(np.array([red, x, END, red])) == words.text(np.array([red, x, PAD, red])) == "red x"
    assert words.text(np.array([END, red])) == words.text(np.zeros(0, np.int64)) == ""
    assert words.text(np.array([UNKNOWN, red, BEGIN])) == "? red ?"


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    "text", ["", "?", "red", "lambda S.", "x color? red = lambda S. exists= ?", "exists= lambda S. ? x"]
)
def test_a_text_that_says_nothing_is_no_concept(spelling: Spelling, text: str) -> None:
    assert Words(spelling).read(text) is None


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(0, 44), max_size=20), st.sampled_from(SPELLINGS))
def test_whatever_is_written_is_a_concept_or_none(numbers: list[int], spelling: Spelling) -> None:
    """A network may write anything."""
    words = Words(spelling)
    text = words.text(np.array(numbers, np.int64))
    concept = words.read(text)
    assert concept is None or {"prefix": prefix, "postfix": postfix}[spelling](concept) == text


# --- prefix


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("exists= lambda S. = x", "= x⟨here⟩", "the body ends before it is complete"),
        ("exists= lambda S. = color? x", "color? x⟨here⟩", "the body ends before it is complete"),
        ("exists= lambda S.", "lambda S.⟨here⟩", "the body ends before it is complete"),
        ("exists= lambda S. = color? x red blue", "red ⟨here⟩blue", "the body goes on after it is complete"),
        ("exists= = color? x red", "⟨here⟩exists=", "begins with at most a quantifier and 'lambda S.'"),
        ("exists= lambda = color? x red", "⟨here⟩exists=", "begins with at most a quantifier and 'lambda S.'"),
        ("", "⟨here⟩", "begins with at most a quantifier and 'lambda S.'"),
        ("= color? x red lambda S.", "⟨here⟩=", "begins with at most a quantifier and 'lambda S.'"),
        ("most= lambda S. = color? x red", "⟨here⟩most=", "'most=' is not a quantifier"),
        ("exists= lambda S. = colour? x red", "⟨here⟩colour?", "did you mean 'color?'?"),
        ("exists= lambda S. > color? x red", "⟨here⟩> color?", "needs an order, and a color has none"),
        ("lambda S. = color? x red", "⟨here⟩lambda", "speaks of x or S_-x needs a quantifier"),
    ],
)  # fmt: skip
def test_an_error_in_prefix_points_at_its_place(text: str, place: str, why: str) -> None:
    with pytest.raises(UserError) as error:
        SPELLER.read_prefix(text)
    assert place in str(error.value) and why in str(error.value)


# --- judging


def support_of(study: CuriPipeline, concept: Expr, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Four scenes where a concept holds and five where it does not, in any order: int[n, 9], bool[n, 9]."""
    holds, rng = np.asarray(fold(concept, Exact(study.scenes), {})), Key(3).rng()
    sides = [rng.choice(np.flatnonzero(holds == side), (n, size)) for side, size in ((True, 4), (False, 5))]
    support = rng.permuted(np.concatenate(sides, axis=1), axis=1)
    return support, holds[support]


def pair(study: CuriPipeline) -> tuple[Expr, Expr]:
    """Two concepts with one sense."""
    sense = study.space.sense
    first = int(np.flatnonzero(np.bincount(sense) > 1)[0])
    one, other = np.flatnonzero(sense == first)[:2]
    return study.space.concepts[one], study.space.concepts[other]


def test_the_concept_itself_and_its_synonym_are_right_and_an_ill_formed_text_is_not(study: CuriPipeline) -> None:
    concept, synonym = pair(study)
    found = judge([concept, synonym, None], [concept] * 3, *support_of(study, concept, 3), study.scenes)
    assert [values.tolist() for values in found] == [[True, True, False]] * 3
    assert found.shares() == {"well_formed": 2 / 3, "consistent": 2 / 3, "synonym": 2 / 3}


def test_a_wrong_concept_may_explain_the_support(study: CuriPipeline) -> None:
    concept = study.space.concepts[0]
    far = int(np.flatnonzero(study.space.sense != study.space.sense[0])[-1])
    wrong = study.space.concepts[far]
    support, label = support_of(study, wrong, 3)
    label[1, np.flatnonzero(label[1])[0]] = False  # a negative, and a positive, that it does not explain
    label[2, np.flatnonzero(~label[2])[0]] = True
    found = judge([wrong] * 3, [concept] * 3, support, label, study.scenes)
    assert [values.tolist() for values in found] == [[True] * 3, [True, False, False], [False] * 3]


@pytest.mark.parametrize("at_once", [700, 65_536])
def test_synonyms_are_concepts_of_one_sense(monkeypatch: pytest.MonkeyPatch, study: CuriPipeline, at_once: int) -> None:
    """Those that agree on the first or on the last scenes alone are not."""
    monkeypatch.setattr(of_words, "AT_ONCE", at_once)
    sense, concepts = study.space.sense, study.space.concepts
    holds = np.stack([study.table.extension(one) for one in range(sense.max() + 1)])[sense]  # bool[concepts, scenes]
    pairs = [pair for part in (holds[:, :700], holds[:, -200:], holds) for pair in alike(part)]
    left, right = np.transpose(pairs)
    support, label = support_of(study, concepts[0], len(left))
    said = judge([concepts[i] for i in left], [concepts[i] for i in right], support, label, study.scenes)
    assert np.array_equal(said.synonym, sense[left] == sense[right]) and said.well_formed.all()
    assert not said.synonym[:40].all() and said.synonym[-20:].all()


def alike(holds: np.ndarray) -> list[tuple[int, int]]:
    """Twenty pairs of concepts that hold on the same of these scenes, the last ones first."""
    first: dict[bytes, int] = {}
    found = [(first.setdefault(row.tobytes(), i), i) for i, row in enumerate(holds)]
    return [pair for pair in reversed(found) if pair[0] != pair[1]][:20]


def test_a_synonym_of_the_truth_explains_every_episode(study: CuriPipeline) -> None:
    episodes = study.episodes("instance-iid", "test", "hard")
    meant = [study.space.concepts[i] for i in episodes.concept]
    label = episodes.label[:, : episodes.size]
    found = judge(meant, meant, episodes.support, label, study.scenes)
    assert found.shares() == {"well_formed": 1, "consistent": 1, "synonym": 1}
    none = judge([None] * len(meant), meant, episodes.support, label, study.scenes)
    assert none.shares() == {"well_formed": 0, "consistent": 0, "synonym": 0}
