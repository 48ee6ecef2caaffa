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
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.families import Family
from recombine.benchmarks.clevr.language import CLEVR, DIRECTIONS, Dialect, Facet, Speech, dialect_of
from recombine.benchmarks.clevr.relations import all_beyond, in_all
from recombine.benchmarks.clevr.shapes import Description, Filling
from recombine.language.expr import Expr
from recombine.solvers.programs import ACTS
from recombine.store.compiled import compiled
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.loops import copy, permutation
from recombine.world.scenes import Scenes

OPERATIONS = (*("describe" if act == "filter" else act for act in ACTS), "link")
SCENE, DESCRIBE, UNIQUE, RELATE, SAME, INTERSECT, UNION = range(7)
COUNT, EXIST, QUERY, EQUAL, EQUAL_INTEGER, LESS_THAN, GREATER_THAN, LINK = range(7, 15)
NONE = 255
"""An attribute that a description does not name."""
MOST_SLOTS, MOST_RELATIONS, MOST_REFERENTS, MOST_STEPS = 5, 4, 4, 24
MOST_COUNT = 10
MOST_THINGS = 63
MOST_FACETS = 12


class Code(NamedTuple):
    """A family as operations."""

    steps: np.ndarray  # int64[steps, 4]: operation, slot or facet or link, describes one thing, sort of things
    allowed: np.ndarray  # bool[slots, sets of facets as bits]: what each description may name
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
    described: np.ndarray  # uint8[q, slots, facets]: codes of words, NONE where not named
    related: np.ndarray  # uint8[q, relations]: directions
    referents: np.ndarray  # uint8[q, referents]: the objects that are spoken of one by one, NONE for none

    def rows(self, index: np.ndarray | slice) -> "Found":
        return Found(*(column[index] for column in self))


def facets_of(dialect: Dialect) -> tuple[tuple[str, Facet], ...]:
    """All that can be said of things, with the letter of their sort: the columns of descriptions."""
    return tuple((sort.letter, facet) for sort in dialect.sorts for facet in sort.facets)


@lru_cache(maxsize=512)
def code_of(family: Family, counts: tuple[int, int]) -> Code:
    """Compile a family."""
    compiler = _Compiler(family)
    compiler.visit(family.shape)
    places = compiler.places
    first, second = (places[slot] for slot in family.apart) if family.apart else (-1, -1)
    rows = [slot for slot in family.slots if slot[0] in family.dialect.by_letter]
    related = len(family.slots) - len(rows)
    if len(rows) > MOST_SLOTS or related > MOST_RELATIONS or len(compiler.steps) > MOST_STEPS:
        raise UserError(f"{family} is too long: at most {MOST_SLOTS} descriptions and {MOST_RELATIONS} relations")
    allowed = np.array([_allowed(family, slot, slot == rows[-1]) for slot in rows])
    if not allowed.any(axis=1).all():
        raise UserError(f"{family}: nothing is left that a description may name; add an attribute")
    return Code(np.array(compiler.steps, np.int64), allowed, (first, second), _answers(family, counts))


class _Compiler:
    """Writes down the steps of a family, arguments first."""

    def __init__(self, family: Family) -> None:
        self.dialect = family.dialect
        self.rows = [slot for slot in family.slots if slot[0] in self.dialect.by_letter]
        self.facets = [(letter, facet.attribute) for letter, facet in facets_of(self.dialect)]
        self.steps: list[tuple[int, int, int, int]] = []
        self.places: dict[str, int] = {}

    def visit(self, shape: Expr, single: bool = False) -> None:
        head = shape.head
        act = act_of(head.family, self.dialect)
        for arg in shape.args:
            self.visit(arg, act == "unique")
        sorts = self.dialect.sorts
        if act == "describe":
            place, sort = head.family, sorts.index(self.dialect.by_letter[head.family[0]])
            step = (DESCRIBE, self.rows.index(head.family), int(single), sort)
        elif act == "relate":
            place, step = head.index[0], (RELATE, int(head.index[0][1:]) - 1, 0, 0)
        elif act in ("same", "query"):
            place = f"A{1 + sum(key[0] == 'A' for key in self.places)}" * (act == "same")
            letter = self.dialect.by_symbol[head.family].letter
            step = (OPERATIONS.index(act), self.facets.index((letter, head.index[0])), 0, 0)
        else:
            place, link = "", links_of(self.dialect).index(head.family) if act == "link" else 0
            step = (OPERATIONS.index(act), link, 0, 0)
        if place:
            self.places[place] = len(self.steps)
        self.steps.append(step)


