"""Samples: the images of an experiment, each verified, of one class only, and on one side only.

Every drawn object is checked by the batch meaning, which knows nothing of plans; every image is recognised as its own
class and as no other; no image occurs twice in an experiment.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from recombine.benchmarks.concept_world.classes import Classes, extension_of
from recombine.benchmarks.concept_world.definition import Grid, Line
from recombine.benchmarks.concept_world.extension import Drawn, Extension, join
from recombine.benchmarks.concept_world.meaning import Batch, Exact
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.key import Key

LISTED = 10
"""Extensions of up to so many times the images that are asked for are listed and dealt; from larger ones is drawn."""
ROUNDS = 200
"""Batches of draws after which an extension counts as used up."""
MOST_ASKED = 200_000
"""Images that may be asked for at once, on a grid of 32 by 32."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The images of one line: fewer than asked for where there are no more."""

    line: Line
    extension: Extension
    drawn: Drawn
    images: np.ndarray  # uint8[n, height, width]

    def objects(self) -> list[str]:
        """Every object as nested lists of its points' numbers, in JSON."""
        texts = [json.dumps(plan.structure) for plan in self.extension.plans]
        return [texts[i] for i in self.drawn.plan]

    def derivations(self) -> list[str]:
        texts = [repr(plan.derivation) for plan in self.extension.plans]
        return [texts[i] for i in self.drawn.plan]


def verified(extension: Extension, drawn: Drawn) -> np.ndarray:
    """Which objects satisfy the concept, as the batch meaning says, bool[n]."""
    good = np.zeros(drawn.size, bool)
    for i in np.unique(drawn.plan):
        rows, plan = np.flatnonzero(drawn.plan == i), extension.plans[i]
        columns = (column[rows, : plan.points] for column in (drawn.x, drawn.y, drawn.color))
        good[rows] = Exact(extension.library, Batch(plan.structure, *columns)).holds(extension.name)
    return good


@dataclass(eq=False)
class Sampler:
    """Makes the samples of one experiment, line by line."""

    classes: Classes
    key: Key
    taken: set[bytes] = field(default_factory=set)

    def sample(self, line: Line, key: Key) -> Sample:
        """So many new images of a line, or all that are left."""
        need_room(line.count, self.classes.library.grid, f"{line.place}: ")
        extension = extension_of(self.classes.library, line)
        extension.need_plans()
        if extension.too_many:
            raise UserError(
                f"{line.place}: '{line.concept}' has too many alternatives for an experiment; narrow the line with "
                f"where, for example 'where depth({line.concept}) == 1'"
            )
        found, missing = [], line.count
        for batch in batches(extension, line.count, key):
            fresh = self._fresh(extension, batch, line.label, missing)
            found.append(fresh)
            missing -= fresh.size
            if not missing:
                break
        drawn = join(found)
        if not drawn.size:
            raise UserError(
                f"{line.place}: every image of '{line.concept}' that was found is also of another class than "
                f"'{line.label}', or in the experiment already; make the classes exclude one another"
            )
        assert verified(extension, drawn).all(), f"an object of {extension.name} does not satisfy it"
        return Sample(line, extension, drawn, extension.images(drawn))

    def _fresh(self, extension: Extension, batch: Drawn, label: str, most: int) -> Drawn:
        """The images of a batch that are new and of this class only."""
        images = extension.images(batch)
        kept = unseen(images, self.taken)
        batch, images = batch.take(kept), images[kept]
        labels = list(self.classes.concepts)
        alone = self.classes.of(images) == (np.arange(len(labels)) == labels.index(label))
        chosen = np.flatnonzero(alone.all(axis=1))[:most]
        self.taken.update(map(_name, images[chosen]))
        return batch.take(chosen)


def need_room(n: int, grid: Grid, where: str = "") -> None:
    """Refuse to make more images than memory may hold."""
    most = MOST_ASKED * 1024 // max(1024, grid.width * grid.height)
    if n > most:
        raise UserError(f"{where}{n:,} images are more than the {most:,} that are made at once; ask for fewer")


def batches(extension: Extension, n: int, key: Key) -> Iterator[Drawn]:
    """Images in random order: all of a small extension, or draws from a large one, and then all if that can be."""
    if not extension.listable or extension.proposals > LISTED * n:
        for i in range(LISTED if extension.listable else ROUNDS):
            yield extension.draw(n, key / i)
    if extension.listable:
        listed = extension.everything()
        if not listed.size:
            raise extension.misfit()
        order = key.rng().permutation(listed.size)
        for at in range(0, listed.size, n):
            yield listed.take(order[at : at + n])


def unseen(images: np.ndarray, taken: set[bytes]) -> np.ndarray:
    """The places of images that are not taken, each image once."""
    seen: dict[bytes, int] = {}
    for i, image in enumerate(images):
        text = _name(image)
        if text not in taken:
            seen.setdefault(text, i)
    return np.array(list(seen.values()), np.int64)


def _name(image: np.ndarray) -> bytes:
    return blake2b(image.tobytes(), digest_size=16).digest()


def distinct(extension: Extension, n: int, key: Key) -> Drawn:
    """n different images of a concept, or all that are found."""
    need_room(n, extension.library.grid)
    extension.need_plans()
    found, taken, missing = [], set[bytes](), n
    for batch in batches(extension, n, key):
        images = extension.images(batch)
        chosen = unseen(images, taken)[:missing]
        taken.update(map(_name, images[chosen]))
        found.append(batch.take(chosen))
        missing -= len(chosen)
        if not missing:
            break
    return join(found)


def parts(classes: Classes, key: Key, progress: Progress = silent) -> dict[str, list[Sample]]:
    """All samples of an experiment: `train`, and each test. A line that occurs in several tests is drawn once."""
    train, tests = classes.experiment.train, classes.experiment.tests
    shared = dict.fromkeys(line for lines in tests.values() for line in lines)
    asked = [*(("train", line) for line in train), *(("test", line) for line in shared)]
    sampler, samples, label = Sampler(classes, key), list[Sample](), f"{classes.experiment.name} images"
    progress(label, 0, len(asked))
    for part, line in asked:
        samples.append(sampler.sample(line, _key(key, part, line)))
        progress(label, len(samples), len(asked))
    tested = dict(zip(shared, samples[len(train) :]))
    return {"train": samples[: len(train)], **{test: [tested[line] for line in lines] for test, lines in tests.items()}}


def _key(key: Key, part: str, line: Line) -> Key:
    path: tuple[Any, ...] = (part, line.label, line.concept, line.where)
    for name in path:
        key = key / name
    return key
