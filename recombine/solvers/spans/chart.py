"""The chart: the best way to build a program from the words of a question, exactly.

A word denotes a function, or nothing. A span of words denotes a program that is whole, or that lacks an input (its
*foot* is the function that lacks it), or a function of two inputs that lacks both. Two spans with nothing but words
between that denote nothing become one: one of them takes the place of an input of the other, on whichever side it
stands. Of functions of one input both may lack inputs, so what is next to each other in the program need not be so in
the question. Such a function may also begin with the only function that has no input, which then goes without saying.

Every such *joint* has a score, by the names of the two functions, the input, and where the one stands beside the other;
so has every word between; a function has a score for its word. Spans that score alike whatever follows are one, and the
best is kept: CKY over spans with a root and a foot. A question is read with all functions that its words may denote.
Where its program is known it is *aligned*: words denote the nodes of that program alone, joined as they are there.

Reading is exact and yet leaves most spans out: no word can bring more than `most`, so a span that falls behind what its
words could bring by more than some slack is no part of a derivation that falls behind by less. Where none is found with
a slack, there is more of it.
"""

from typing import NamedTuple

import numpy as np

from recombine.solvers.programs import NULL
from recombine.solvers.spans.abridged import Abridged
from recombine.store.compiled import compiled

LEFT, RIGHT = 0, 1
"""Where an input stands beside the function that takes it."""
SIDES = 8
"""2 more where other words that denote something stand between that function and the span of its input; 4 more where
they stand between that span's root and the function's span."""
NOTHING = 0
"""In the place of a word: that there is none, or no more."""
NOWHERE = -np.inf

FIRST_SLACK, LAST_SLACK, WIDER = 16.0, 1024.0, 1.5
BY_WORD, OUTER_LEFT, OUTER_RIGHT, SILENT = range(4)
"""How a span came about: it is a word; its left part takes its right one; the other way; it begins in silence."""
LACKS, ROOT, FOOT, PLACE, ONE, OTHER, HOW, FILLED, FIRST, LAST, EDGES = range(11)
"""What is known of a span: missing inputs, root, foot and the place of its missing input; its parts, how it came about,
the side and the place that was filled; the first and the last word that denote something, and whether its foot is the
first of these (1) or the last (2), and its root the first (4) or the last (8)."""


class Scores(NamedTuple):
    """Logarithms of probabilities, by word w, token t, and the names of functions: f takes an input, g is one.

    A name is a number that all tokens have which behave alike. Words between and outside are told as the first (0) or a
    later one (1).
    """

    name: np.ndarray  # int64[t]
    word: np.ndarray  # float[w, t]: the word of a function
    joint: np.ndarray  # float[f, 2 inputs, g, SIDES]
    between: np.ndarray  # float[f, 2 inputs, g, SIDES, 2, w]
    silent: np.ndarray  # float[f]: a function of one input begins with the leaf
    whole: np.ndarray  # float[f]: what gives the answer
    outside: np.ndarray  # float[f, 2 sides, 2, w]: before and after all words that denote something
    idle: np.ndarray  # bool[w]: whether a word may denote nothing
    arity: np.ndarray  # int8[t]
    leaf: int  # the token that may go without saying


class Counts(NamedTuple):
    """How often each of these came about."""

    word: np.ndarray
    joint: np.ndarray
    between: np.ndarray
    silent: np.ndarray
    whole: np.ndarray
    outside: np.ndarray


def read(
    scores: Scores, word: np.ndarray, length: np.ndarray, slack: float = FIRST_SLACK
) -> tuple[Abridged, np.ndarray, np.ndarray]:
    """The best program of each question; the word that each of its functions is denoted by, int8[n, t], -1 for what
    goes without saying; and its score, float[n]. NULL and NOWHERE where words make no program."""
    n, width = word.shape
    blank = np.full((n, 2 * width), -1, np.int8)  # a word may bring the leaf along
    found = Abridged(np.full(blank.shape, NULL, np.uint8), blank, blank.copy())
    by, score = blank.copy(), np.full(n, NOWHERE)
    _read_all(*_plain(word, length), *_known(scores.word), scores, slack, found, by, score)
    return found, by, score


