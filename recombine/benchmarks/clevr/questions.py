"""Questions about scenes: fillings for the slots of a family, found with masks.

A family's shape is a short list of operations. One pass over it on one scene makes a question: where a description
must denote one object, a pair of an object and some of its attributes is drawn among all pairs that do; where it
denotes a set, a description is drawn that may also fit nothing; directions are drawn uniformly. The answer is wanted in
advance, each answer of the family as often as any other, and passes are made until it comes out; if it does not, the
next answer is wanted. So no family starves and no answer crowds out the others.

A question must not be *degenerate*: with any one of its relations replaced by the whole scene, its answer must change
or be lost. Where sets are counted or looked for, a set must change: more things never turn a "yes" into a "no".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit

from recombine.benchmarks.clevr.families import Family
from recombine.benchmarks.clevr.language import ATTRIBUTES, DIRECTIONS
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.benchmarks.clevr.shapes import Description, Filling
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes

OPERATIONS = (
    "scene",
    "describe",
    "unique",
    "relate",
    "same",
    "intersect",
    "union",
    "count",
    "exist",
    "query",
    "equal",
    "equal_integer",
    "less_than",
    "greater_than",
)
SCENE, DESCRIBE, UNIQUE, RELATE, SAME, INTERSECT, UNION = range(7)
COUNT, EXIST, QUERY, EQUAL, EQUAL_INTEGER, LESS_THAN, GREATER_THAN = range(7, 14)
NONE = 255
"""An attribute that a description does not name."""
MOST_SLOTS, MOST_RELATIONS, MOST_REFERENTS, MOST_STEPS = 5, 4, 4, 24
MOST_COUNT = 10
MOST_OBJECTS = 63


class Code(NamedTuple):
    """A family as operations."""

    steps: (
        np.ndarray
    )  # int64[steps, 4]: operation, slot or attribute, forbidden attributes as bits, describes one object
    outer: int  # the outermost description's slot
    outer_named: int  # the attributes it names, as bits; -1 for any
    taken: int  # bits over the 16 sets of attributes that it may not name, because they belong to other families
    apart: tuple[int, int]  # two steps that must denote different things; -1 for none
    answers: np.ndarray  # int64[answers]


@dataclass(frozen=True)
class Rules:
    """What makes a question acceptable."""

    strict: bool = True
    """No relation of any family may be superfluous; else, as in the released generator, in `single_and` only."""
    counts: tuple[int, int] = (0, MOST_COUNT)
    """The answers that counting questions may have; CLOSURE allows 1 to 3."""
    tries: int = 40
    """Passes per wanted answer."""


class Found(NamedTuple):
    """Questions as numbers, one row each."""

    scene: np.ndarray  # int32[q], into the batch
    family: np.ndarray  # int16[q], into the list of families that was asked for
    answer: np.ndarray  # uint8[q]
    described: np.ndarray  # uint8[q, slots, 4]: value codes, NONE where not named
    related: np.ndarray  # uint8[q, relations]: directions
    referents: np.ndarray  # uint8[q, referents]: the objects that are spoken of one by one, NONE for none

    def rows(self, index: np.ndarray | slice) -> "Found":
        return Found(*(column[index] for column in self))


@lru_cache(maxsize=512)
def code_of(family: Family, counts: tuple[int, int], sizes: tuple[int, ...]) -> Code:
    """Compile a family for a vocabulary with this many values per attribute."""
    steps: list[tuple[int, int, int, int]] = []
    places: dict[str, int] = {}
    _compile(family.shape, family, steps, places, False)
    slots = [slot for slot in family.slots if slot[0] == "D"]
    named = -1 if family.outer is None else sum(1 << ATTRIBUTES.index(a) for a in family.outer)
    taken = sum(1 << sum(1 << ATTRIBUTES.index(a) for a in outer) for outer in family.taken)
    first, second = (places[slot] for slot in family.apart) if family.apart else (-1, -1)
    return Code(
        np.array(steps, np.int64),
        int(slots[-1][1:]) - 1,
        named,
        taken,
        (first, second),
        _answers(family, counts, sizes),
    )


def _compile(
    shape: Expr, family: Family, steps: list[tuple[int, int, int, int]], places: dict[str, int], single: bool
) -> None:
    head = shape.head
    for arg in shape.args:
        _compile(arg, family, steps, places, head.family == "unique")
    places_key = ""
    if head.family[0] == "D":
        forbidden = sum(1 << i for i, a in enumerate(ATTRIBUTES) if (head.family, a) in family.unnamed)
        places_key = head.family
        step = (DESCRIBE, int(head.family[1:]) - 1, forbidden, int(single))
    elif head.family == "relate":
        places_key = head.index[0]
        step = (RELATE, int(head.index[0][1:]) - 1, 0, 0)
    else:
        attribute = ATTRIBUTES.index(head.index[0]) if head.index else 0
        step = (OPERATIONS.index(head.family), attribute, 0, 0)
        if head.family == "same":
            places_key = f"A{1 + sum(key[0] == 'A' for key in places)}"
    if places_key:
        places[places_key] = len(steps)
    steps.append(step)


def _answers(family: Family, counts: tuple[int, int], sizes: tuple[int, ...]) -> np.ndarray:
    """The answers that a family may have, as numbers: no and yes are 0 and 1, values are codes."""
    kind = family.shape.head
    if kind.out == "number":
        return np.arange(counts[0], counts[1] + 1)
    return np.arange(2 if kind.out == "bool" else sizes[ATTRIBUTES.index(kind.out)])


class Looked(NamedTuple):
    """Scenes as the loops want them."""

    objects: np.ndarray  # uint8[n]: how many
    codes: np.ndarray  # uint8[n, k, 4]
    beyond: np.ndarray  # mask[n, 4, k]


def look(scenes: Scenes) -> Looked:
    """Codes and relations, side by side."""
    beyond = all_beyond(scenes)
    return Looked(
        scenes.count,
        np.stack([scenes.codes[attribute] for attribute in ATTRIBUTES], axis=2),
        np.stack([beyond[direction] for direction in DIRECTIONS], axis=1).astype(np.uint64),
    )


def search(
    scenes: Scenes,
    families: tuple[Family, ...],
    each: int,
    key: Key,
    rules: Rules | None = None,
    looked: Looked | None = None,
) -> Found:
    """Up to `each` questions per scene, of as many different families, drawn at random."""
    rules = rules or Rules()
    if any(attribute not in scenes.vocabulary.by_name for attribute in ATTRIBUTES):
        raise UserError(f"questions need the attributes {', '.join(ATTRIBUTES)}")
    if scenes.places > MOST_OBJECTS:
        raise UserError(f"questions are for scenes of at most {MOST_OBJECTS} objects, not {scenes.places}")
    sizes = tuple(len(scenes.vocabulary[a].values) for a in ATTRIBUTES)
    codes = [code_of(family, rules.counts, sizes) for family in families]
    steps = np.full((len(codes), MOST_STEPS, 4), -1, np.int64)
    answers = np.full((len(codes), max(MOST_COUNT + 1, *sizes)), -1, np.int64)
    for f, code in enumerate(codes):
        steps[f, : len(code.steps)] = code.steps
        answers[f, : len(code.answers)] = code.answers
    demands = np.array([(c.outer, c.outer_named, c.taken, *c.apart) for c in codes], np.int64)
    strict = np.array([rules.strict or family.name == "single_and" for family in families])
    seen = looked or look(scenes)
    room = len(scenes) * each
    found = Found(
        np.zeros(room, np.int32),
        np.zeros(room, np.int16),
        np.zeros(room, np.uint8),
        np.full((room, MOST_SLOTS, 4), NONE, np.uint8),
        np.full((room, MOST_RELATIONS), NONE, np.uint8),
        np.full((room, MOST_REFERENTS), NONE, np.uint8),
    )
    lengths = np.array([len(code.steps) for code in codes])
    sizes_of = np.array(sizes)
    made = _search(key.rng(), *seen, sizes_of, steps, lengths, answers, demands, strict, each, rules.tries, *found)
    return found.rows(slice(0, made))


def distinct(several: Sequence[Found]) -> Found:
    """The questions of several searches of the same scenes together, each once, in the order of the scenes."""
    found = Found(*(np.concatenate(columns) for columns in zip(*several)))
    n = len(found.scene)
    names = np.concatenate(
        [np.asarray(c).reshape(n, -1) for c in (found.scene, found.family, found.described, found.related)], axis=1
    )
    first = np.unique(names, axis=0, return_index=True)[1]
    return found.rows(first)


def filling(family: Family, described: np.ndarray, related: np.ndarray, scenes: Scenes) -> Filling:
    """The slots of one question, in words."""
    words = [scenes.vocabulary[attribute].values for attribute in ATTRIBUTES]
    found: Filling = {}
    for slot in family.slots:
        number = int(slot[1:]) - 1
        if slot[0] == "D":
            found[slot] = Description(*("" if c == NONE else words[a][c] for a, c in enumerate(described[number])))
        else:
            found[slot] = DIRECTIONS[related[number]]
    return found


@njit(cache=True)
def _search(
    rng: np.random.Generator,
    count: np.ndarray,
    codes: np.ndarray,
    beyond: np.ndarray,
    sizes: np.ndarray,
    steps: np.ndarray,
    lengths: np.ndarray,
    answers: np.ndarray,
    demands: np.ndarray,
    strict: np.ndarray,
    each: int,
    tries: int,
    out_scene: np.ndarray,
    out_family: np.ndarray,
    out_answer: np.ndarray,
    out_described: np.ndarray,
    out_related: np.ndarray,
    out_referents: np.ndarray,
) -> int:
    """Fill the columns; returns how many questions were found."""
    made = 0
    families = len(steps)
    masks = np.zeros((4, 256), np.uint64)
    denoted = np.zeros(MOST_STEPS, np.uint64)
    described = np.full((MOST_SLOTS, 4), NONE, np.uint8)
    related = np.full(MOST_RELATIONS, NONE, np.uint8)
    referents = np.full(MOST_REFERENTS, NONE, np.uint8)
    for scene in range(len(count)):
        k = int(count[scene])
        _fill_masks(codes[scene], k, sizes, masks)
        kept = 0
        for f in rng.permutation(families):
            if kept == each:
                break
            options = answers[f][answers[f] >= 0]
            done = False
            for choice in rng.permutation(len(options)):
                wanted = options[choice]
                for _ in range(tries):
                    described[:] = NONE
                    related[:] = NONE
                    referents[:] = NONE
                    said = _pass(
                        rng, k, codes[scene], beyond[scene], sizes, masks, steps[f], lengths[f], demands[f],
                        described, related, referents, denoted, True, -1,
                    )  # fmt: skip
                    if said != wanted:
                        continue
                    if demands[f, 3] >= 0 and denoted[demands[f, 3]] == denoted[demands[f, 4]]:
                        continue
                    if strict[f] and _degenerate(
                        rng, k, codes[scene], beyond[scene], sizes, masks, steps[f], lengths[f], demands[f],
                        described, related, referents, denoted, said,
                    ):  # fmt: skip
                        continue
                    done = True
                    break
                if done:
                    break
            if done:
                out_scene[made] = scene
                out_family[made] = f
                out_answer[made] = wanted
                out_described[made] = described
                out_related[made] = related
                out_referents[made] = referents
                made += 1
                kept += 1
    return made


@njit(cache=True)
def _fill_masks(codes: np.ndarray, k: int, sizes: np.ndarray, masks: np.ndarray) -> None:
    """The objects with each value."""
    masks[:] = 0
    for i in range(k):
        for a in range(4):
            masks[a, codes[i, a]] |= np.uint64(1) << np.uint64(i)


@njit(cache=True)
def _fits(described: np.ndarray, inside: np.uint64, masks: np.ndarray) -> np.uint64:
    """The objects of a set that a description is true of."""
    for a in range(4):
        if described[a] != NONE:
            inside &= masks[a, described[a]]
    return inside


@njit(cache=True)
def _bits(mask: np.uint64) -> int:
    n = 0
    while mask:
        mask &= mask - np.uint64(1)
        n += 1
    return n


@njit(cache=True)
def _lowest(mask: np.uint64) -> int:
    i = 0
    while not (mask >> np.uint64(i)) & np.uint64(1):
        i += 1
    return i


@njit(cache=True)
def _degenerate(
    rng: np.random.Generator,
    k: int,
    codes: np.ndarray,
    beyond: np.ndarray,
    sizes: np.ndarray,
    masks: np.ndarray,
    steps: np.ndarray,
    length: int,
    demand: np.ndarray,
    described: np.ndarray,
    related: np.ndarray,
    referents: np.ndarray,
    denoted: np.ndarray,
    said: int,
) -> bool:
    """Whether some relation could be left out: replaced by the whole scene, it gives the same answer."""
    scratch = np.empty_like(referents)
    before = denoted.copy()
    for i in range(length):
        if steps[i, 0] == RELATE or steps[i, 0] == SAME:
            again = _pass(
                rng, k, codes, beyond, sizes, masks, steps, length, demand,
                described, related, scratch, denoted, False, i,
            )  # fmt: skip
            if again == said and _same_sets(steps, length, before, denoted):
                return True
    return False


@njit(cache=True)
def _same_sets(steps: np.ndarray, length: int, before: np.ndarray, after: np.ndarray) -> bool:
    """Whether every set that is counted or looked for is the same."""
    for i in range(length):  # noqa: SIM110
        if (steps[i, 0] == COUNT or steps[i, 0] == EXIST) and before[i] != after[i]:
            return False
    return True


@njit(cache=True)
def _pass(
    rng: np.random.Generator,
    k: int,
    codes: np.ndarray,
    beyond: np.ndarray,
    sizes: np.ndarray,
    masks: np.ndarray,
    steps: np.ndarray,
    length: int,
    demand: np.ndarray,
    described: np.ndarray,
    related: np.ndarray,
    referents: np.ndarray,
    denoted: np.ndarray,
    choosing: bool,
    whole: int,
) -> int:
    """Run the operations on one scene, filling slots if `choosing`; the relation at step `whole` gives the whole scene.

    Returns the answer, or -1 where there is none.
    """
    present = (np.uint64(1) << np.uint64(k)) - np.uint64(1)
    stack = np.zeros(8, np.uint64)
    top, spoken = 0, 0
    for i in range(length):
        operation, detail = steps[i, 0], steps[i, 1]
        if operation == SCENE:
            stack[top] = present
            top += 1
        elif operation == DESCRIBE:
            inside = stack[top - 1]
            if choosing:
                named = demand[1] if detail == demand[0] else -1
                taken = demand[2] if detail == demand[0] else 0
                if steps[i, 3]:
                    if not _describe_one(rng, k, codes, masks, inside, steps[i, 2], named, taken, described[detail]):
                        return -1
                else:
                    _describe_set(rng, k, codes, sizes, inside, steps[i, 2], named, taken, described[detail])
            stack[top - 1] = _fits(described[detail], inside, masks)
            denoted[i] = stack[top - 1]
        elif operation == UNIQUE:
            if _bits(stack[top - 1]) != 1:
                return -1
            referents[spoken] = _lowest(stack[top - 1])
            spoken += 1
        elif operation == RELATE:
            if choosing:
                related[detail] = int(rng.random() * 4)
            stack[top - 1] = beyond[related[detail], _lowest(stack[top - 1])]
            denoted[i] = stack[top - 1]
            if i == whole:
                stack[top - 1] = present
        elif operation == SAME:
            one = stack[top - 1]
            stack[top - 1] = masks[detail, codes[_lowest(one), detail]] & ~one
            denoted[i] = stack[top - 1]
            if i == whole:
                stack[top - 1] = present
        elif operation == INTERSECT:
            top -= 1
            stack[top - 1] &= stack[top]
        elif operation == UNION:
            top -= 1
            stack[top - 1] |= stack[top]
        elif operation == COUNT:
            denoted[i] = stack[top - 1]
            stack[top - 1] = np.uint64(_bits(stack[top - 1]))
        elif operation == EXIST:
            denoted[i] = stack[top - 1]
            stack[top - 1] = np.uint64(stack[top - 1] != 0)
        elif operation == QUERY:
            stack[top - 1] = np.uint64(codes[_lowest(stack[top - 1]), detail])
        else:
            top -= 1
            left, right = stack[top - 1], stack[top]
            if operation == LESS_THAN:
                stack[top - 1] = np.uint64(left < right)
            elif operation == GREATER_THAN:
                stack[top - 1] = np.uint64(left > right)
            else:
                stack[top - 1] = np.uint64(left == right)
    return int(stack[0])


@njit(cache=True)
def _allowed(subset: int, forbidden: int, named: int, taken: int) -> bool:
    """Whether a description may name this set of attributes."""
    if named >= 0:
        return subset == named
    return not subset & forbidden and not (taken >> subset) & 1


@njit(cache=True)
def _describe_one(
    rng: np.random.Generator,
    k: int,
    codes: np.ndarray,
    masks: np.ndarray,
    inside: np.uint64,
    forbidden: int,
    named: int,
    taken: int,
    described: np.ndarray,
) -> bool:
    """Draw a description that fits exactly one object inside, among all such; False if there is none."""
    seen = 0
    for i in range(k):
        one = np.uint64(1) << np.uint64(i)
        if not inside & one:
            continue
        for subset in range(16):
            if not _allowed(subset, forbidden, named, taken):
                continue
            fits = inside
            for a in range(4):
                if (subset >> a) & 1:
                    fits &= masks[a, codes[i, a]]
            if fits == one:
                seen += 1
                if rng.random() * seen < 1.0:
                    for a in range(4):
                        described[a] = codes[i, a] if (subset >> a) & 1 else NONE
    return seen > 0


@njit(cache=True)
def _describe_set(
    rng: np.random.Generator,
    k: int,
    codes: np.ndarray,
    sizes: np.ndarray,
    inside: np.uint64,
    forbidden: int,
    named: int,
    taken: int,
    described: np.ndarray,
) -> None:
    """Draw a description of a set: of some object inside, of some object of the scene, or of nothing there."""
    subset = int(rng.random() * 16)
    while not _allowed(subset, forbidden, named, taken):
        subset = int(rng.random() * 16)
    kind = rng.random()
    i = int(rng.random() * k)
    if kind < 0.6 and inside:
        while not (inside >> np.uint64(i)) & np.uint64(1):
            i = int(rng.random() * k)
    for a in range(4):
        described[a] = codes[i, a] if (subset >> a) & 1 else NONE
    if kind > 0.85 and subset:
        a = int(rng.random() * 4)
        while not (subset >> a) & 1:
            a = int(rng.random() * 4)
        described[a] = int(rng.random() * sizes[a])


LARGEST_SHARE = 1.1
"""How much more frequent the most frequent answer of a family may be than the second."""
PASSES = 5
"""How often all scenes are gone through while questions are missing; the last time any question will do."""
SLACK = 5
"""Questions per answer that are not held against it."""


def balance(found: Found, each: int) -> np.ndarray:
    """Choose up to `each` questions per scene: rare families first, and no answer far ahead of the others.

    The scenes are gone through in order, so the choice does not depend on how they were searched: int[chosen rows].
    """
    families = int(found.family.max(initial=0)) + 1
    chosen = _balance(found.scene, found.family.astype(np.int64), found.answer.astype(np.int64), families, each)
    return np.flatnonzero(chosen)


@njit(cache=True)
def _balance(scene: np.ndarray, family: np.ndarray, answer: np.ndarray, families: int, each: int) -> np.ndarray:
    chosen = np.zeros(len(scene), np.bool_)
    used = np.zeros(families)
    said = np.zeros((families, 256))
    for turn in range(PASSES):
        missing = _balance_once(scene, family, answer, each, chosen, used, said, turn == PASSES - 1)
        if not missing:
            break
    return chosen


@njit(cache=True)
def _balance_once(
    scene: np.ndarray,
    family: np.ndarray,
    answer: np.ndarray,
    each: int,
    chosen: np.ndarray,
    used: np.ndarray,
    said: np.ndarray,
    anything: bool,
) -> int:
    """One pass over all scenes; what was refused early may be welcome later, and `anything` in the end.

    Returns how many questions are missing.
    """
    start, missing = 0, 0
    while start < len(scene):
        end = start
        kept = 0
        while end < len(scene) and scene[end] == scene[start]:
            kept += chosen[end]
            end += 1
        for place in np.argsort(used[family[start:end]], kind="mergesort"):
            q = start + place
            if kept == each:
                break
            if not chosen[q] and (anything or _welcome(said[family[q]], answer[q])):
                chosen[q] = True
                used[family[q]] += 1
                said[family[q], answer[q]] += 1
                kept += 1
        missing += each - kept
        start = end
    return missing


@njit(cache=True)
def _welcome(said: np.ndarray, answer: int) -> bool:
    """Whether one more of this answer keeps it within reach of the others."""
    others = 0.0
    for a in range(len(said)):
        if a != answer and said[a] > others:
            others = said[a]
    return said[answer] + 1 <= max(LARGEST_SHARE * others, others + 1, SLACK)


def share(found: Found, codes: tuple[np.ndarray, ...], each: int, key: Key) -> np.ndarray:
    """Choose `each` questions of every family at random, with its answers in equal parts: int[chosen rows].

    `codes` holds the answers of each family. Where an answer is too rare, the others fill its place.
    """
    chosen: list[np.ndarray] = []
    rng = key.rng()
    for f, answers in enumerate(codes):
        rows = np.flatnonzero(found.family == f)
        by_answer = [rows[found.answer[rows] == a] for a in rng.permutation(answers)]  # no answer has the first claim
        quota = _quotas(np.array([len(r) for r in by_answer]), each)
        chosen += [rng.permutation(r)[:n] for r, n in zip(by_answer, quota)]
    return np.sort(np.concatenate(chosen))


def _quotas(there: np.ndarray, wanted: int) -> np.ndarray:
    """Equal parts of `wanted`, as far as there is enough of each."""
    quota = np.zeros(len(there), np.int64)
    for _ in range(min(wanted, int(there.sum()))):
        open_ = np.flatnonzero(quota < there)
        quota[open_[np.argmin(quota[open_])]] += 1
    return quota
