"""What a scene parser believes of the scenes of a study: every scene is drawn and looked at once, and kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from recombine.benchmarks.clevr.pipeline import ClevrPipeline, Part
from recombine.benchmarks.clevr.sight import FILE, in_order, solids_parser
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render.raytrace import raytrace
from recombine.store.checksums import checksum
from recombine.store.recipe import Recipe
from recombine.store.store import write_atomically
from recombine.world.scenes import Scenes
from recombine.world.shards import read_scenes

VERSION = 1
SIZE = (320, 240)
"""Width and height of the pictures that are looked at, as the parser was trained."""
AT_ONCE = 100


class Detections(NamedTuple):
    """The objects that were perceived in n pictures, as views take them."""

    beliefs: Mapping[str, np.ndarray]  # attribute -> float16[n, k, values]
    place: np.ndarray  # float32[n, k, 2]
    number: np.ndarray  # uint8[n]: of objects


def detected(study: ClevrPipeline, part: Part, file: Path = FILE) -> Detections:
    """What the parser of a file perceives in pictures of the scenes of a part."""
    recipe = _recipe(study, part, file)

    def make(draft: Path) -> None:
        work = Perceive(str(draft), str(study.scenes_folder(part)), study.world, str(file))
        study.engine.map(work, range(study.shards(part)), f"detections: {part}")

    folder = study.store.get(recipe, make)
    shards = [dict(np.load(folder / _name(shard))) for shard in range(study.shards(part))]
    columns = {name: np.concatenate([shard[name] for shard in shards]) for name in shards[0]}
    return _split(columns)


def perceived(scenes: Scenes, file: Path = FILE) -> Detections:
    """What is perceived in pictures of scenes; of more objects than scenes have room for, the surest."""
    return _split(_columns(scenes, file))


def _split(columns: dict[str, np.ndarray]) -> Detections:
    place, number = columns.pop("place"), columns.pop("number")
    return Detections(columns, place, number)


def _columns(scenes: Scenes, file: Path) -> dict[str, Any]:
    parser, parts, most = solids_parser(file), [], scenes.places
    for start in range(0, len(scenes), AT_ONCE):
        pixels = raytrace(scenes[start : start + AT_ONCE], *SIZE, ("rgb",)).rgb
        assert pixels is not None
        parts.append(in_order(parser, parser.perceive(pixels)))
    return {
        "number": np.concatenate([part.count for part in parts]).clip(max=most),
        "place": np.concatenate([part.place[:, :most] for part in parts]),
        **{
            name: np.concatenate([part.beliefs[name][:, :most] for part in parts]).astype(np.float16)
            for name in parts[0].beliefs
        },
    }


def _recipe(study: ClevrPipeline, part: Part, file: Path) -> Recipe:
    inputs = {"scenes": study.scenes_recipe(part).digest, "parser": checksum(file)}
    return Recipe("clevr-detections", VERSION, {"size": SIZE}, inputs)


def _name(shard: int) -> str:
    return f"detections-{shard:05}.npz"


@dataclass(frozen=True)
class Perceive:
    """Draws one shard of scenes and looks at the pictures."""

    folder: str
    scenes_folder: str
    world: ClevrWorld
    file: str

    def __call__(self, shard: int) -> None:
        file = Path(self.folder) / _name(shard)
        if file.exists():
            return
        columns = _columns(read_scenes(self.world, Path(self.scenes_folder), shard), Path(self.file))
        write_atomically(file, lambda draft: np.savez(draft, **columns))
