"""CURI in the explorer: episodes to answer, concepts to write in infix or English, scenes to see and hear."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from recombine.benchmarks.curi.english import english
from recombine.benchmarks.curi.english_reading import read_concept
from recombine.benchmarks.curi.episode_card import heard
from recombine.benchmarks.curi.exam import piece
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.media import IMAGE
from recombine.benchmarks.curi.pages import concept_table, hypotheses_of, objects_of
from recombine.benchmarks.curi.space import interesting
from recombine.benchmarks.curi.spelling import Speller, infix, postfix
from recombine.benchmarks.curi.study import Curi
from recombine.benchmarks.exploring import (
    Group,
    Hypothesis,
    Reading,
    SceneCard,
    Shot,
    Solution,
    TracedExplorer,
    page_of,
)
from recombine.language.expr import Expr, subterms
from recombine.render.schematic import phrases
from recombine.render.sound import Voicing, described, sounds
from recombine.render.wave import to_wav
from recombine.report.table import Table
from recombine.semantics.fold import fold
from recombine.semantics.table import Census
from recombine.solvers.sitting import Answering
from recombine.tasks.episodes import Episodes
from recombine.tasks.examples import Examples
from recombine.world.scenes import Scenes

HYPOTHESES = 8
SYNONYMS = 12
WORDS = ("and", "or", "not", "exists", "for_all", "all", "any", "count")
"""What a split of one's own may ask for, beside values and properties."""


