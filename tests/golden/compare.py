"""Golden values: what a fixed key makes must not drift.

Prints what would change; writes only when asked. `tests/test_golden.py` runs the same comparison. Every benchmark has
a file of its own, with groups of named values.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.english import forms
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Families
from recombine.benchmarks.clevr.formats import SceneFile, write_scenes
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, ClevrScale
from recombine.benchmarks.clevr.program import read_program
from recombine.benchmarks.clevr.questions import Rules
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
from recombine.benchmarks.closure.pipeline import ClosurePipeline
from recombine.benchmarks.concept_world.pipeline import SHARES, ConceptWorldPipeline
from recombine.benchmarks.curi.edition import EDITIONS
from recombine.benchmarks.curi.laws import LANGUAGE as CURI
from recombine.benchmarks.curi.pipeline import Scale
from recombine.benchmarks.curi.spelling import postfix
from recombine.benchmarks.super_clevr.formats import write_scenes as write_vehicles
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.benchmarks.super_clevr.study import SuperClevr
from recombine.render.raytrace import LAYERS, raytrace
from recombine.render.sound import Voicing, sounds
from recombine.store.key import Key
from recombine.store.store import Store, read_table
from recombine.world.scenes import Scenes

HERE = Path(__file__).parent
CURI_SCALE = Scale("golden", scenes=2_000, draws=50_000, train=20, validation=10, test=40)
CLEVR_SCALE = ClevrScale("golden", 150, 150, 20, questions=6)

Values = dict[str, dict[str, object]]


def _name(*arrays: np.ndarray) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _text(lines: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def _scenes(scenes: Scenes) -> str:
    return _name(scenes.count, scenes.position, *scenes.codes.values(), *scenes.extra.values())


def _columns(table: pa.Table) -> dict[str, str]:
    return {name: _text(map(json.dumps, table[name].to_pylist())) for name in table.column_names}


def curi() -> Values:
    """Scenes, concepts and episodes of every edition."""
    from recombine import Curi

    found: Values = {}
    for edition in EDITIONS:
        with tempfile.TemporaryDirectory() as home, Curi(CURI_SCALE, edition, seed=7, store=Store(Path(home))) as made:
            study = made.study
            values: dict[str, object] = {
                "scenes": _scenes(study.scenes),
                "concepts": len(study.space),
                "concept texts": _text(map(postfix, study.space.concepts)),
                "senses": study.table.senses,
            }
            for kind in ("hard", "easy"):
                values[f"boolean {kind} episodes"] = _name(*study.episodes("boolean", "test", kind))
                gap = study.gaps("boolean", kind)["mAP"]
                values[f"boolean {kind} mAP"] = [round(gap.strong.value, 9), round(gap.weak.value, 9)]
            found[edition] = values
    return found


def clevr() -> Values:
    """Scenes, questions, recipes and a file of both editions and of CoGenT; the families and all they can say."""
    found: Values = {}
    worlds = {
        "paper": (ClevrWorld(), Rules()),
        "release": (ClevrWorld(), Rules(strict=False)),
        "cogent A": (ClevrWorld(cogent="A", held_out=({"color": "gray", "material": "metal"},)), Rules()),
    }
    with tempfile.TemporaryDirectory() as home:
        for name, (world, rules) in worlds.items():
            study = ClevrPipeline(CLEVR_SCALE, 7, Store(Path(home)), world=world, rules=rules)
            scenes, questions = study.scene("val", 0)[0], read_table(study.questions_folder("val"))
            recipes = (study.scenes_recipe("val"), study.questions_recipe("val"))
            found[name] = {"scenes": _scenes(scenes), "recipes": [recipe.digest for recipe in recipes]}
            found[name] |= _columns(questions)
            if name == "paper":
                write_scenes(Path(home) / "scenes.json", SceneFile.of(scenes[:20], "val"))
                found[name]["file of scenes"] = _text([(Path(home) / "scenes.json").read_text()])
                said = [text for program in _programs(questions) for text in forms(program)]
                found[name]["all forms of its questions"] = _text(said)
    found["families"] = {"number": len(CLEVR_FAMILIES), "all": _families(CLEVR_FAMILIES)}
    return found


def closure() -> Values:
    """The questions of every test and of its baseline, with their recipes and scores."""
    found: Values = {}
    with tempfile.TemporaryDirectory() as home:
        study = ClosurePipeline(ClevrPipeline(CLEVR_SCALE, 7, Store(Path(home))), (36, 36, 36))
        for test, families in CLOSURE_FAMILIES.items():
            values: dict[str, object] = {"families": _families(families)}
            for kind in ("closure", "baseline"):
                questions, scores = study.questions(test, "val", kind), study.scores(test, "val", kind)
                values[f"{kind} recipe"] = study.questions_recipe(test, "val", kind).digest
                values |= {f"{kind} {column}": name for column, name in _columns(questions).items()}
                values[f"{kind} weak"] = round(float(scores.weak.mean()), 9)
                values[f"{kind} weak best"] = round(float(scores.weak_best.mean()), 9)
            found[test] = values
    return found


def concept_world() -> Values:
    """The images of every experiment at a fiftieth of their number, with their recipes."""
    found: Values = {}
    with golden_scale(), tempfile.TemporaryDirectory() as home:
        study = ConceptWorldPipeline("golden", 7, Store(Path(home)))
        for name, experiment in study.library.experiments.items():
            tables = {part: study.samples(name, part) for part in ("train", *experiment.tests)}
            codes = {part: _text(map(bytes.hex, table["codes"].to_pylist())) for part, table in tables.items()}
            found[name] = {"recipe": study.recipe(name).digest, **codes}
    return found


@contextmanager
def golden_scale() -> Iterator[None]:
    """A scale for the golden values, for as long as they are made."""
    SHARES["golden"] = 0.02
    try:
        yield
    finally:
        del SHARES["golden"]


def media() -> Values:
    """One ray-traced picture of CLEVR and one of CURI with all its layers, and one sound."""
    scenes = {"clevr": ClevrWorld().sample(1, Key(7) / "golden"), "curi": CURI.world.sample(1, Key(7) / "golden")}
    found: Values = {}
    for name, scene in scenes.items():
        drawn = raytrace(scene, 96, 64, tuple(LAYERS))
        found[name] = {layer: _name(getattr(drawn, layer)) for layer in ("rgb", "objects", "depth")}
    found["curi"]["sound"] = _name(np.round(sounds(scenes["curi"], Voicing(1)) * 2**12).astype(np.int16))
    return found


def super_clevr() -> Values:
    """Scenes and a picture of every complexity, questions of both editions, the families, a file."""
    found: Values = {}
    with tempfile.TemporaryDirectory() as home:
        for edition, complexity in (("paper", "mid"), ("release", "hard")):
            scale = SuperClevrScale("golden", 4, 30, 4, 6, 6)
            with SuperClevr(scale, 7, edition=edition, complexity=complexity, store=Store(Path(home))) as made:
                scenes, values = made.study.scenes("val"), dict[str, object]()
                values["scenes"] = _scenes(scenes)
                values["scenes recipe"] = made.study.scenes_recipe("val").digest
                drawn = made.world.stage.draw(scenes[:1], 96, 72, ("rgb", "objects", "parts"))
                values |= {layer: _name(getattr(drawn, layer)) for layer in ("rgb", "objects", "parts")}
                for kind in made.study.kinds:
                    values[f"{kind} families"] = _families(made.study.asking.families(kind))
                    table = made.study.questions("val", kind)
                    values |= {f"{kind} {column}": name for column, name in _columns(table).items()}
                write_vehicles(Path(home) / "scenes.json", scenes[:2], made.world, "new")
                values["file of scenes"] = _text([(Path(home) / "scenes.json").read_text()])
                found[f"{edition} {complexity}"] = values
    return found


def _families(families: Families) -> str:
    return _text(repr((one.index, one.name, one.test, one.shape, one.outer, one.apart)) for one in families)


def _programs(questions: pa.Table) -> list:
    return [read_program(json.loads(text)) for text in questions["program"].to_pylist()]


GOLDEN: dict[str, Callable[[], Values]] = {
    "clevr": clevr,
    "closure": closure,
    "concept-world": concept_world,
    "curi": curi,
    "media": media,
    "super-clevr": super_clevr,
}
"""By the name of their file."""


def differences(now: Values, then: Values) -> list[str]:
    """One line per value that changed."""
    lines = []
    for group in sorted({*now, *then}):
        a, b = now.get(group, {}), then.get(group, {})
        lines += [
            f"{group}: {key}: {b.get(key)} -> {a.get(key)}" for key in sorted({*a, *b}) if a.get(key) != b.get(key)
        ]
    return lines


def stored(name: str) -> Values:
    file = HERE / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def main(write: bool) -> None:
    for name, make in GOLDEN.items():
        current = make()
        changed = differences(current, stored(name))
        print("\n".join(f"{name}: {line}" for line in changed) or f"{name}: nothing would change")
        if changed and write:
            (HERE / f"{name}.json").write_text(json.dumps(current, indent=1) + "\n")
            print(f"wrote {name}.json")
        elif changed:
            print("write it with: make golden WRITE=1")


if __name__ == "__main__":
    main("--write" in sys.argv)
