"""Our pictures beside the real images of CLEVR: a sheet to look at, and how alike they are.

    python experiments/beside_real.py FOLDER OUT

FOLDER holds scene files of CLEVR (*scenes*.json) and, in its folder `images`, some of their images; the sheet is
written to OUT, a folder that is not tracked: the real images are not ours to publish. What the files do not tell is
fitted: the camera from pixel coordinates, and the lamps from the image itself, within the jitter that CLEVR allows.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console

from recombine.benchmarks.clevr.formats import read_scenes
from recombine.benchmarks.clevr.redraw import as_drawn
from recombine.benchmarks.clevr.world import LAMP_JITTER
from recombine.metrics.ssim import likeness
from recombine.render.png import decoded, png
from recombine.render.raytrace import raytrace
from recombine.report.table import Column, Table
from recombine.world.scenes import Scenes

WIDTH, HEIGHT, SHRINK = 480, 320, 4
STEPS, NUDGE = 8, 0.1
CALM, OUTLIER = 200.0, 8.0
"""How much a fit of lamps keeps to its last step, and from which difference on a pixel counts less."""


class Pair(NamedTuple):
    """A real image, and its scene with the camera fitted."""

    name: str
    image: np.ndarray
    scene: Scenes


def pairs(folder: Path) -> list[Pair]:
    """The scenes whose images are there."""
    found = []
    for path in sorted(folder.glob("*scenes*.json")):
        file = read_scenes(path)
        scenes = as_drawn(file, path.name)
        for i, name in enumerate(file.image_filename):
            image = folder / "images" / name
            if name and image.exists():
                found.append(Pair(name, decoded(image.read_bytes())[..., :3], scenes[i : i + 1]))
    return found


def with_lamps(scene: Scenes, lamps: np.ndarray) -> Scenes:
    return replace(scene, extra={**scene.extra, "lamps": lamps.reshape(1, 3, 3).astype(np.float32)})


def drawn(scene: Scenes, width: int, height: int) -> np.ndarray:
    rgb = raytrace(scene, width, height, ["rgb"]).rgb
    assert rgb is not None
    return rgb[0]


def fit_lamps(pair: Pair) -> Scenes:
    """The scene with the jitter of its lamps that makes a small picture most like the small image."""
    height, width = HEIGHT // SHRINK, WIDTH // SHRINK
    goal = pair.image.reshape(height, SHRINK, width, SHRINK, 3).mean(axis=(1, 3)).ravel()

    def seen(lamps: np.ndarray) -> np.ndarray:
        return drawn(with_lamps(pair.scene, lamps), width, height).astype(float).ravel()

    lamps = np.zeros(9)
    for _ in range(STEPS):
        here = seen(lamps)
        slope = np.stack([(seen(lamps + nudge) - here) / NUDGE for nudge in NUDGE * np.eye(9)], axis=-1)
        weight = 1 / (1 + ((here - goal) / OUTLIER) ** 2)
        step = np.linalg.solve(
            slope.T @ (weight[:, None] * slope) + CALM * np.eye(9), slope.T @ (weight * (here - goal))
        )
        lamps = np.clip(lamps - step, -LAMP_JITTER, LAMP_JITTER)
    return with_lamps(pair.scene, lamps)


def main(folder: Path, out: Path) -> None:
    found = pairs(folder)
    if not found:
        raise SystemExit(f"{folder} holds no scene files of CLEVR with images beside them, in a folder called images")
    sheet: list[np.ndarray] = []
    rows: list[tuple[str, float, float]] = []
    for pair in found:
        fitted = drawn(fit_lamps(pair), WIDTH, HEIGHT)
        plain = drawn(pair.scene, WIDTH, HEIGHT)
        sheet.append(np.concatenate([pair.image, fitted], axis=1))
        rows.append((pair.name, float(likeness(plain, pair.image)), float(likeness(fitted, pair.image))))
    _, plainly, fully = zip(*rows)
    rows.append(("mean", float(np.mean(plainly)), float(np.mean(fully))))
    columns = (Column("image"), Column("camera fitted", "right", ".4f"), Column("lamps too", "right", ".4f"))
    Console().print(Table("Structural similarity to real images", columns, tuple(rows)).rich())
    out.mkdir(parents=True, exist_ok=True)
    (out / "beside-real.png").write_bytes(png(np.concatenate(sheet)))
    print(f"real left, ours right: {out / 'beside-real.png'}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python experiments/beside_real.py FOLDER OUT")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
