"""Verifiers: what is said in any usual format is read; what is not is counted, and nothing is an error."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import names, reward, verdict
from recombine.benchmarks import get
from recombine.store.errors import UserError
from recombine.tasks.verifier import Verifier

ASKED = ("no", "yes")
CLEVR = ("no", "yes", *map(str, range(11)), "small", "large", "red", "metal", "cube", "front left door")
plain = Verifier()


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        " Yes. ",
        "**YES**",
        '"yes"',
        "True",
        "Yes, because all of them are red.",
        "The rule is: all red.\n\nyes",
        "<think>no, no, no</think>\nyes",
        "Answer: yes",
        "First I thought no. My final answer is yes.",
        "<answer>yes</answer> no",
        r"So \boxed{\text{Yes}}",
        "26. yes",
        "I think that this one fits: yes",
    ],
)
def test_an_answer_is_read_in_every_usual_format(text: str) -> None:
    assert plain.read(text, ASKED, 1, 26) == ("yes",)
    assert plain.read([{"role": "assistant", "content": text}], ASKED) == ("yes",)
    assert plain.read({"role": "assistant", "content": [{"type": "text", "text": text}]}, ASKED) == ("yes",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "yes or no",
        "It is not yes.",
        "maybe",
        "yesterday",
        "I cannot tell.",
        '{"yes": 2}',
        '{"blue": 1}',
        "{",
        "[[[",
    ],
)
def test_what_is_no_answer_is_unreadable(text: str) -> None:
    assert plain.read(text, ASKED) == (None,)
    said = plain.score(text, ["yes"], ASKED)
    assert (said.score, said.unreadable) == (0.0, 1)


def test_words_that_mean_the_same_are_read() -> None:
    said = {"two": "2", "3.": "3", "metallic": "metal", "big": "large", "the front left door": "front left door"}
    for text, answer in said.items():
        assert get("clevr").verifier.read(text, CLEVR) == (answer,)
    for text in ("3.5", "there are 3 red ones", "11", "30"):
        assert get("clevr").verifier.read(text, CLEVR) == (None,)


@pytest.mark.parametrize(
    "text",
    [
        "yes\nno\nyes",
        "26. yes\n27. no\n28. yes",
        "28) yes\n26) yes\n27) no",
        "1: Yes.\n2: No.\n3: Yes.",
        "Here they are:\n\nyes\nno\nyes\n\nGood luck!",
        "Scene 26: yes (a red cube)\nScene 27: no\nScene 28: yes",
        "| 26 | yes |\n| 27 | no |\n| 28 | yes |",
        "yes, no, yes",
        "yes no yes",
        '["yes", "no", "yes"]',
        '```json\n["Yes", "No", "Yes"]\n```',
        '{"26": "yes", "27": "no", "28": "yes"}',
        "<think>no\nno\nno</think>yes\nno\nyes",
        "The answers are: yes, no, yes.",
    ],
)
def test_several_answers_are_read_in_every_usual_format(text: str) -> None:
    assert plain.read(text, ASKED, 3, 26) == ("yes", "no", "yes")


def test_answers_that_cannot_be_put_in_their_places_are_unreadable() -> None:
    assert plain.read("yes\nno", ASKED, 3, 26) == (None,) * 3
    assert plain.read("26. yes\n99. no", ASKED, 3, 26) == (None,) * 3
    assert plain.read("26. yes\n28. no", ASKED, 3, 26) == ("yes", None, "no")  # numbers tell which is missing


def test_the_balanced_score_gives_nothing_for_always_no() -> None:
    truth = ["yes"] * 5 + ["no"] * 20
    assert Verifier(balanced=True).score("\n".join(["no"] * 25), truth, ASKED).score == 0.5
    assert plain.score("\n".join(["no"] * 25), truth, ASKED).score == 0.8


@given(st.lists(st.lists(st.integers(0, 1000), min_size=3, max_size=3).filter(any), min_size=1, max_size=6))
def test_what_a_learner_says_earns_what_it_earns(weights: list[list[int]]) -> None:
    options = ("red", "blue", "front left door")
    chances = [[one / sum(row) for one in row] for row in weights]
    truth = [options[i % 3] for i in range(len(chances))]
    earned = plain.score(plain.say(chances, options), truth, options).right
    assert earned == tuple(row[i % 3] for i, row in enumerate(chances))


JUNK = st.recursive(
    st.none() | st.text() | st.integers() | st.floats(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["role", "content", "text"]), inner),
)


@given(JUNK | st.text('yesno{}[]":0.1,\n<>answer\\boxed/ ', max_size=80), st.integers(1, 4))
def test_nothing_that_a_model_says_is_an_error(said: Any, count: int) -> None:
    found = plain.score(said, ["yes"] * count, ASKED, 3)
    assert 0 <= found.score <= 1 and len(found.said) == count
    assert 0 <= plain.score(json.dumps(said, default=str), ["yes"] * count, ASKED).score <= 1


def test_a_reward_is_what_trl_asks_for() -> None:
    logged: dict[str, float] = {}
    said = [[{"role": "assistant", "content": text}] for text in ("26. yes\n27. no", "no\nno", "what?")]
    columns: dict[str, Any] = {"answers": [["yes", "no"]] * 3, "options": [ASKED] * 3, "shown": [["no"] * 25] * 3}
    found = reward(
        completions=said,
        benchmark=["curi"] * 3,
        prompts=[],
        completion_ids=[],
        log_metric=logged.__setitem__,
        **columns,
    )
    assert found == [1.0, 0.5, 0.0] and logged == {"unreadable": 2 / 6}
    with pytest.raises(UserError, match="belong together"):
        reward(said, [["yes"]], [ASKED] * 3, "curi")


def test_every_benchmark_reads_its_own_answers(tiny: Any) -> None:
    for name in names():
        assert get(name).verifier.read("yes", ASKED) == ("yes",)
    row = next(tiny.rows(["boolean"], first=1))
    assert verdict(row, "\n".join(row.answers)).score == 1.0
