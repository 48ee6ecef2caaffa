"""The ray tracer beside the photo renderer: how alike their pictures are, and what a photo costs.

    python experiments/photo.py [--scenes 200] [--samples 16] [--kept out/photo.jsonl]

CLEVR's scenes at 320 x 240. What is measured is kept line by line, so that a stopped run goes on; remove the file, or
name another, after a change of either renderer.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from rich.console import Console

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.metrics.ssim import likeness
from recombine.render.photo import SAMPLES, load_mitsuba, photograph
from recombine.render.raytrace import raytrace
from recombine.report.table import Cell, Column, Table
from recombine.store.key import Key
from recombine.world.scenes import Scenes

WIDTH, HEIGHT = 320, 240
WANT = ("rgb", "objects", "depth")
Row = dict[str, float]


def measure(scene: Scenes, samples: int) -> Row:
    """One scene, drawn by both."""
    start = time.process_time()
    fast = raytrace(scene, WIDTH, HEIGHT, WANT)
    middle = time.process_time()
    photo = photograph(scene, WIDTH, HEIGHT, WANT, samples)
    end = time.process_time()
    assert fast.rgb is not None and photo.rgb is not None and fast.objects is not None and photo.objects is not None
    light = photo.rgb.mean() - fast.rgb.mean()
    row = {"likeness": likeness(fast.rgb, photo.rgb)[0], "ids": (fast.objects == photo.objects).mean(), "light": light}
    return {name: float(value) for name, value in {**row, "fast": middle - start, "photo": end - middle}.items()}


def measure_all(scenes: Scenes, samples: int, kept: Path) -> list[Row]:
    """Every scene, of which those in the file are done."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    measure(scenes[:1], 1)  # loops are compiled before the clock starts
    with kept.open("a") as file:
        for i in range(len(rows), len(scenes)):
            rows.append(measure(scenes[i : i + 1], samples))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    return rows[: len(scenes)]


def table(rows: list[Row], samples: int) -> Table:
    """The means, and the worst."""
    column = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    found: list[tuple[Cell, ...]] = [
        ("structural similarity", column["likeness"].mean(), column["likeness"].min(), ">= 0.95"),
        ("pixels with the same object", column["ids"].mean(), column["ids"].min(), ">= 0.995"),
        ("photo brighter by, of 255", column["light"].mean(), np.abs(column["light"]).max(), ""),
        ("ray tracer, CPU ms", 1e3 * column["fast"].mean(), 1e3 * column["fast"].max(), ""),
        ("photo, CPU ms", 1e3 * column["photo"].mean(), 1e3 * column["photo"].max(), ""),
    ]
    columns = (Column("per picture"), *(Column(name, "right", ",.4g") for name in ("mean", "worst")), Column("wanted"))
    note = f"{len(rows)} scenes, {WIDTH} x {HEIGHT}, {samples} samples per pixel, Mitsuba's {load_mitsuba().variant()}"
    return Table("Ray tracer and photos", columns, tuple(found), note)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--kept", type=Path, default=Path("out/photo.jsonl"))
    chosen = parser.parse_args()
    scenes = ClevrWorld().sample(chosen.scenes, Key(0) / "photo")
    rows = measure_all(scenes, chosen.samples, chosen.kept)
    Console(width=140).print(table(rows, chosen.samples).rich())


if __name__ == "__main__":
    main()
