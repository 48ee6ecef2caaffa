"""Write the sheets of docs/gallery.md: `python experiments/gallery.py docs/pictures`; photos need the extra `photo`."""

import sys
from pathlib import Path

import numpy as np
import vehicle_sheets

from recombine.benchmarks.clevr.laws import LANGUAGE
from recombine.render.instruments import INSTRUMENTS, RATE
from recombine.render.materials import COLORS
from recombine.render.photo import photograph
from recombine.render.png import png
from recombine.render.raytrace import raytrace
from recombine.render.sound import synthesised_orchestra
from recombine.render.spectrogram import spectrograms
from recombine.store.key import Key
from recombine.world.scenes import Scenes

GAP, PAPER = 6, 255
RANGE = 80
"""Decibels from black to white."""
SHAPES, MATERIALS = ("cube", "sphere", "cylinder"), ("rubber", "metal")


def tiled(pictures: list[list[np.ndarray]]) -> np.ndarray:
    """Pictures of one size in rows, with white between them."""
    height, width = pictures[0][0].shape[:2]
    rows, columns = len(pictures), len(pictures[0])
    sheet = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3), PAPER, np.uint8)
    for i, row in enumerate(pictures):
        for j, picture in enumerate(row):
            y, x = i * (height + GAP), j * (width + GAP)
            sheet[y : y + height, x : x + width] = picture
    return sheet


def fast_and_photo() -> np.ndarray:
    """The same scenes, traced fast on the left and as photos on the right."""
    scenes = LANGUAGE.world.sample(4, Key(5) / "gallery")
    fast, photo = raytrace(scenes, 400, 300, ("rgb",)).rgb, photograph(scenes, 400, 300, ("rgb",), samples=64).rgb
    assert fast is not None and photo is not None
    return tiled([[a, b] for a, b in zip(fast, photo)])


def everything() -> np.ndarray:
    """All shapes, materials and colours: a scene for each colour, rubber behind, metal in front."""
    drawn = raytrace(_rows(), 400, 300, ("rgb",)).rgb
    assert drawn is not None
    return tiled([list(drawn[:4]), list(drawn[4:])])


def _rows() -> Scenes:
    """Eight scenes of six objects: two rows of three shapes, one of each material."""
    scenes = LANGUAGE.world.sample(len(COLORS), Key(5) / "rows")
    vocabulary, n, k = scenes.vocabulary, len(COLORS), scenes.places
    codes = {name: np.full((n, k), 255, np.uint8) for name in ("shape", "material", "color", "size")}
    position, extra = np.zeros((n, k, 3), np.float32), {name: np.array(c) for name, c in scenes.extra.items()}
    for i, color in enumerate(COLORS):
        for place in range(6):
            row, column = divmod(place, 3)
            words = {"shape": SHAPES[column], "material": MATERIALS[row], "color": color, "size": "large"}
            for name, word in words.items():
                codes[name][i, place] = vocabulary[name].values.index(word)
            # Along and across the way the camera looks, which is from the south east.
            across, along = 1.9 * (column - 1), 1.1 - 2.3 * row
            position[i, place] = (0.7 * across - 0.72 * along, 0.7 * across + 0.72 * along, 0.7)
    extra["rotation"][:] = 30.0
    for name in ("camera", "lamps"):
        extra[name][:] = 0
    return Scenes(vocabulary, np.full(n, 6, scenes.count.dtype), codes, position, extra)


def instruments() -> np.ndarray:
    """The spectrograms of the eight instruments at one pitch, 0 to RATE / 2 from the bottom up."""
    notes = synthesised_orchestra().notes  # [instrument, pitch, profile, timbre, samples]
    decibels = spectrograms(notes[:, 4, 0, 0] / 32_768)
    shade = np.clip((decibels - decibels.max() + RANGE) / RANGE, 0, 1)
    grey = np.repeat((255 * (1 - shade)).astype(np.uint8)[:, ::-1], 3, axis=2)
    return tiled([[np.repeat(one[..., None], 3, axis=-1) for one in row] for row in (grey[:4], grey[4:])])


SHEETS = (
    everything, instruments, fast_and_photo, vehicle_sheets.vehicles_from_four_sides, vehicle_sheets.vehicles_turning,
    vehicle_sheets.vehicle_textures, vehicle_sheets.vehicles_fast_and_photo,
)  # fmt: skip


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in SHEETS:
        made = sheet()
        file = folder / f"gallery-{sheet.__name__.replace('_', '-')}.png"
        file.write_bytes(png(made if isinstance(made, np.ndarray) else tiled(made)))
        print(f"wrote {file}")
    print(f"instruments in reading order: {', '.join(INSTRUMENTS)}; 0 to {RATE / 2:,.0f} Hz")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python experiments/gallery.py FOLDER")
    main(Path(sys.argv[1]))
