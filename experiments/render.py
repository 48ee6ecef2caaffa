"""How fast scenes become pictures, and how often placement and pictures agree on what is seen.

    python experiments/render.py

Speed is CPU time of one core, the best of several runs over the same scenes, after the loops were compiled. The other
renderers of the table were measured once, on scenes of 3 to 10 objects at 320 x 240 (decision 020).

Placement asks that enough pixels of every object are seen, and counts them without a renderer: its cubes have sharp
edges. The second table compares its counts with the pixels that pictures show.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from rich.console import Console

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.curi.world import CuriWorld
from recombine.metrics.speed import cpu
from recombine.render.masks import seen
from recombine.render.raytrace import raytrace
from recombine.report.table import Cell, Column, Table
from recombine.store.key import Key
from recombine.world.distribution import places_taken
from recombine.world.scenes import Scenes

RUNS, TIMED, COMPARED = 5, 200, 2_000
BATCH = 200


class Case(NamedTuple):
    """A world, the size of its pictures and how many of them per second are wanted."""

    name: str
    world: ClevrWorld | CuriWorld
    width: int
    height: int
    target: int


CASES = (Case("CLEVR", ClevrWorld(), 320, 240, 150), Case("CURI", CuriWorld(), 240, 160, 300))
WANTS = {"rgb, objects, depth": ("rgb", "objects", "depth"), "objects": ("objects",)}

OTHERS = (
    ("software OpenGL, plain to nice", "18 to 72"),
    ("VTK", "64 to 77"),
    ("Embree and NumPy", "97 to 128"),
    ("Mitsuba 3, 16 samples, denoised", "1,450 to 4,600"),
    ("Blender Cycles, 16 samples, denoised", "4,300 to 8,500"),
)
"""CPU milliseconds per picture."""


def speed_table(key: Key) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for case in CASES:
        scenes = case.world.sample(TIMED, key / case.name)
        for layers, want in WANTS.items():
            raytrace(scenes[:2], case.width, case.height, want)  # loops are compiled before the clock starts
            seconds = min(cpu(lambda: raytrace(scenes, case.width, case.height, want), TIMED) for _ in range(RUNS))  # noqa: B023
            target = case.target if "rgb" in want else None
            size = f"{case.width} x {case.height}"
            rows.append((f"{case.name} {size}, {layers}", f"{1e3 * seconds:.2f}", 1 / seconds, target))
    rows += [(f"{name} (320 x 240)", milliseconds, None, None) for name, milliseconds in OTHERS]
    columns = (
        Column("picture"),
        Column("ms of one core", "right"),
        Column("per second", "right", ",.0f"),
        Column("wanted", "right"),
    )
    return Table("Speed", columns, tuple(rows), f"ours: the best of {RUNS} runs over {TIMED} scenes")


# --- visibility -----------------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """Visible pixels of the objects that there are, and the scene of each."""

    placement: np.ndarray
    picture: np.ndarray
    scene: np.ndarray


def counts(case: Case, scenes: Scenes) -> Counts:
    there = places_taken(scenes.count, scenes.places)
    placement = case.world.placement.visible_pixels(scenes)
    picture = np.concatenate([*_seen(case, scenes)])
    return Counts(placement[there], picture[there], np.nonzero(there)[0])


def _seen(case: Case, scenes: Scenes) -> Iterator[np.ndarray]:
    for start in range(0, len(scenes), BATCH):
        objects = raytrace(scenes[start : start + BATCH], case.width, case.height, ["objects"]).objects
        assert objects is not None
        yield seen(objects, scenes.places).visible


def visibility_row(case: Case, what: str, scenes: Scenes) -> tuple[Cell, ...]:
    found, enough = counts(case, scenes), case.world.min_pixels
    agree = (found.placement >= enough) == (found.picture >= enough)
    disputed = len(np.unique(found.scene[~agree])) / len(scenes)
    off = np.abs(found.picture - found.placement)
    share = 100 * off.sum() / found.placement.sum()
    return f"{case.name}, {what}", enough, len(agree), 100 * agree.mean(), 100 * (1 - disputed), off.mean(), share


def visibility_table(key: Key) -> Table:
    rows = []
    for case in CASES:
        anything = replace(case.world, min_pixels=0)
        rows.append(visibility_row(case, "as made", case.world.sample(COMPARED, key / case.name)))
        rows.append(visibility_row(case, "hidden or not", anything.sample(COMPARED, key / case.name)))
    columns = (
        Column("scenes"),
        Column("pixels wanted", "right"),
        Column("objects", "right"),
        Column("objects agreed on %", "right", ".2f"),
        Column("scenes agreed on %", "right", ".2f"),
        Column("pixels apart", "right"),
        Column("of all %", "right"),
    )
    return Table("Placement and pictures", columns, tuple(rows), f"{COMPARED:,} scenes per row")


if __name__ == "__main__":
    for table in (speed_table(Key(1) / "speed"), visibility_table(Key(1) / "visibility")):
        Console(width=140).print(table.rich())
