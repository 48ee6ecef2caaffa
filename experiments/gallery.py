"""Write the sheets of docs/gallery.md: `python experiments/gallery.py docs/pictures`; photos need the extra `photo`."""

import sys
from base64 import b64encode
from pathlib import Path

import numpy as np
import vehicle_sheets

from recombine.benchmarks.clevr.laws import LANGUAGE
from recombine.benchmarks.clevr.question_page import program_graph
from recombine.render.fine import traced
from recombine.render.instruments import INSTRUMENTS, RATE
from recombine.render.materials import COLORS
from recombine.render.photo import photograph
from recombine.render.png import png
from recombine.render.schematic import canvas, element, words
from recombine.render.sound import synthesised_orchestra
from recombine.render.spectrogram import spectrograms
from recombine.render.wave import to_wav
from recombine.report.figures import FONT, colour_of, stand_alone
from recombine.store.key import Key
from recombine.verbs.demo import example_questions
from recombine.world.scenes import Scenes

GAP, PAPER = 6, 255
FINE = 8
"""How much larger each side is drawn before it is made small."""
RANGE = 80
"""Decibels from black to white."""
PITCH = 4
MUTED = f"fill:{colour_of('muted')}"
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
    fast, photo = traced(scenes, 400, 300, FINE), photograph(scenes, 400, 300, ("rgb",), samples=64).rgb
    assert photo is not None
    return tiled([[a, b] for a, b in zip(fast, photo)])


def everything() -> np.ndarray:
    """All shapes, materials and colours: a scene for each colour, rubber behind, metal in front."""
    drawn = traced(_rows(), 400, 300, FINE)
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


def notes() -> np.ndarray:
    """One note of each instrument, all at one pitch, float[instrument, samples]."""
    found: np.ndarray = synthesised_orchestra().notes[:, PITCH, 0, 0] / 32_768  # of instrument, pitch, profile, timbre
    return found


def instruments() -> str:
    """The spectrograms of the eight instruments with their names, frequencies and a scale of loudness, as SVG."""
    played = notes()
    decibels = spectrograms(played)
    shade = (255 * np.clip((decibels - decibels.max() + RANGE) / RANGE, 0, 1)).astype(np.uint8)
    wide, high, left, top, below = 200, 120, 56, 26, 24
    body = []
    for i, (name, color) in enumerate(zip(INSTRUMENTS, COLORS)):
        x, y = left + (i % 4) * (wide + 18), top + (i // 4) * (high + top + below)
        said = f"{name} ({color})"
        body += [
            words("text", said, x=x, y=y - 8, style=f"fill:{colour_of('ink')};font-weight:bold"),
            _spectrogram(shade[i][::-1], x, y, wide, high, said),
        ]
        if i % 4 == 0:
            for share, label in ((0, "0"), (0.5, f"{RATE / 4000:.0f} kHz"), (1, f"{RATE / 2000:.0f} kHz")):
                at = y + high * (1 - share) + (4 if share < 1 else 10)
                body.append(words("text", label, x=left - 6, y=at, text_anchor="end", style=MUTED))
        for share in (0, 1):
            label = f"{share * played.shape[1] / RATE:.1f} s"
            anchor = "end" if share else "start"
            body.append(words("text", label, x=x + share * wide, y=y + high + 16, text_anchor=anchor, style=MUTED))
    x, y = left + 4 * (wide + 18) + 6, top
    scale = np.repeat(np.linspace(255, 0, 256).astype(np.uint8)[:, None], 8, axis=1)
    body.append(words("text", "loudness", x=x, y=y - 8, style=f"fill:{colour_of('ink')};font-weight:bold"))
    body.append(_spectrogram(scale, x, y, 16, high, "the scale of loudness"))
    for share in (0, 0.5, 1):
        text = f"{-RANGE * share:.0f} dB".replace("-0", "0").replace("-", "\u2212")
        body.append(words("text", text, x=x + 22, y=y + 10 + share * (high - 10), style=MUTED))
    style = f"font-family:{FONT};font-size:12px"
    drawn = canvas("Eight instruments as spectrograms", x + 80, 2 * (high + top + below), *body, style=style)
    return stand_alone(drawn)


def question_scene() -> str:
    """The scene of a question that CLEVR never asks, with the numbers of its objects."""
    seen = list(example_questions())[1].picture
    assert seen is not None
    return seen.svg(numbered=True)


def question_program() -> str:
    """Its program, and what every part of it finds."""
    return stand_alone(program_graph(list(example_questions())[1]))


def _spectrogram(shade: np.ndarray, x: float, y: float, wide: float, high: float, said: str) -> str:
    """Loudness as light, uint8[frequency, time]."""
    address = "data:image/png;base64," + b64encode(png(np.repeat(shade[..., None], 3, axis=-1))).decode()
    plain = {"preserveAspectRatio": "none", "href": address}
    return element("image", words("title", said), x=x, y=y, width=wide, height=high, **plain)


def write_sounds(folder: Path) -> None:
    """A file to play for each instrument: its note, every second sample."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, note in zip(INSTRUMENTS, notes()):
        halved = (note[:-1:2] + note[1::2]) / 2
        (folder / f"{name.replace(' ', '-')}.wav").write_bytes(to_wav(halved, RATE // 2))


SHEETS = (
    everything, instruments, question_scene, question_program,
    fast_and_photo, vehicle_sheets.vehicles_from_four_sides, vehicle_sheets.vehicles_turning,
    vehicle_sheets.vehicle_textures, vehicle_sheets.vehicles_fast_and_photo,
)  # fmt: skip


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in SHEETS:
        made, name = sheet(), f"gallery-{sheet.__name__.replace('_', '-')}"
        file = folder / f"{name}.{'svg' if isinstance(made, str) else 'png'}"
        if isinstance(made, str):
            file.write_text(made + "\n", encoding="utf-8")
        else:
            file.write_bytes(png(made if isinstance(made, np.ndarray) else tiled(made)))
        print(f"wrote {file}")
    write_sounds(folder.parent / "sounds")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python experiments/gallery.py FOLDER")
    main(Path(sys.argv[1]))
