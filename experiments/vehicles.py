"""A sheet of the 21 vehicles, drawn by the fast renderer: python experiments/vehicles.py [FILE.png]"""

import sys
from pathlib import Path

import numpy as np

from recombine.benchmarks.super_clevr.vehicles import MEASURED, VEHICLES, vehicle
from recombine.render.instances import Instance, Look, gather
from recombine.render.mesh_scene import draw_models
from recombine.render.png import png

COLORS = ("red", "blue", "green", "yellow", "cyan", "purple", "brown", "gray")
SIZE, WIDTH, HEIGHT, ACROSS = 5.0, 360, 270, 7
MIDDLE = slice(30, 200), slice(70, 290)
"""What is shown of a picture: rows and columns."""


def main(out: Path) -> None:
    names = [name for kinds in VEHICLES.values() for name in kinds]
    scenes = [[_standing(i, name)] for i, name in enumerate(names)]
    jitter = np.zeros((len(scenes), 3)), np.zeros((len(scenes), 3, 3))
    drawn = draw_models(gather(scenes, [vehicle(name) for name in names], *jitter), WIDTH, HEIGHT, ("rgb",)).rgb
    assert drawn is not None
    shown = drawn[:, MIDDLE[0], MIDDLE[1]]
    rows = [np.concatenate(list(shown[i : i + ACROSS]), axis=1) for i in range(0, len(shown), ACROSS)]
    out.write_bytes(png(np.ascontiguousarray(np.concatenate(rows))))


def _standing(i: int, name: str) -> Instance:
    look = Look(COLORS[i % len(COLORS)], ("rubber", "metal")[i % 2])
    return Instance(0, name, (0.0, 0.0, MEASURED[name].ground * SIZE), 35.0 + 40 * (i % 3), SIZE, look)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/pictures/vehicles.png"))
