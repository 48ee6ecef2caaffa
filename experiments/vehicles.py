"""How fast scenes of vehicles become pictures and counts of pixels, beside the plain reference.

    python experiments/vehicles.py

Speed is CPU time of one core, the best of several runs over the same 100 scenes of Super-CLEVR (3 to 10 vehicles, up to
three painted parts each), after models were built and loops compiled. The reference follows every ray to every triangle
in NumPy, so both are timed on a small picture of one scene for the ratio. Blender is the published renderer.
"""

import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console

from recombine.benchmarks.super_clevr.vehicles import VEHICLES, vehicle
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.metrics.speed import cpu
from recombine.render.instances import Instances
from recombine.render.mesh_reference import cast
from recombine.render.mesh_scene import draw_models
from recombine.render.mesh_visibility import visible_pixels
from recombine.render.model_files import read_model, write_obj
from recombine.report.table import Cell, Column, Table
from recombine.store.key import Key

RUNS, TIMED = 3, 100
LAYERS = ("rgb", "objects", "parts", "depth")
SMALL = 80, 60
"""The picture on which the reference is timed."""
BLENDER = "minutes"
"""At the published setting, 640 x 480 with 512 samples."""


def pictures(key: Key) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for level, size, target in (("mid", (320, 240), 45), ("mid", (640, 480), 16), ("hard", (320, 240), None)):
        scenes = staged(level, key)
        draw_models(scenes[0], *size, LAYERS)
        seconds = min(cpu(lambda: draw_models(scenes, *size, LAYERS), TIMED) for _ in range(RUNS))  # noqa: B023
        name = f"picture {size[0]} x {size[1]}, {', '.join(LAYERS)} ({level})"
        rows.append((name, f"{1e3 * seconds:.2f}", 1 / seconds, target))
    return rows


def staged(level: str, key: Key) -> Instances:
    world = VehicleWorld(complexity=level)
    return world.stage.instances(world.sample(TIMED, key))


def counts(world: VehicleWorld, key: Key) -> list[tuple[Cell, ...]]:
    scenes = staged("mid", key)
    visible_pixels(scenes, 640, 480)
    seconds = min(cpu(lambda: visible_pixels(scenes, 640, 480), TIMED) for _ in range(RUNS))
    world.sample(TIMED, key / "first")
    whole = min(cpu(lambda: world.sample(TIMED, key), TIMED) for _ in range(RUNS))
    return [
        ("pixels of objects and parts, 640 x 480", f"{1e3 * seconds:.2f}", 1 / seconds, None),
        ("scene, placed and seen", f"{1e3 * whole:.2f}", 1 / whole, 500),
    ]


def models() -> list[tuple[Cell, ...]]:
    names = [name for kinds in VEHICLES.values() for name in kinds]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{name}.obj" for name in names]
        for name, file in zip(names, files):
            write_obj(vehicle(name), file)
        seconds = cpu(lambda: [read_model(file) for file in files], len(files))
    return [("vehicle from an OBJ file", f"{1e3 * seconds:.1f}", 1 / seconds, None)]


def ratios(key: Key) -> list[tuple[Cell, ...]]:
    scenes = staged("mid", key)[0]
    draw_models(scenes, *SMALL, ("objects", "parts", "depth"))
    fast = cpu(lambda: [draw_models(scenes, *SMALL, ("objects", "parts", "depth")) for _ in range(20)], 20)
    plain = cpu(lambda: cast(scenes, 0, *SMALL), 1)
    size = f"{SMALL[0]} x {SMALL[1]}"
    return [
        (f"reference: objects, parts, depth, {size}", f"{1e3 * plain:,.0f}", 1 / plain, None),
        (f"the same by the renderer, {plain / fast:,.0f} times faster", f"{1e3 * fast:.2f}", 1 / fast, None),
    ]


def table() -> Table:
    world, key = VehicleWorld(), Key(0) / "vehicle speed"
    rows = [*pictures(key), *counts(world, key), *models(), *ratios(key)]
    rows.append(("Blender Cycles, as published", BLENDER, None, None))
    columns = (
        Column("what"),
        Column("ms of one core", "right"),
        Column("per second", "right", ",.1f"),
        Column("wanted", "right", ","),
    )
    triangles = int(np.mean([len(vehicle(name).triangles) for kinds in VEHICLES.values() for name in kinds]))
    note = f"the best of {RUNS} runs over {TIMED} scenes; {triangles:,} triangles a vehicle"
    return Table("Vehicles", columns, tuple(rows), note)


if __name__ == "__main__":
    Console(width=140).print(table().rich(130))