def act_of(family: str, dialect: Dialect) -> str:
    """What a symbol of this family does while questions are searched or run."""
    if family[0] in dialect.by_letter:
        return "describe"
    sort = dialect.by_symbol.get(family)
    act = dialect.acts.get(family) or (family.removeprefix(sort.prefix) if sort else family)
    if act not in (*OPERATIONS, "filter"):
        raise UserError(f"the dialect does not say what {family} does: name one of CLEVR's functions, or link, in acts")
    return act


def links_of(dialect: Dialect) -> tuple[str, ...]:
    """The families that lead from things to others, in the order of `Looked.links`."""
    return tuple(family for family, act in dialect.acts.items() if act == "link")


def _allowed(family: Family, slot: str, outermost: bool) -> np.ndarray:
    """Which sets of facets a description may name: bool[sets as bits]. An attribute is named once, if at all."""
    facets = facets_of(family.dialect)
    forbidden = {attribute for other, attribute in family.unnamed if other == slot}
    taken = {frozenset(names) for names in family.taken} if outermost else set()
    found = []
    for chosen in product((False, True), repeat=len(facets)):
        said = [facet for facet, is_in in zip(facets, reversed(chosen)) if is_in]
        names = frozenset(facet.attribute for _, facet in said)
        fits = len(names) == len(said) and all(letter == slot[0] for letter, _ in said)
        if outermost and family.outer is not None:
            found.append(fits and names == frozenset(family.outer))
        else:
            found.append(fits and not names & forbidden and names not in taken)
    return np.array(found)


def _answers(family: Family, counts: tuple[int, int]) -> np.ndarray:
    """The answers that a family may have, as numbers: no and yes are 0 and 1, values are codes."""
    kind = family.shape.head.out
    return np.arange(counts[0], counts[1] + 1) if kind == "number" else np.arange(len(family.dialect.answers[kind]))


class Looked(NamedTuple):
    """Scenes as the loops want them. Things are objects first; further sorts may follow."""

    spans: np.ndarray  # int64[n, sorts, 2]: the place of the first thing of each sort, and how many there are
    codes: np.ndarray  # uint8[n, things, facets]
    beyond: np.ndarray  # mask[n, directions, things]
    links: np.ndarray  # mask[n, links, things]: where each link leads


def look(scenes: Scenes, speech: Speech = CLEVR) -> Looked:
    """Codes and relations of the objects, side by side."""
    beyond = all_beyond(scenes)
    columns = []
    for facet in dialect_of(speech).objects.facets:
        words = np.full(256, NONE, np.uint8)
        words[: len(facet.codes)] = facet.codes
        columns.append(words[scenes.codes[facet.attribute]])
    return Looked(
        np.stack([np.zeros(len(scenes), np.int64), scenes.count], axis=1)[:, None],
        np.stack(columns, axis=2),
        np.stack([in_all(beyond, way) for way in dialect_of(speech).directions], axis=1).astype(np.uint64),
        np.zeros((len(scenes), 0, scenes.places), np.uint64),
    )


def search(
    scenes: Scenes,
    families: Sequence[Family],
    each: int,
    key: Key,
    rules: Rules | None = None,
    looked: Looked | None = None,
    likely: bool = False,
) -> Found:
    """Up to `each` questions per scene, of as many different families, drawn at random.

    `likely`: a question for an attribute wants only answers that some thing of the scene gives, which saves time where
    there are many answers.
    """
    rules, dialect = rules or Rules(), families[0].dialect
    _check(scenes, dialect)
    facets = facets_of(dialect)
    codes = [code_of(family, rules.counts) for family in families]
    steps = np.full((len(codes), MOST_STEPS, 4), -1, np.int64)
    answers = np.full((len(codes), max(len(code.answers) for code in codes)), -1, np.int64)
    allowed = np.zeros((len(codes), MOST_SLOTS, 1 << len(facets)), bool)
    for f, code in enumerate(codes):
        steps[f, : len(code.steps)] = code.steps
        answers[f, : len(code.answers)] = code.answers
        allowed[f, : len(code.allowed)] = code.allowed
    apart = np.array([code.apart for code in codes], np.int64)
    strict = np.array([rules.strict or family.name == "single_and" for family in families])
    room = len(scenes) * each
    found = Found(
        np.zeros(room, np.int32),
        np.zeros(room, np.int16),
        np.zeros(room, np.uint8),
        np.full((room, MOST_SLOTS, len(facets)), NONE, np.uint8),
        np.full((room, MOST_RELATIONS), NONE, np.uint8),
        np.full((room, MOST_REFERENTS), NONE, np.uint8),
    )
    lengths = np.array([len(code.steps) for code in codes])
    sizes = np.array([len(facet.words) for _, facet in facets])
    seen = looked or look(scenes, dialect)
    last = steps[np.arange(len(codes)), lengths - 1]
    asked = np.where(likely & (last[:, 0] == QUERY), last[:, 1], -1)
    demands = (steps, lengths, answers, asked, allowed, apart, strict)
    made = _search(key.rng(), *seen, sizes, *demands, each, rules.tries, *found)
    return found.rows(slice(0, made))


