"""The laws hold for every benchmark folder, and each law catches a benchmark that breaks it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import get_args, get_overloads

import numpy as np
import pytest

import recombine as rc
from recombine import benchmarks
from recombine.benchmarks.language import Language
from recombine.benchmarks.laws import LAWS, LawBroken
from recombine.language.query import Where, anything
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", benchmarks.names())
def test_the_law_holds(name: str, law: str) -> None:
    LAWS[law](benchmarks.get(name).language, Key(1))


def speechless(benchmark: Language) -> Language:
    """A meaning without methods."""
    return replace(benchmark, meaning=lambda scenes: SimpleNamespace())


def plain_and_speechless(benchmark: Language) -> Language:
    """A plain meaning without methods."""
    return replace(benchmark, reference=lambda scenes, scene: SimpleNamespace())


def of_other_scenes(benchmark: Language) -> Language:
    """A fast meaning that looks at the scenes in another order."""
    execute = benchmark.values
    return replace(benchmark, execute=lambda concepts, scenes: execute(concepts, scenes[::-1]))


def of_another_scene(benchmark: Language) -> Language:
    """A plain meaning that looks at the first scene always."""
    value = benchmark.value
    return replace(benchmark, execute_plainly=lambda concept, scenes, scene: value(concept, scenes, 0))


def forgetful_reader(benchmark: Language) -> Language:
    """A spelling that reads one concept whatever is written."""
    one = benchmark.concepts(1, Key(0))[0]
    return replace(benchmark, spellings={name: (write, lambda text: one) for name, (write, _) in spelled(benchmark)})


def spelled(benchmark: Language) -> list:
    return list(benchmark.spellings.items())


class Changed:
    """A world with another `sample` or `contains`."""

    def __init__(self, benchmark: Language, **other: Callable) -> None:
        self.vocabulary, self.high = benchmark.world.vocabulary, benchmark.world.high
        self.sample: Callable[[int, Key], Scenes] = other.get("sample", benchmark.world.sample)
        self.contains: Callable[[Scenes], np.ndarray] = other.get("contains", benchmark.world.contains)


def one_key_for_all(benchmark: Language) -> Language:
    sample = benchmark.world.sample
    return replace(benchmark, world=Changed(benchmark, sample=lambda n, key: sample(n, Key(0))))


def another_key_each_time(benchmark: Language) -> Language:
    sample, keys = benchmark.world.sample, iter(range(1_000))
    return replace(benchmark, world=Changed(benchmark, sample=lambda n, key: sample(n, Key(next(keys)))))


def disowned(benchmark: Language) -> Language:
    contains = lambda scenes: np.arange(len(scenes)) > 0  # noqa: E731
    return replace(benchmark, world=Changed(benchmark, contains=contains))


def trained_on_everything(benchmark: Language) -> Language:
    """Whatever is tested was trained on."""
    tested = Where("all of them", lambda concept: True)
    splits = {name: replace(split, train=anything, test=tested) for name, split in benchmark.splits.items()}
    return replace(benchmark, splits=splits)


BREAKERS = {
    "every symbol has a meaning": (speechless, plain_and_speechless),
    "reading what is written gives it back": (forgetful_reader,),
    "the fast meaning equals the plain one": (of_other_scenes, of_another_scene),
    "the same key gives the same scenes": (one_key_for_all, another_key_each_time),
    "worlds contain what they make": (disowned,),
    "held out concepts are held out": (trained_on_everything,),
}


@pytest.mark.parametrize(("law", "broken"), [(law, broken) for law, several in BREAKERS.items() for broken in several])
@pytest.mark.parametrize("name", benchmarks.names())
def test_a_benchmark_that_breaks_the_law_is_caught(name: str, law: str, broken: Callable) -> None:
    with pytest.raises(LawBroken):
        LAWS[law](broken(benchmarks.get(name).language), Key(1))


def test_every_law_has_a_benchmark_that_breaks_it() -> None:
    assert BREAKERS.keys() == LAWS.keys()


@pytest.mark.parametrize("name", benchmarks.names())
def test_a_folder_says_what_the_paper_says_and_what_we_do(name: str) -> None:
    readme = Path(benchmarks.__file__).parent / name.replace("-", "_") / "README.md"
    assert readme.exists(), f"write {readme}"
    text = readme.read_text().lower()
    assert all(heading in text for heading in ("paper", "we do", "differs")), "a table: paper says / we do / differs"


@pytest.mark.parametrize("name", benchmarks.names())
def test_a_benchmark_introduces_itself(name: str) -> None:
    found = benchmarks.get(name)
    assert found.name == name == found.study.name
    assert found.title
    assert found.about
    assert found.paper
    splits = found.language.splits
    assert splits.keys() == {split.name for split in splits.values()}
    assert found.held_out == sum(split.test is not anything or split.shuffled for split in splits.values())


def test_an_unknown_benchmark_is_refused_by_name() -> None:
    with pytest.raises(UserError, match="there is no benchmark 'clever'; choose one of clevr, closure, concept-world"):
        benchmarks.get("clever")


def test_an_editor_knows_what_every_name_loads() -> None:
    named = [get_args(one.__annotations__["name"]) for one in get_overloads(rc.load)]
    assert sorted(sum(named, ())) == sorted(benchmarks.names())


def test_a_keyword_that_a_study_lacks_is_answered_with_those_it_has() -> None:
    with pytest.raises(TypeError, match=r"^Closure got an unexpected keyword argument 'edition'; it takes scale, seed"):
        rc.Closure(edition="release")  # type: ignore[call-arg]
