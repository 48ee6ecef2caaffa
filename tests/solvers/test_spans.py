"""The span parser, on a little language of nonsense: it reads what it has learnt, and what it has to recombine."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from recombine.benchmarks.clevr.runner import ANSWER_KINDS, clevr_functions
from recombine.solvers.programs import SPECIAL, Functions, lay_out, well_formed
from recombine.solvers.spans.abridged import Abridging
from recombine.solvers.spans.chart import NOTHING, NOWHERE, RIGHT, Scores, align, read
from recombine.solvers.spans.grammar import Grammar
from recombine.store.key import Key

SET, THING, NUMBER = "set", "thing", "number"
TOYS = Functions(
    ("scene", "one", "hue[red]", "hue[blue]", "shape[cube]", "shape[ball]", "left", "behind", "or", "count", "more"),
    (0, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2),
    ((), (SET,), (SET,), (SET,), (SET,), (SET,), (THING,), (THING,), (SET, SET), (SET,), (NUMBER, NUMBER)),
    (SET, THING, SET, SET, SET, SET, SET, SET, SET, NUMBER, "truth"),
)  # fmt: skip
ANSWERS = (NUMBER, "truth")
SAYS = {
    "hue[red]": "wug", "hue[blue]": "dax", "shape[cube]": "blick", "shape[ball]": "toma",
    "left": "fep of", "behind": "zav of", "or": "ne", "count": "kiki", "more": "lo",
}  # fmt: skip
WORDS = ("", "", "", "", *sorted({word for said in SAYS.values() for word in said.split()} | {"et", "thing"}))


@dataclass(frozen=True)
class Talk:
    """Questions and their programs."""

    word: np.ndarray
    length: np.ndarray
    token: np.ndarray

    @property
    def programs(self):  # type: ignore[no-untyped-def]
        return lay_out(self.token, TOYS)

    def __len__(self) -> int:
        return len(self.word)


def _noun(rng: np.random.Generator, deep: int, links: tuple[str, ...]) -> tuple[str, list[str]]:
    """A noun phrase, and its program; the input of a colour before its noun is what follows the noun."""
    colour = rng.choice(["", "hue[red]", "hue[blue]"])
    shape = rng.choice(["", "shape[cube]", "shape[ball]"])
    said = f"{SAYS.get(colour, '')} {SAYS.get(shape, 'thing')}"
    program = [one for one in (shape, colour) if one]
    if deep and rng.random() < 0.5:
        link = str(rng.choice(links))
        below, inner = _noun(rng, deep - 1, links)
        return f"{said} {SAYS[link]} {below}", [*program, link, "one", *inner]
    return said, [*program, "scene"]


def talk(
    count: int, key: Key, links: tuple[str, ...] = ("left", "behind"), joined: tuple[str, ...] | None = None
) -> Talk:
    """Questions at random; `joined` are the links of what stands beside an "or"."""
    rng, texts, programs = key.rng(), [], []
    for _ in range(count):
        kind = rng.random()
        one, two = (_noun(rng, 2, links if kind < 0.5 or kind > 0.8 else joined or links) for _ in range(2))
        if kind < 0.5:
            texts.append(f"{SAYS['count']} {one[0]} et")
            programs.append(["count", *one[1]])
        elif kind < 0.8:
            texts.append(f"{SAYS['count']} {one[0]} {SAYS['or']} {two[0]}")
            programs.append(["count", "or", *one[1], *two[1]])
        else:
            texts.append(f"{SAYS['more']} {one[0]} et {two[0]}")
            programs.append(["more", "count", *one[1], "count", *two[1]])
    rows = [[WORDS.index(word) for word in text.split()] for text in texts]
    tokens = [[SPECIAL + TOYS.words.index(one) for one in program] for program in programs]
    return Talk(_filled(rows, np.int16), np.array([len(row) for row in rows], np.int16), _filled(tokens, np.uint8))


def _filled(rows: list[list[int]], kind: type) -> np.ndarray:
    found = np.zeros((len(rows), max(map(len, rows))), kind)
    for row, numbers in zip(found, rows):
        row[: len(numbers)] = numbers
    return found


GRAMMAR = Grammar(TOYS, len(WORDS), ANSWERS)


def learnt(shown: Talk, grammar: Grammar = GRAMMAR, rounds: int = 4) -> Scores:
    programs = grammar.programs(shown.programs)
    scores = grammar.beginning(shown.word, shown.length, programs)
    for _ in range(rounds):
        counts = grammar.nothing()
        align(scores, shown.word, shown.length, programs, counts)
        scores = grammar.scores(counts)
    return scores


@cache
def usual() -> Scores:
    return learnt(talk(600, Key(0)))


def said(scores: Scores, asked: Talk, grammar: Grammar = GRAMMAR) -> np.ndarray:
    """The programs that are read, as long as those that were meant."""
    return grammar.abridge.restore(read(scores, asked.word, asked.length)[0], asked.token.shape[1])


# --- abridged programs


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_lost_by_abridging(seed: int) -> None:
    functions = clevr_functions()
    token = _random_programs(functions, np.random.default_rng(seed))
    abridging = Abridging(functions)
    short = abridging(lay_out(token, functions))
    assert np.count_nonzero(short.token) <= np.count_nonzero(token)
    np.testing.assert_array_equal(abridging.restore(short, token.shape[1]), token)


def _random_programs(functions: Functions, rng: np.random.Generator) -> np.ndarray:
    """Well-formed programs of any kind."""

    def grow(kind: str, deep: int) -> list[int]:
        fits = [n for n, out in enumerate(functions.out) if out == kind and (deep < 9 or functions.arity[n] < 2)]
        leaves = [n for n in fits if functions.arity[n] == 0]
        chosen = int(rng.choice(leaves if leaves and rng.random() < deep / 10 else fits))
        return [SPECIAL + chosen, *(t for one in functions.inputs[chosen] for t in grow(one, deep + 1))]

    programs = [grow(str(rng.choice(ANSWER_KINDS)), 0) for _ in range(5)]
    found = _filled([one for one in programs if len(one) < 120] or [grow("number", 9)], np.uint8)
    assert well_formed(lay_out(found, functions), functions, ANSWER_KINDS).all()
    return found


def test_what_types_say_is_left_out() -> None:
    shown = talk(50, Key(1))
    short = GRAMMAR.programs(shown.programs)
    assert SPECIAL + TOYS.words.index("one") in shown.token and SPECIAL + TOYS.words.index("one") not in short.token


def test_a_program_without_room_is_left_out_whole() -> None:
    shown = talk(20, Key(2))
    cut = GRAMMAR.abridge.restore(GRAMMAR.programs(shown.programs), 4)
    fits = np.count_nonzero(shown.token, axis=1) <= 4
    np.testing.assert_array_equal(cut.any(axis=1), fits)


# --- reading


def test_it_reads_what_it_was_trained_on() -> None:
    shown = talk(600, Key(0))
    assert (said(usual(), shown) == shown.token).all(axis=1).mean() > 0.97


def test_it_recombines_what_was_never_combined() -> None:
    """One of the two links never stands beside an "or" in training; it does in every question of the test."""
    behind, asked = SPECIAL + TOYS.words.index("behind"), talk(400, Key(4), joined=("behind",))
    either = (asked.token == SPECIAL + TOYS.words.index("or")).any(axis=1) & (asked.token == behind).any(axis=1)
    asked = replace(asked, word=asked.word[either], length=asked.length[either], token=asked.token[either])
    shown = talk(600, Key(3), joined=("left",))
    assert len(asked) > 50
    assert (said(learnt(shown), asked) == asked.token).all(axis=1).mean() > 0.93


def test_words_are_numbers_to_it() -> None:
    """Another vocabulary, another numbering: the same programs."""
    order = np.concatenate([np.arange(SPECIAL), SPECIAL + (Key(5)).rng().permutation(len(WORDS) - SPECIAL)])
    shown, asked = talk(300, Key(0)), talk(100, Key(6))
    other, renamed = (replace(one, word=order[one.word].astype(np.int16)) for one in (shown, asked))
    np.testing.assert_array_equal(said(learnt(shown), asked), said(learnt(other), renamed))


def test_words_without_a_meaning_make_no_program() -> None:
    asked = Talk(np.full((1, 2), WORDS.index("of"), np.int16), np.array([2], np.int16), np.zeros((1, 8), np.uint8))
    found, by, score = read(usual(), asked.word, asked.length)
    assert score[0] == NOWHERE and not found.token.any() and (by == -1).all()


def test_what_is_read_is_the_best_derivation_of_its_own_program() -> None:
    asked = talk(60, Key(7))
    found, by, score = read(usual(), asked.word, asked.length)
    whole = GRAMMAR.abridge.restore(found, 40)
    said_by = usual().word[np.take_along_axis(asked.word, np.maximum(by, 0).astype(np.int64), axis=1), found.token]
    assert np.isfinite(said_by[by >= 0]).all() and (found.token[by < 0] <= GRAMMAR.abridge.leaf).all()
    again = align(usual(), asked.word, asked.length, GRAMMAR.programs(lay_out(whole, TOYS)), GRAMMAR.nothing())
    np.testing.assert_allclose(again, score, rtol=1e-12)
    meant = align(usual(), asked.word, asked.length, GRAMMAR.programs(asked.programs), GRAMMAR.nothing())
    assert (meant <= score + 1e-9).all()


# --- the plain reference: every derivation there is


@dataclass(frozen=True)
class Span:
    """Words that make a part of a program: where its root is, what it lacks, and its score."""

    first: int
    last: int
    root: tuple[int, int]  # the word and its token
    lacks: tuple[tuple[int, int, int], ...]  # the word, its token and the number of the input
    score: float


def every_derivation(scores: Scores, words: np.ndarray) -> float:
    """The score of the best derivation, by trying them all."""
    spans: dict[tuple[int, int], list[Span]] = {}
    for wide in range(len(words)):
        for a in range(len(words) - wide):
            spans[a, a + wide] = [*_starts(scores, words, a, a + wide)]
            for m in range(a, a + wide):
                for k in range(m + 1, a + wide + 1):
                    if all(scores.idle[w] for w in words[m + 1 : k]):
                        gap = words[m + 1 : k]
                        for left in spans[a, m]:
                            for right in spans[k, a + wide]:
                                spans[a, a + wide] += [*_joined(scores, left, right, gap, RIGHT)]
                                spans[a, a + wide] += [*_joined(scores, right, left, gap, 1 - RIGHT)]
            spans[a, a + wide] += [*_begun(scores, spans[a, a + wide])]
    ends = [NOWHERE]
    for (a, b), some in spans.items():
        if all(scores.idle[w] for w in (*words[:a], *words[b + 1 :])):
            for one in some:
                f = scores.name[one.root[1]]
                around = _gap(scores.outside[f, 0], words[:a]) + _gap(scores.outside[f, 1], words[b + 1 :])
                ends += [one.score + scores.whole[f] + around] if not one.lacks else []
    return max(ends)


def _starts(scores: Scores, words: np.ndarray, a: int, b: int):  # type: ignore[no-untyped-def]
    for token in np.flatnonzero(np.isfinite(scores.word[words[a]])) if a == b else ():
        lacks = tuple((a, int(token), slot) for slot in range(scores.arity[token]))
        yield Span(a, a, (a, int(token)), lacks, scores.word[words[a], token])


def _joined(scores: Scores, outer: Span, inner: Span, gap: np.ndarray, side: int):  # type: ignore[no-untyped-def]
    for foot in outer.lacks:
        at, token, slot = foot
        if len(inner.lacks) == 2 or (inner.lacks and scores.arity[token] == 2):
            continue
        near = at == (outer.last if side == RIGHT else outer.first)
        close = inner.root[0] == (inner.first if side == RIGHT else inner.last)
        where = side + (0 if near else 2) + (0 if close else 4)
        f, g = scores.name[token], scores.name[inner.root[1]]
        price = scores.joint[f, slot, g, where]
        if price > NOWHERE:
            total = outer.score + inner.score + price + _gap(scores.between[f, slot, g, where], gap)
            lacks = tuple(one for one in outer.lacks if one != foot) + inner.lacks
            ends = min(outer.first, inner.first), max(outer.last, inner.last)
            yield Span(*ends, outer.root, lacks, total)


def _begun(scores: Scores, some: list[Span]):  # type: ignore[no-untyped-def]
    for one in some:
        if len(one.lacks) == 1 and scores.arity[one.lacks[0][1]] == 1:
            price = scores.silent[scores.name[one.lacks[0][1]]]
            if price > NOWHERE:
                yield replace(one, lacks=(), score=one.score + price)


def _gap(score: np.ndarray, gap: np.ndarray) -> float:
    if not len(gap):
        return float(score[0, NOTHING])
    return float(score[0, gap[0]] + score[1, list(gap[1:])].sum() + score[1, NOTHING])


def test_the_chart_finds_what_trying_everything_finds() -> None:
    asked = talk(300, Key(8))
    short = np.flatnonzero(asked.length <= 8)[:25]
    scores = learnt(talk(80, Key(9)), rounds=1)  # still full of doubt
    _, _, found = read(scores, asked.word[short], asked.length[short])
    plain = [every_derivation(scores, asked.word[row, : asked.length[row]]) for row in short]
    assert len(short) == 25 and np.isfinite(plain).any()
    np.testing.assert_allclose(found, plain, rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_it_with_any_scores(seed: int) -> None:
    """Scores that no counting gives: rare joints dear, others cheap."""
    rng, usual_scores = (Key(seed) / "noise").rng(), learnt(talk(80, Key(9)), rounds=1)
    noisy = usual_scores._replace(
        joint=usual_scores.joint - rng.exponential(5, usual_scores.joint.shape),
        between=usual_scores.between - rng.exponential(2, usual_scores.between.shape),
    )
    asked = talk(200, Key(10) / str(seed))
    short = np.flatnonzero(asked.length <= 7)[:8]
    _, _, found = read(noisy, asked.word[short], asked.length[short])
    np.testing.assert_allclose(found, [every_derivation(noisy, asked.word[r, : asked.length[r]]) for r in short])
