"""The fast renderers beside the photo renderer: how alike their pictures are, and what a photo costs.

    python experiments/photo.py [clevr | super-clevr] [--scenes 200] [--samples 16] [--kept out/photo.jsonl]

CLEVR's scenes, or Super-CLEVR's of vehicles with textures, at 320 x 240. What is measured is kept line
by line, so that a stopped run goes on; remove the file, or name another, after a change of either renderer.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.metrics.ssim import likeness
from recombine.render.mesh_scene import draw_models
from recombine.render.photo import SAMPLES, load_mitsuba, photograph
from recombine.render.raytrace import Pictures, raytrace
from recombine.report.table import Cell, Column, Table
from recombine.store.key import Key

WIDTH, HEIGHT = 320, 240
WANT = ("rgb", "objects", "parts", "depth")
Row = dict[str, float]


class Source(NamedTuple):
    """Scenes, how they are drawn fast, and how alike photos are wanted to be: pictures and ids."""

    scenes: Callable[[int], list[Any]]
    draw: Callable[..., Pictures]
    wanted: tuple[float, float]


def clevr_scenes(many: int) -> list[Any]:
    scenes = ClevrWorld().sample(many, Key(0) / "photo")
    return [scenes[i : i + 1] for i in range(many)]


def vehicle_scenes(many: int) -> list[Any]:
    """Of all complexities in turn."""
    worlds = [VehicleWorld(complexity=level) for level in ("easy", "mid", "hard")]
    drawn = [world.stage.instances(world.sample(many, Key(0) / "photo")) for world in worlds]
    return [drawn[i % len(drawn)][i] for i in range(many)]


SOURCES = {
    "clevr": Source(clevr_scenes, raytrace, (0.95, 0.995)),
    "super-clevr": Source(vehicle_scenes, draw_models, (0.93, 0.99)),
}


def measure(scene: Any, draw: Callable[..., Pictures], samples: int) -> Row:
    """One scene, drawn by both."""
    start = time.process_time()
    fast = draw(scene, WIDTH, HEIGHT, WANT)
    middle = time.process_time()
    photo = photograph(scene, WIDTH, HEIGHT, WANT, samples)
    end = time.process_time()
    assert fast.rgb is not None and photo.rgb is not None and fast.objects is not None and photo.objects is not None
    light = photo.rgb.mean() - fast.rgb.mean()
    ids = {layer: (getattr(fast, layer) == getattr(photo, layer)).mean() for layer in ("objects", "parts")}
    row = {"likeness": likeness(fast.rgb, photo.rgb)[0], "ids": ids["objects"], "parts": ids["parts"], "light": light}
    return {name: float(value) for name, value in {**row, "fast": middle - start, "photo": end - middle}.items()}


def measure_all(scenes: list[Any], draw: Callable[..., Pictures], samples: int, kept: Path) -> list[Row]:
    """Every scene, of which those in the file are done."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    measure(scenes[0], draw, 1)  # loops are compiled before the clock starts
    with kept.open("a") as file:
        for i in range(len(rows), len(scenes)):
            rows.append(measure(scenes[i], draw, samples))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    return rows[: len(scenes)]


def table(rows: list[Row], wanted: tuple[float, float], samples: int) -> Table:
    """The means, and the worst."""
    column = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    found: list[tuple[Cell, ...]] = [
        ("structural similarity", column["likeness"].mean(), column["likeness"].min(), f">= {wanted[0]}"),
        ("pixels with the same object", column["ids"].mean(), column["ids"].min(), f">= {wanted[1]}"),
        ("pixels with the same part", column["parts"].mean(), column["parts"].min(), ""),
        ("photo brighter by, of 255", column["light"].mean(), np.abs(column["light"]).max(), ""),
        ("fast renderer, CPU ms", 1e3 * column["fast"].mean(), 1e3 * column["fast"].max(), ""),
        ("photo, CPU ms", 1e3 * column["photo"].mean(), 1e3 * column["photo"].max(), ""),
    ]
    columns = (Column("per picture"), *(Column(name, "right", ",.4g") for name in ("mean", "worst")), Column("wanted"))
    note = f"{len(rows)} scenes, {WIDTH} x {HEIGHT}, {samples} samples per pixel, Mitsuba's {load_mitsuba().variant()}"
    return Table("Fast renderer and photos", columns, tuple(found), note)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", choices=[*SOURCES], nargs="?", default="clevr")
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--kept", type=Path, default=Path("out/photo.jsonl"))
    chosen = parser.parse_args()
    source = SOURCES[chosen.source]
    rows = measure_all(source.scenes(chosen.scenes), source.draw, chosen.samples, chosen.kept)
    Console(width=140).print(table(rows, source.wanted, chosen.samples).rich())


if __name__ == "__main__":
    main()