def align(scores: Scores, word: np.ndarray, length: np.ndarray, programs: Abridged, counts: Counts) -> np.ndarray:
    """Count how the best derivations of known programs come about; their scores, float[n], NOWHERE where none is."""
    score = np.full(len(word), NOWHERE)
    _align_all(*_plain(word, length), programs, scores, counts, score)
    return score


def _plain(word: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Words and lengths in the one form that loops are compiled for."""
    return np.array(word, np.int16), np.array(length, np.int64)


def _known(word: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the tokens that each word may denote start, and these, one word after the other."""
    there = np.isfinite(word)
    return np.concatenate([[0], np.cumsum(there.sum(axis=1))]), np.nonzero(there)[1]


# --- compiled


@compiled
def _read_all(words, length, start, known, s, first_slack, programs, by, score):  # type: ignore[no-untyped-def]
    tokens, free = np.arange(len(s.name)), np.zeros((0, 2), np.int64)
    taken, most = _most(s)
    hope, first = np.zeros(words.shape[1] + 1), np.zeros(words.shape[1] + 1, np.int64)
    meant, meaning = np.zeros(words.shape[1] * len(s.name), np.int64), np.zeros(words.shape[1], np.int64)
    for row in range(len(words)):
        n = length[row]
        for at in range(n):
            w = words[row, at]
            many = start[w + 1] - start[w]
            meant[first[at] : first[at] + many] = known[start[w] : start[w + 1]]
            first[at + 1] = first[at] + many
            hope[at + 1] = hope[at] + most[w]
        slack, best = first_slack, -1
        while best < 0 and slack <= LAST_SLACK:
            spans, best, score[row] = _chart(words[row, :n], first, meant, hope, slack, taken, tokens, s.name, free, s)
            slack *= WIDER
        if best < 0:
            continue
        order, root, takes = _derivation(spans, best, n)
        for item in order:
            if spans[item, HOW] == BY_WORD:
                meaning[spans[item, FIRST]] = spans[item, ROOT]
        _write(row, root, meaning, takes, s, programs, by)


@compiled
def _align_all(words, length, programs, s, counts, score):  # type: ignore[no-untyped-def]
    hope, taken, token = np.zeros(words.shape[1] + 1), np.zeros(len(s.joint)), programs.token
    for row in range(len(words)):
        n, size = length[row], 0
        while size < token.shape[1] and token[row, size] != NULL:
            size += 1
        nodes, inputs = token[row, :size].astype(np.int64), np.empty((size, 2), np.int64)
        inputs[:, 0], inputs[:, 1] = programs.left[row, :size], programs.right[row, :size]
        first, meant = np.zeros(n + 1, np.int64), np.zeros(n * size, np.int64)
        for at in range(n):
            first[at + 1] = first[at]
            for node in range(size):
                if s.word[words[row, at], nodes[node]] > NOWHERE:
                    meant[first[at + 1]] = node
                    first[at + 1] += 1
        ideas = np.arange(size)
        spans, best, score[row] = _chart(words[row, :n], first, meant, hope, np.inf, taken, nodes, ideas, inputs, s)
        if best >= 0:
            _count(words[row, :n], spans, best, nodes, s.name, counts)


@compiled
def _count(words, spans, best, nodes, name, counts):  # type: ignore[no-untyped-def]
    """Add what a derivation is made of."""
    for item in _derivation(spans, best, len(words))[0]:
        one, other, how = spans[item, ONE], spans[item, OTHER], spans[item, HOW]
        if how == BY_WORD:
            counts.word[words[spans[item, FIRST]], nodes[spans[item, ROOT]]] += 1
        elif how == SILENT:
            counts.silent[name[nodes[spans[one, FOOT]]]] += 1
        else:
            outer, inner = (one, other) if how == OUTER_LEFT else (other, one)
            f, g = name[nodes[spans[outer, FOOT]]], name[nodes[spans[inner, ROOT]]]
            place, side = spans[item, FILLED] % 2, spans[item, FILLED] // 2
            counts.joint[f, place, g, side] += 1
            _count_gap(counts.between[f, place, g, side], words[spans[one, LAST] + 1 : spans[other, FIRST]])
    f = name[nodes[0]]
    counts.whole[f] += 1
    _count_gap(counts.outside[f, LEFT], words[: spans[best, FIRST]])
    _count_gap(counts.outside[f, RIGHT], words[spans[best, LAST] + 1 :])


@compiled
def _count_gap(count, gap):  # type: ignore[no-untyped-def]
    """Words, one by one, and that there are no more."""
    count[0, gap[0] if len(gap) else NOTHING] += 1
    for w in gap[1:]:
        count[1, w] += 1
    if len(gap):
        count[1, NOTHING] += 1


@compiled
def _gap_score(score, gap):  # type: ignore[no-untyped-def]
    if len(gap) == 0:
        return score[0, NOTHING]
    total = score[0, gap[0]] + score[1, NOTHING]
    for w in gap[1:]:
        total += score[1, w]
    return total


@compiled
def _most(s):  # type: ignore[no-untyped-def]
    """The most that being taken, or giving the answer, brings to a function, by name; the most that a word brings."""
    taken, most = s.whole.copy(), np.full(len(s.word), NOWHERE)
    for f in range(len(s.joint)):
        for side in range(2):
            taken[f] += max(s.outside[f, side, 0, NOTHING], s.outside[f, side, 1, NOTHING])
            for later in range(2):
                most = np.maximum(most, s.outside[f, side, later])
    for f in range(len(s.joint)):
        for slot in range(2):
            for g in range(len(s.joint)):
                for side in range(SIDES):
                    if s.joint[f, slot, g, side] > NOWHERE:
                        gap = s.between[f, slot, g, side]
                        taken[g] = max(taken[g], s.joint[f, slot, g, side] + max(gap[0, NOTHING], gap[1, NOTHING]))
                        for later in range(2):
                            most = np.maximum(most, gap[later])
    for w in range(len(s.word)):
        for token in range(len(s.name)):
            most[w] = max(most[w], s.word[w, token] + taken[s.name[token]])
    return taken, most


@compiled
def _chart(words, first, meant, hope, slack, taken, tokens, key, inputs, s):  # type: ignore[no-untyped-def]
    """All spans, int32[spans, 11], the best whole one, and its score.

    `meant[first[i]:first[i + 1]]` are the ideas that word i may denote: numbers into `tokens`. Ideas with one `key` are
    interchangeable. Where `inputs` is not empty it says which idea is the input of which, the first being the root.
    """
    n, bound = len(words), len(inputs) > 0
    begin, end = np.zeros((n, n), np.int32), np.zeros((n, n), np.int32)
    spans, scores, number = np.empty((256, 11), np.int32), np.empty(256), 0
    for wide in range(n):
        for a in range(n - wide):
            b = a + wide
            cell = begin[a, b] = end[a, b] = number
            if first[a] == first[a + 1] or first[b] == first[b + 1]:
                continue
            least = hope[b + 1] - hope[a] - slack
            for at in range(first[a], first[a + 1] if a == b else first[a]):
                idea, token = meant[at], tokens[meant[at]]
                total = s.word[words[a], token]
                if total + taken[s.name[token]] >= least:
                    what = (s.arity[token], idea, idea, 0, -1, -1, BY_WORD, 0, a, b, 15 if s.arity[token] else 12)
                    spans, scores, number = _put(cell, number, what, total, key, spans, scores)
            for m in range(a, b):
                for k in range(m + 1, b + 1 if begin[a, m] < end[a, m] else m + 1):
                    gap = words[m + 1 : k]
                    for i in range(begin[a, m], end[a, m]):
                        for j in range(begin[k, b], end[k, b]):
                            for side in range(2):
                                outer, inner = (i, j) if side == RIGHT else (j, i)
                                lacks, more = spans[outer, LACKS], spans[inner, LACKS]
                                root, foot, top = spans[outer, ROOT], spans[outer, FOOT], spans[inner, ROOT]
                                if lacks == 0 or more == 2 or (more == 1 and s.arity[tokens[foot]] == 2):
                                    continue
                                f, g = s.name[tokens[foot]], s.name[tokens[top]]
                                enough = least - taken[s.name[tokens[root]]] - scores[i] - scores[j]
                                where = side
                                if not spans[outer, EDGES] & (2 if side == RIGHT else 1):
                                    where += 2
                                if not spans[inner, EDGES] & (4 if side == RIGHT else 8):
                                    where += 4
                                for slot in range(2):
                                    price = s.joint[f, slot, g, where]
                                    if (
                                        price < enough
                                        or price == NOWHERE
                                        or (lacks == 1 and slot != spans[outer, PLACE])
                                    ):
                                        continue
                                    if bound and inputs[foot, slot] != top:
                                        continue
                                    price += _gap_score(s.between[f, slot, g, where], gap)
                                    if price < enough:
                                        continue
                                    edges = spans[outer, EDGES] & (4 if side == RIGHT else 8)
                                    how, filled = OUTER_LEFT if side == RIGHT else OUTER_RIGHT, 2 * where + slot
                                    if lacks == 2:  # the foot stays
                                        edges |= spans[outer, EDGES] & (1 if side == RIGHT else 2)
                                        what = (1, root, foot, 1 - slot, i, j, how, filled, a, b, edges)
                                    else:
                                        edges |= spans[inner, EDGES] & (2 if side == RIGHT else 1) if more else 0
                                        below, place = spans[inner, FOOT], spans[inner, PLACE]
                                        what = (more, root, below, place, i, j, how, filled, a, b, edges)
                                    total = scores[i] + scores[j] + price
                                    spans, scores, number = _put(cell, number, what, total, key, spans, scores)
                    if not s.idle[words[k]]:
                        break
            for i in range(cell, number):
                root, foot = spans[i, ROOT], spans[i, FOOT]
                if spans[i, LACKS] != 1 or s.arity[tokens[foot]] != 1 or s.silent[s.name[tokens[foot]]] == NOWHERE:
                    continue
                total = scores[i] + s.silent[s.name[tokens[foot]]]
                if total + taken[s.name[tokens[root]]] < least or (bound and s.arity[tokens[inputs[foot, 0]]]):
                    continue
                what = (0, root, foot, 0, i, -1, SILENT, 0, a, b, spans[i, EDGES] & 12)
                spans, scores, number = _put(cell, number, what, total, key, spans, scores)
            end[a, b] = number
    best, highest = _best(words, begin, end, spans, scores, tokens, bound, s)
    return (spans, best, highest) if highest >= hope[n] - slack else (spans, -1, NOWHERE)


@compiled
def _best(words, begin, end, spans, scores, tokens, bound, s):  # type: ignore[no-untyped-def]
    """The best span that is whole, with nothing but idle words around it."""
    best, highest = -1, NOWHERE
    for a in range(len(words)):
        for b in range(len(words) - 1, a - 1, -1):
            for i in range(begin[a, b], end[a, b]):
                f = s.name[tokens[spans[i, ROOT]]]
                if spans[i, LACKS] == 0 and s.whole[f] > NOWHERE and not (bound and spans[i, ROOT] != 0):
                    total = scores[i] + s.whole[f]
                    total += _gap_score(s.outside[f, LEFT], words[:a])
                    total += _gap_score(s.outside[f, RIGHT], words[b + 1 :])
                    if total > highest:
                        best, highest = i, total
            if not s.idle[words[b]]:
                break
        if not s.idle[words[a]]:
            break
    return best, highest


@compiled
def _put(cell, number, what, score, key, spans, scores):  # type: ignore[no-untyped-def]
    """Keep a span where it is new in its cell, or better than the one that was; `what` has its columns."""
    lacks, root, foot, place, one, other, how, filled, a, b, edges = what
    item = number
    for old in range(cell, number):
        if spans[old, LACKS] != lacks or key[spans[old, ROOT]] != key[root] or spans[old, EDGES] != edges:
            continue
        if lacks == 0 or (key[spans[old, FOOT]] == key[foot] and spans[old, PLACE] == place):
            if score <= scores[old]:
                return spans, scores, number
            item = old
            break
    if item == number:
        number += 1
        if number > len(spans):
            wider, longer = np.empty((2 * len(spans), 11), np.int32), np.empty(2 * len(spans))
            wider[: len(spans)], longer[: len(scores)] = spans, scores
            spans, scores = wider, longer
    spans[item, LACKS], spans[item, ROOT], spans[item, FOOT], spans[item, PLACE] = lacks, root, foot, place
    spans[item, ONE], spans[item, OTHER], spans[item, HOW], spans[item, FILLED] = one, other, how, filled
    spans[item, FIRST], spans[item, LAST], spans[item, EDGES] = a, b, edges
    scores[item] = score
    return spans, scores, number


@compiled
def _derivation(spans, best, n):  # type: ignore[no-untyped-def]
    """The spans that the best one is made of, each after those that it is part of; the word of its root; and for each
    word the words of its inputs, int64[n, 2]: -1 for none, -2 for what goes without saying."""
    order, at = [best], 0
    while at < len(order):
        item = order[at]
        if spans[item, HOW] != BY_WORD:
            order.append(spans[item, ONE])
            if spans[item, OTHER] >= 0:
                order.append(spans[item, OTHER])
        at += 1
    takes = np.full((n, 2), -1)
    ends = np.full((len(order), 2), -1)  # the words of root and foot
    place = {best: 0}
    for at in range(len(order)):
        place[order[at]] = at
    for at in range(len(order) - 1, -1, -1):
        item = order[at]
        how = spans[item, HOW]
        if how == BY_WORD:
            ends[at] = spans[item, FIRST]
        elif how == SILENT:
            below = place[spans[item, ONE]]
            ends[at, 0] = ends[below, 0]
            takes[ends[below, 1], 0] = -2
        else:
            one, other = place[spans[item, ONE]], place[spans[item, OTHER]]
            outer, inner = (one, other) if how == OUTER_LEFT else (other, one)
            takes[ends[outer, 1], spans[item, FILLED] % 2] = ends[inner, 0]
            ends[at, 0] = ends[outer, 0]
            ends[at, 1] = ends[outer if spans[order[outer], LACKS] == 2 else inner, 1]
    return order, ends[0, 0], takes


@compiled
def _write(row, top, meaning, takes, s, programs, by):  # type: ignore[no-untyped-def]
    """The program in prefix order; `meaning` has the token of every word that denotes one."""
    waiting, deep, size = np.zeros((2 * len(takes) + 2, 3), np.int64), 1, 0  # a word, and whose input it is
    waiting[0] = (top, -1, 0)
    while deep:
        deep -= 1
        at, above, slot = waiting[deep]
        if above >= 0 and slot == 0:
            programs.left[row, above] = size
        elif above >= 0:
            programs.right[row, above] = size
        programs.token[row, size] = meaning[at] if at >= 0 else s.leaf
        by[row, size] = max(at, -1)
        if at >= 0:
            for place in range(s.arity[programs.token[row, size]] - 1, -1, -1):
                waiting[deep] = (takes[at, place], size, place)
                deep += 1
        size += 1
