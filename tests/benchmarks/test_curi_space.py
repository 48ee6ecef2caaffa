"""The space of concepts: candidates, the filter by scenes, and a user's own list."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.curi.edition import IDEAL, PAPER, RELEASE
from recombine.benchmarks.curi.language import CURI_KINDS, HOLDS, Lot, banned, collapsed
from recombine.benchmarks.curi.space import (
    MOST_COMPLAINTS,
    Space,
    candidates,
    interesting,
    log_probability,
    read_concepts,
    to_table,
)
from recombine.benchmarks.curi.spelling import Speller, infix, length, postfix
from recombine.semantics.table import Census
from recombine.store.errors import UserError
from recombine.store.key import Key

SMALL = Lot(kinds=CURI_KINDS[1:3])  # shape and material: a language that is listed in no time
LINES = ["all(color?(S), blue)", "S color? red for-all= lambda S.", "exists x in S =(color?(x), cyan)"]


def written(folder: Path, text: str, name: str = "mine.txt") -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_the_whole_language_is_banned_and_collapsed() -> None:
    language = SMALL.grammar(PAPER.nesting).enumerate()
    found = dict(candidates(SMALL, PAPER, None, Key(1)))
    assert found.keys() == {collapsed(concept) for concept in language.terms if not banned(concept)}
    assert any(concept.head is HOLDS for concept in found)


def test_a_candidate_has_the_log_probability_of_its_most_probable_string() -> None:
    best: dict = {}
    language = SMALL.grammar(PAPER.nesting).enumerate()
    for concept, log_prob in zip(language.terms, language.log_prob):
        best[collapsed(concept)] = max(best.get(collapsed(concept), -math.inf), log_prob)
    for concept, log_prob in candidates(SMALL, PAPER, None, Key(1)):
        assert log_prob == pytest.approx(best[concept])
        assert log_prob == pytest.approx(log_probability(concept, SMALL, PAPER))


def test_draws_bring_up_some_of_the_language_and_the_key_decides_which() -> None:
    whole = dict(candidates(SMALL, PAPER, None, Key(1)))
    few, again, other = (candidates(SMALL, PAPER, 500, Key(seed)) for seed in (1, 1, 2))
    assert few == again
    assert few != other
    assert 0 < len(few) < len(whole)
    assert dict(few).items() <= whole.items()


def test_probable_concepts_come_up_more_often() -> None:
    whole = dict(candidates(SMALL, PAPER, None, Key(1)))
    few = dict(candidates(SMALL, PAPER, 300, Key(1)))
    assert np.mean(list(few.values())) > np.mean(list(whole.values())) + 1


@pytest.mark.parametrize(("edition", "fine"), [(PAPER, range(10, 21)), (RELEASE, range(11, 20))])
def test_interesting_concepts_hold_on_few_scenes_but_not_too_few(edition: object, fine: range) -> None:
    count = np.arange(201)
    found = interesting(Census(count, count.astype("V16")), 200, edition)
    assert np.flatnonzero(found).tolist() == list(fine)


def test_the_priors_of_the_editions() -> None:
    concepts = tuple(Speller().read(line) for line in LINES)
    tokens, count = np.array([length(c) for c in concepts]), np.array([10, 20, 100])
    space = Space(concepts, np.array([-5.0, -6.0, -7.0]), tokens, count, np.arange(3))
    np.testing.assert_allclose(space.weight, np.exp(-0.2 * tokens))
    for hard in (False, True):
        np.testing.assert_allclose(space.log_prior(PAPER, 1_000, hard), -0.2 * tokens)
    np.testing.assert_allclose(space.log_prior(RELEASE, 1_000, False), [-5, -6, -7])
    np.testing.assert_allclose(space.log_prior(RELEASE, 1_000, True), [-5, -6, -7] - 25 * np.log(1_000 - count))
    assert space.log_prob.tolist() == [-5, -6, -7]
    mixed = replace(RELEASE, prior="length")
    np.testing.assert_allclose(space.log_prior(mixed, 1_000, True), -0.2 * tokens - 25 * np.log(1_000 - count))
    five = np.array([math.perm(int(c), 5) for c in count])
    for hard in (False, True):
        np.testing.assert_allclose(space.log_prior(IDEAL, 1_000, hard), -0.2 * tokens - np.log(five))
    few = replace(space, count=np.array([4, 5, 6]))
    assert np.isneginf(few.log_prior(IDEAL, 1_000, True)).tolist() == [True, False, False]


def test_a_text_file_has_one_concept_per_line_in_either_spelling(tmp_path: Path) -> None:
    text = "# mine\n\n" + "\n  # and more\n".join(f"  {line}  " for line in LINES) + "\n"
    assert read_concepts(written(tmp_path, text), Lot()) == tuple(map(Speller().read, LINES))


def test_a_json_list_is_read_as_well(tmp_path: Path) -> None:
    expected = tuple(map(Speller().read, LINES))
    assert read_concepts(written(tmp_path, json.dumps(LINES), "mine.json"), Lot()) == expected
    assert read_concepts(written(tmp_path, json.dumps(LINES, indent=1), "mine.txt"), Lot()) == expected


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    concepts = tuple(concept for concept, _ in candidates(SMALL, PAPER, 300, Key(1)))
    for write in (postfix, infix):
        assert read_concepts(written(tmp_path, "\n".join(map(write, concepts))), SMALL) == concepts


def test_a_concept_that_comes_twice_is_taken_once_in_its_first_place(tmp_path: Path) -> None:
    lines = ["all(color?(S), blue)", "all(color?(S), red)", "S color? blue for-all= lambda S."]
    assert [infix(c) for c in read_concepts(written(tmp_path, "\n".join(lines)), Lot())] == lines[:2]


def test_every_line_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    lines = ["# first"] + ["all(color?(S), blue)"] * 30
    lines[4], lines[11], lines[30] = "all(color?(S), blu)", "x color? red = lambda S.", "any(shape?(S), cube"
    with pytest.raises(UserError) as error:
        read_concepts(written(tmp_path, "\n".join(lines)), Lot())
    sentence = str(error.value)
    assert "mine.txt: 3 of 30 concepts cannot be read" in sentence
    assert [line.split(":")[0].strip() for line in sentence.splitlines()[1:]] == ["line 5", "line 12", "line 31"]
    assert "did you mean 'blue'?" in sentence


def test_many_bad_lines_are_counted_after_the_first_twenty(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"25 of 25 concepts .*(?s:.)*and {25 - MOST_COMPLAINTS} more"):
        read_concepts(written(tmp_path, "nonsense\n" * 25), Lot())


def test_a_bad_item_of_a_json_list_is_named_by_its_number(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"1 of 3 concepts cannot be read; mend or remove them:\n  item 2: "):
        read_concepts(written(tmp_path, json.dumps([LINES[0], "nonsense", LINES[1]]), "mine.json"), Lot())


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("mine.txt", "", "there is no concept in this file"),
        ("mine.txt", "# nothing\n\n", "there is no concept in this file"),
        ("mine.json", "[]", "there is no concept in this file"),
        ("mine.json", '["a",\n "b"', "is not complete JSON.*line 2"),
        ("mine.json", '{"a": 1}', "must hold a JSON list of strings"),
        ("mine.json", "[1, 2]", "must hold a JSON list of strings"),
    ],
)
def test_a_file_without_concepts_is_refused(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    with pytest.raises(UserError, match=f"{name}.*{sentence}"):
        read_concepts(written(tmp_path, content, name), Lot())


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "image.txt").write_bytes(b"\x89PNG\xff\xfe")
    for name in ("missing.txt", "image.txt", "."):
        with pytest.raises(UserError, match=r"(cannot be read|is not text).*; give a text or JSON file of concepts"):
            read_concepts(tmp_path / name, Lot())


def test_concepts_in_all_spellings_as_a_table() -> None:
    table = to_table([Speller().read(LINES[0])], [-3.5])
    assert table.to_pylist() == [
        {
            "concept": "S color? blue for-all= lambda S.",
            "infix": "all(color?(S), blue)",
            "english": "all objects are blue",
            "length": 6,
            "log_prob": -3.5,
        }
    ]
