"""Do released files agree with themselves? Relations follow from places, and answers from programs or from texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recombine.benchmarks.clevr.check import Check, check_questions, check_relations
from recombine.benchmarks.super_clevr.english import english_of
from recombine.benchmarks.super_clevr.formats import answer_word, read_questions, read_scenes
from recombine.benchmarks.super_clevr.language import dialect_of, release_world
from recombine.benchmarks.super_clevr.meaning import Plainly
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.store.errors import UserError


def check(scenes: Sequence[Path | str], questions: Path | str, world: VehicleWorld) -> Check:
    """Compare a file of questions with its files, or folders, of scenes; what has no program is read from its text."""
    world = release_world(world)
    file, dialect, english = read_scenes(scenes, world), dialect_of(world, "release"), english_of(world, "release")
    asked = read_questions(questions, world)
    if not asked:
        raise UserError(f"{questions} holds no questions")

    def word(kind: str, value: Any) -> str:
        return answer_word(kind, value, dialect)

    found = check_questions(file, asked, english.read, dialect, Plainly, word)
    return Check(check_relations(file), found)