def _check(scenes: Scenes, dialect: Dialect) -> None:
    vocabulary, sort = scenes.vocabulary, dialect.objects
    missing = [name for name in sort.attributes if vocabulary.by_name.get(name) != sort.vocabulary[name]]
    if missing:
        raise UserError(
            f"these questions need the attributes {', '.join(sort.attributes)}, each with its values, and the scenes "
            f"have another {missing[0]} or none; take clevr_families(scenes.vocabulary)"
        )
    if scenes.places > MOST_THINGS:
        raise UserError(f"questions are for scenes of at most {MOST_THINGS} objects, not {scenes.places}")
    if len(facets_of(dialect)) > MOST_FACETS:
        raise UserError(f"questions speak of at most {MOST_FACETS} attributes and kinds of categories")


def distinct(several: Sequence[Found], as_found: bool = False) -> Found:
    """The questions of several searches of the same scenes together, each once, in the order of the scenes.

    Those of one scene are in the order of their families, or `as_found`.
    """
    found = Found(*(np.concatenate(columns) for columns in zip(*several)))
    n = len(found.scene)
    names = np.concatenate(
        [c.reshape(n, prod(c.shape[1:])) for c in (found.scene, found.family, found.described, found.related)], axis=1
    )
    first = np.unique(names, axis=0, return_index=True)[1]
    if as_found:
        first = np.sort(first)
        first = first[np.argsort(found.scene[first], kind="stable")]
    return found.rows(first)


def filling(family: Family, described: np.ndarray, related: np.ndarray) -> Filling:
    """The slots of one question, in words."""
    facets = [facet for _, facet in facets_of(family.dialect)]
    rows = iter(described.tolist())
    found: Filling = {}
    for slot in family.slots:
        if slot[0] == "R":
            found[slot] = DIRECTIONS[related[int(slot[1:]) - 1]]
            continue
        said = ((facet, code) for facet, code in zip(facets, next(rows)) if code != NONE)
        found[slot] = Description(**{facet.attribute: facet.words[code] for facet, code in said})
    return found


