"""Generator and recogniser on 100,000 images of all concepts of the library and as many one-pixel mutations.

`make full` runs it; with `-s` it prints what it found.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from recombine.benchmarks.concept_world.definition import Object
from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.reader import load_library
from recombine.benchmarks.concept_world.recognise import Recogniser
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.benchmarks.concept_world.search import Proof
from recombine.benchmarks.concept_world.world import mutated
from recombine.store.key import Key

pytestmark = pytest.mark.full

LIBRARY = load_library()
EACH = 1_150
"""Images of a concept."""
EACH_OF_MANY = 100
"""Images of a concept that has too many alternatives to list."""


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, int]]:
    """How many images, mutations, and mutations that still satisfy their concept; printed at the end."""
    totals = {"images": 0, "mutations": 0, "of these still of the concept, each proved": 0}
    yield totals
    print("\n" + ", ".join(f"{n:,} {what}" for what, n in totals.items()))
    assert min(totals["images"], totals["mutations"]) >= 100_000


@pytest.mark.parametrize("name", LIBRARY.definitions)
def test_what_is_drawn_is_recognised_and_what_is_recognised_satisfies(name: str, seen: dict[str, int]) -> None:
    extension, recogniser = Extension(LIBRARY, name, otherwise=3), Recogniser(LIBRARY)
    n = EACH_OF_MANY if extension.too_many else EACH
    images = extension.images(extension.draw(n, Key(7) / name))
    assert recogniser.holds(name, images).all()
    changed = mutated(images, len(LIBRARY.grid.colors), Key(8) / name)
    accepted = changed[recogniser.holds(name, changed)]
    for image in accepted:
        found = recogniser.recognise(name, image)
        assert isinstance(found, Proof)
        assert np.array_equal(_painted(found.object), image), "the proof is of another image"
        assert _satisfies(name, found.object)
    seen["images"] += n
    seen["mutations"] += len(changed)
    seen["of these still of the concept, each proved"] += len(accepted)


def _satisfies(name: str, thing: Object) -> bool:
    one = len(LIBRARY.definitions[name].parameters) == 1
    return Plainly(LIBRARY).holds(name, *((thing,) if one else thing))


def _painted(thing: Object) -> np.ndarray:
    """The colour codes of an object."""
    image, todo = np.zeros((LIBRARY.grid.height, LIBRARY.grid.width), np.uint8), [thing]
    while todo:
        part = todo.pop()
        if hasattr(part, "color"):
            image[part.y, part.x] = LIBRARY.grid.colors.index(part.color) + 1
        else:
            todo += part
    return image