class CuriExplorer(TracedExplorer):
    """What people can do with CURI."""

    study: Curi
    seen = ("pictures", "sounds")
    heard = heard()
    pixels = IMAGE
    close = 3 * IMAGE[0], 3 * IMAGE[1]
    thinker = "enumeration"
    whom: ClassVar[Mapping[str, str]] = {
        **TracedExplorer.whom,
        thinker: "is taught nothing and weighs all that the grammar can say",
    }
    languages: ClassVar[Mapping[str, str]] = {
        "English": "there is an object x such that x is blue and all other objects are cubes",
        "infix": "exists x in S and(=(color?(x), blue), all(shape?(S_{-x}), cube))",
        "and": "there is an object x such that x is red and x is a cube",
        "or": "all objects are metal or some object is in row 2",
        "not": "not all objects are small",
        "count": "the number of objects that are metal equals 3",
        "more than": "the number of objects that are red is greater than the number of objects that are blue",
    }

    @property
    def splits(self) -> Sequence[tuple[str, str, str]]:
        return [(split.name, split.title, split.about) for split in self.study.study.splits.values()]

    @property
    def scenes(self) -> int:
        return self.study.study.setup.scale.scenes

    def tables(self) -> Sequence[Table]:
        return [self.study.list(), concept_table(self.study.study, 12)]

    def about(self, split: str) -> str:
        return "A hidden concept holds in the first scenes and not in the others. In which of the rest does it hold?"

    def whole(self, split: str) -> Examples:
        """All test episodes, without the large set of scenes."""
        if split not in self._pieces:
            self.exam(split)
            self._pieces[split] = piece(self.study.study, self._episodes(split), queries_only=True)
        return self._pieces[split]

    def _episodes(self, split: str) -> Episodes:
        return self.study.study.episodes(split, "test", "hard")

    def shot(self, examples: Examples, row: int) -> Shot:
        return self._shot(int(examples.scene[row]))

    def _shot(self, number: int) -> Shot:
        batch, place = self.study.study.scene(number)
        return Shot(number, "; ".join(phrases(batch.objects(place))))

    def choices(self, examples: Examples, row: int) -> tuple[str, ...]:
        return ("yes", "no")

    def solution(self, split: str, number: int, others: Mapping[str, Answering] | None = None) -> Solution:
        found, study = super().solution(split, number, others), self.study.study
        episodes = self._episodes(split)
        concept, size = study.space.concepts[episodes.concept[number]], episodes.size
        shown = episodes.scene[number][:size], episodes.label[number][:size]
        listed, total = hypotheses_of(study, split, "hard", *shown, HYPOTHESES, int(episodes.concept[number]))
        hypotheses = tuple(
            Hypothesis(one.text, one.english, one.probability, one.known_to_weak, one.true, one.spellings)
            for one in listed
        )
        return Solution(found.answers, found.said, english(concept), infix(concept), hypotheses, total)

    # --- writing

    @cached_property
    def _meaning(self) -> Exact:
        return Exact(self.study.study.scenes, self.study.study.setup.lot)

    def read(self, text: str, first: int = 0) -> Reading:
        study = self.study.study
        concept = read_concept(text, Speller(study.setup.lot))
        holds = np.broadcast_to(np.asarray(fold(concept, self._meaning, {}), bool), (self.scenes,))
        places = np.flatnonzero(holds), np.flatnonzero(~holds)
        groups = tuple(
            Group(label, len(some), tuple(map(self._shot, page_of(some, first))))
            for label, some in zip(("holds", "does not hold"), places)
        )
        same = self._synonyms(places[0])
        forms = (("English", english(concept)), ("infix", infix(concept)), ("postfix", postfix(concept)))
        texts = tuple(english(study.space.concepts[i]) for i in same[:SYNONYMS])
        split = " & ".join(words_of(concept))
        files = (("mine.txt", infix(concept) + "\n"), ("mine.split", f"mine={split}\n"))
        commands = (
            "recombine check curi --concepts mine.txt",
            'recombine gap curi --split mine --hold-out "$(cat mine.split)"',
        )
        notes = self._notes(concept, len(places[0]), same)
        return Reading(forms, groups, self.scenes, notes, texts, len(same), files, commands)

    def _synonyms(self, holds: np.ndarray) -> list[int]:
        """The known concepts that are true on exactly these scenes."""
        study = self.study.study
        alike = np.flatnonzero(study.table.count == len(holds))
        if not len(alike) or not len(holds):
            return []
        senses = alike[study.table.senses_of(holds)[:, alike].all(axis=0)]
        found: list[int] = np.flatnonzero(np.isin(study.space.sense, senses)).tolist()
        return found

    def _notes(self, concept: Expr, count: int, same: Sequence[int]) -> tuple[str, ...]:
        study = self.study.study
        edition, share = study.setup.edition, count / self.scenes
        usual = bool(interesting(Census(np.array([count]), np.zeros((1, 1), np.uint64)), self.scenes, edition)[0])
        rarity = "as rare as the benchmark's own concepts" if usual else "not one that the benchmark would keep"
        held = [s.name for s in study.splits.values() if not s.shuffled and s.test is not s.train and s.test(concept)]
        rarer = np.mean(study.space.count < count)
        notes = [f"True on {count:,} of {self.scenes:,} scenes ({100 * share:.2f} %): {rarity}."]
        notes.append(f"{100 * rarer:.0f} % of the {len(study.space):,} known concepts are rarer.")
        if concept in study.space.concepts:
            notes.append("It is one of them.")
        notes.append(f"Held out by: {', '.join(held)}." if held else "No split holds it out.")
        return tuple(notes)

    # --- looking and listening

    @property
    def _first_bin(self) -> int:
        study = self.study.study
        return int(getattr(study.world, "first_bin", study.setup.edition.first_bin))

    def _alone(self, number: int) -> Scenes:
        batch, place = self.study.study.scene(self.numbered(number))
        return batch[place : place + 1]

    def scene(self, number: int) -> SceneCard:
        alone = self._alone(number)
        parts, plays = self.outlined(alone), described(alone, 0, Voicing(self._first_bin))
        names = tuple(part.name for part in parts)
        return SceneCard(number, names, self.close, parts, objects_of(alone, 0), plays)

    def sound(self, number: int) -> bytes:
        return to_wav(sounds(self._alone(number), Voicing(self._first_bin))[0])


def words_of(concept: Expr) -> list[str]:
    """The words of a concept as a split of one's own may ask for them."""
    found: dict[str, None] = {}
    for part in subterms(concept):
        family, index = part.head.family.rstrip("_"), part.head.index
        if family == "const":
            found[index[-1]] = None
        elif family in WORDS:
            found[family] = None
    return list(found)
