"""Editions: every choice in which the CURI papers and the released code differ, as one frozen value.

A third edition takes the release's episodes and puts oracles beside them that leave nothing out which they may know.
"""

from dataclasses import dataclass, replace
from typing import Literal

from recombine.store.errors import UserError


@dataclass(frozen=True)
class Nesting:
    """How deep a derivation may go: the number of the start, the deepest number, and whether words count as a level."""

    start: int
    deepest: int
    words_count: bool

    @property
    def levels(self) -> int:
        """How many levels of nonterminals fit."""
        return self.deepest - self.start + (0 if self.words_count else 1)


@dataclass(frozen=True)
class Edition:
    """What decides CURI's concepts, episodes and oracles. Each field is one row of the README's table."""

    name: str
    prior: Literal["length", "grammar"]
    """The oracle's prior: exp(-0.2 l(h)), or the probability of the concept under the grammar."""
    likelihood: Literal["consistent", "size", "drawn"]
    """What a consistent concept that accepts C of N scenes weighs beside its prior: the same as any other; in hard mode
    (N - C)^-25; or the chance that drawing positives and negatives for it gives the support set that is shown."""
    query_negatives: Literal["rivals", "random"]
    """Hard negatives of the query set: from rivals as in the support set, or random non-positives."""
    test_episodes: int
    nesting: Nesting
    first_bin: int
    """The number of the leftmost and topmost location bin; the constants are 1 to 8 in any case."""
    longest_simple: int
    """Complexity: training concepts have at most this many tokens."""
    mixed_binding: Literal["test", "drop"]
    """Binding: where concepts with both held-in and held-out values go."""
    at_most_share: bool
    """Filter: a concept may be true on exactly 10 % of the scenes (else strictly fewer)."""
    fewest_scenes: int
    """Filter: a concept is true on at least this many scenes."""
    auxiliary: Literal["prefix", "postfix"]
    """The spelling that the concept decoder learns."""
    relation_norm: bool
    """Batch normalisation in the relation network's g."""
    easy_negatives: Literal["anywhere", "block"]
    """Easy negatives: any scenes, or with replacement from one block of 5,000; relabelled in both cases."""
    easy_consistency: Literal["labels", "candidates"]
    """Easy mode: what an oracle's concepts must agree with. With the labels as shown; or with the negatives as
    they were drawn, before any was relabelled, except for the concept of the episode itself, which is always kept."""


PAPER = Edition(
    name="paper",
    prior="length",
    likelihood="consistent",
    query_negatives="rivals",
    test_episodes=20_000,
    nesting=Nesting(start=1, deepest=6, words_count=True),
    first_bin=1,
    longest_simple=10,
    mixed_binding="test",
    at_most_share=True,
    fewest_scenes=10,
    auxiliary="prefix",
    relation_norm=True,
    easy_negatives="anywhere",
    easy_consistency="labels",
)

RELEASE = Edition(
    name="release",
    prior="grammar",
    likelihood="size",
    query_negatives="random",
    test_episodes=12_500,
    nesting=Nesting(start=0, deepest=4, words_count=False),
    first_bin=0,
    longest_simple=9,
    mixed_binding="drop",
    at_most_share=False,
    fewest_scenes=11,
    auxiliary="postfix",
    relation_norm=False,
    easy_negatives="block",
    easy_consistency="candidates",
)

IDEAL = replace(RELEASE, name="ideal", prior="length", likelihood="drawn", easy_consistency="labels")
"""The episodes of the release, and oracles that know how they are made: see docs/decisions/030-ideal-edition.md."""

EDITIONS = {edition.name: edition for edition in (PAPER, RELEASE, IDEAL)}


def edition(name: str) -> Edition:
    """The edition of this name."""
    if name not in EDITIONS:
        raise UserError(f"there is no edition '{name}'; choose one of {', '.join(EDITIONS)}")
    return EDITIONS[name]