@compiled
def _search(
    rng: np.random.Generator,
    spans: np.ndarray,
    codes: np.ndarray,
    beyond: np.ndarray,
    links: np.ndarray,
    sizes: np.ndarray,
    steps: np.ndarray,
    lengths: np.ndarray,
    answers: np.ndarray,
    asked: np.ndarray,
    allowed: np.ndarray,
    apart: np.ndarray,
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
    masks = np.zeros((len(sizes), 256), np.uint64)
    denoted = np.zeros(MOST_STEPS, np.uint64)
    described = np.full((MOST_SLOTS, len(sizes)), NONE, np.uint8)
    related = np.full(MOST_RELATIONS, NONE, np.uint8)
    referents = np.full(MOST_REFERENTS, NONE, np.uint8)
    options = np.empty(answers.shape[1], np.int64)
    for scene in range(len(codes)):
        there, code, far, link = spans[scene], codes[scene], beyond[scene], links[scene]
        _fill_masks(code, there, masks)
        kept = 0
        for f in permutation(rng, families):
            if kept == each:
                break
            several = 0
            for answer in answers[f]:
                if answer >= 0 and (asked[f] < 0 or masks[asked[f], answer] != 0):
                    options[several] = answer
                    several += 1
            done = False
            for choice in permutation(rng, several):
                wanted = options[choice]
                for _ in range(tries):
                    described[:] = NONE
                    related[:] = NONE
                    referents[:] = NONE
                    said = _pass(
                        rng, there, code, far, link, sizes, masks, steps[f], lengths[f], allowed[f],
                        described, related, referents, denoted, True, -1,
                    )  # fmt: skip
                    if said != wanted:
                        continue
                    if apart[f, 0] >= 0 and denoted[apart[f, 0]] == denoted[apart[f, 1]]:
                        continue
                    if strict[f] and _degenerate(
                        rng, there, code, far, link, sizes, masks, steps[f], lengths[f], allowed[f],
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
                for slot in range(len(described)):
                    copy(described[slot], out_described[made, slot])
                copy(related, out_related[made])
                copy(referents, out_referents[made])
                made += 1
                kept += 1
    return made


@compiled
def _fill_masks(codes: np.ndarray, spans: np.ndarray, masks: np.ndarray) -> None:
    """The things of which each word is true."""
    masks[:] = 0
    for first, count in spans:
        for i in range(first, first + count):
            for a in range(codes.shape[1]):
                masks[a, codes[i, a]] |= np.uint64(1) << np.uint64(i)


@compiled
def _fits(described: np.ndarray, inside: np.uint64, masks: np.ndarray) -> np.uint64:
    """The things of a set that a description is true of."""
    for a in range(len(described)):
        if described[a] != NONE:
            inside &= masks[a, described[a]]
    return inside


@compiled
def _bits(mask: np.uint64) -> int:
    n = 0
    while mask:
        mask &= mask - np.uint64(1)
        n += 1
    return n


@compiled
def _lowest(mask: np.uint64) -> int:
    i = 0
    while not (mask >> np.uint64(i)) & np.uint64(1):
        i += 1
    return i


@compiled
def _degenerate(
    rng: np.random.Generator,
    spans: np.ndarray,
    codes: np.ndarray,
    beyond: np.ndarray,
    links: np.ndarray,
    sizes: np.ndarray,
    masks: np.ndarray,
    steps: np.ndarray,
    length: int,
    allowed: np.ndarray,
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
                rng, spans, codes, beyond, links, sizes, masks, steps, length, allowed,
                described, related, scratch, denoted, False, i,
            )  # fmt: skip
            if again == said and _same_sets(steps, length, before, denoted):
                return True
    return False


@compiled
def _same_sets(steps: np.ndarray, length: int, before: np.ndarray, after: np.ndarray) -> bool:
    """Whether every set that is counted or looked for is the same."""
    for i in range(length):  # noqa: SIM110
        if (steps[i, 0] == COUNT or steps[i, 0] == EXIST) and before[i] != after[i]:
            return False
    return True


@compiled
def _pass(
    rng: np.random.Generator,
    spans: np.ndarray,
    codes: np.ndarray,
    beyond: np.ndarray,
    links: np.ndarray,
    sizes: np.ndarray,
    masks: np.ndarray,
    steps: np.ndarray,
    length: int,
    allowed: np.ndarray,
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
    present = (np.uint64(1) << np.uint64(spans[0, 1])) - np.uint64(1)
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
                if steps[i, 2]:
                    if not _describe_one(rng, codes, sizes, masks, inside, allowed[detail], described[detail]):
                        return -1
                else:
                    first, count = spans[steps[i, 3]]
                    _describe_set(rng, first, count, codes, sizes, inside, allowed[detail], described[detail])
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
        elif operation == LINK:
            stack[top - 1] = _led_to(stack[top - 1], links[detail])
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


@compiled
def _led_to(things: np.uint64, link: np.ndarray) -> np.uint64:
    """All that a link leads to from some things."""
    found = np.uint64(0)
    while things:
        found |= link[_lowest(things)]
        things &= things - np.uint64(1)
    return found


@compiled
def _describe_one(
    rng: np.random.Generator,
    codes: np.ndarray,
    sizes: np.ndarray,
    masks: np.ndarray,
    inside: np.uint64,
    allowed: np.ndarray,
    described: np.ndarray,
) -> bool:
    """Draw a description that fits exactly one thing inside, among all such; False if there is none."""
    seen, used = 0, 0
    for subset in range(len(allowed)):
        used |= subset * allowed[subset]
    fits = np.empty(len(allowed), np.uint64)  # by the facets that are used, in the order of all sets of them
    sets = np.zeros(len(allowed), np.int64)
    for i in range(len(codes)):
        one = np.uint64(1) << np.uint64(i)
        if not inside & one:
            continue
        many, fits[0] = 1, inside
        for a in range(codes.shape[1]):
            if not (used >> a) & 1:
                continue
            alike = masks[a, codes[i, a]] if codes[i, a] < sizes[a] else np.uint64(0)
            for fewer in range(many):
                fits[fewer + many], sets[fewer + many] = fits[fewer] & alike, sets[fewer] + (1 << a)
            many *= 2
        for place in range(many):
            subset = sets[place]
            if allowed[subset] and fits[place] == one:
                seen += 1
                if rng.random() * seen < 1.0:
                    for a in range(codes.shape[1]):
                        described[a] = codes[i, a] if (subset >> a) & 1 else NONE
    return seen > 0


@compiled
def _describe_set(
    rng: np.random.Generator,
    first: int,
    count: int,
    codes: np.ndarray,
    sizes: np.ndarray,
    inside: np.uint64,
    allowed: np.ndarray,
    described: np.ndarray,
) -> None:
    """Draw a description of a set: of some thing inside, of some thing of the scene, or of nothing there."""
    subset = int(rng.random() * len(allowed))
    while not allowed[subset]:
        subset = int(rng.random() * len(allowed))
    kind = rng.random()
    i = first + int(rng.random() * count)
    if kind < 0.6 and inside:
        while not (inside >> np.uint64(i)) & np.uint64(1):
            i = first + int(rng.random() * count)
    for a in range(len(sizes)):
        described[a] = codes[i, a] if (subset >> a) & 1 else NONE
    if kind > 0.85 and subset:
        a = int(rng.random() * len(sizes))
        while not (subset >> a) & 1:
            a = int(rng.random() * len(sizes))
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


@compiled
def _balance(scene: np.ndarray, family: np.ndarray, answer: np.ndarray, families: int, each: int) -> np.ndarray:
    chosen = np.zeros(len(scene), np.bool_)
    used = np.zeros(families)
    said = np.zeros((families, 256))
    for turn in range(PASSES):
        missing = _balance_once(scene, family, answer, each, chosen, used, said, turn == PASSES - 1)
        if not missing:
            break
    return chosen


@compiled
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
        for q in _rarest_first(family, start, end, used):
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


@compiled
def _rarest_first(family: np.ndarray, start: int, end: int, used: np.ndarray) -> np.ndarray:
    """The rows from start to end by how often their family was used, as they come where that is the same."""
    order = np.arange(start, end)
    for i in range(1, len(order)):
        row, at = order[i], i
        while at > 0 and used[family[order[at - 1]]] > used[family[row]]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = row
    return order


@compiled
def _welcome(said: np.ndarray, answer: int) -> bool:
    """Whether one more of this answer keeps it within reach of the others."""
    others = 0.0
    for a in range(len(said)):
        if a != answer and said[a] > others:
            others = said[a]
    return said[answer] + 1 <= max(LARGEST_SHARE * others, others + 1, SLACK)


def share(found: Found, codes: Sequence[np.ndarray], wanted: Sequence[int], key: Key) -> np.ndarray:
    """Choose so many questions of every family at random, with its answers in equal parts: int[chosen rows].

    `codes` holds the answers of each family. Where an answer is too rare, the others fill its place.
    """
    chosen: list[np.ndarray] = []
    rng = key.rng()
    for f, (answers, number) in enumerate(zip(codes, wanted)):
        rows = np.flatnonzero(found.family == f)
        by_answer = [rows[found.answer[rows] == a] for a in rng.permutation(answers)]  # no answer has the first claim
        quota = _quotas(np.array([len(r) for r in by_answer]), number)
        chosen += [rng.permutation(r)[:n] for r, n in zip(by_answer, quota)]
    return np.sort(np.concatenate(chosen))


def _quotas(there: np.ndarray, wanted: int) -> np.ndarray:
    """Equal parts of `wanted`, as far as there is enough of each."""
    quota = np.zeros(len(there), np.int64)
    for _ in range(min(wanted, int(there.sum()))):
        open_ = np.flatnonzero(quota < there)
        quota[open_[np.argmin(quota[open_])]] += 1
    return quota
