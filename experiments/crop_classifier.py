"""Whether pictures of the ray tracer teach what things look like: a small classifier of single objects.

    python experiments/crop_classifier.py [FOLDER] [--scenes 4000] [--photos 40]

A small network learns colour, shape, material and size from pictures of CLEVR's scenes that the ray tracer drew. It is
tested on the ray tracer's pictures of other scenes, on photos of other scenes, and on real images of CLEVR: FOLDER
holds scene files (*scenes*.json) and, in its folder `images`, some of their images. It needs the extra `models`, and
`photo` for the photos.

The network sees a *crop*: the square around what is visible of an object, always as many pixels, and as a fourth colour
which of them show the object. It is told where in the image the crop was and how large, because a small thing nearby
looks as large as a large one far away.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from beside_real import pairs
from torch import Tensor, nn
from torch.nn import functional

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render.masks import seen
from recombine.render.photo import photograph
from recombine.render.raytrace import Pictures, raytrace
from recombine.report.table import Cell, Column, Table
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes

WIDTH, HEIGHT = 320, 240
WANT = ("rgb", "objects")
TEST = 500
"""Scenes of the ray tracer that the network is tested on."""
VISIBLE = 100 / (WIDTH * WIDTH)
"""The least of an object that is to be seen: 100 pixels of a picture as wide as ours."""
SIDE, MARGIN = 32, 1.3
"""The pixels of a crop's side, and how many times longer it is than the object's box."""
BATCH, EPOCHS, RATE = 64, 5, 3e-3
AT_ONCE = 100
"""Scenes that are drawn together, so that only their crops are kept."""

HEADS = {name: len(ClevrWorld().vocabulary[name].values) for name in ("color", "shape", "material", "size")}


class Crops(NamedTuple):
    """Objects as the network sees them, and what they are."""

    pixels: np.ndarray  # uint8[n, 4, SIDE, SIDE]: red, green, blue, and 255 where the object is
    place: np.ndarray  # float32[n, 3]: the middle of the crop from the middle of the image, and its side, in widths
    codes: np.ndarray  # int64[n, 4]: one column for each of HEADS


def crops_of(
    rgb: np.ndarray,
    objects: np.ndarray,
    scenes: Scenes,
    heads: Iterable[str] = tuple(HEADS),
    pixels: int = SIDE,
    least: float = VISIBLE,
    sharpest: int = WIDTH,
    marks: np.ndarray | None = None,
) -> Crops:
    """The crops of all objects that are visible enough, from pictures of any size, none sharper than one so wide.

    Where an object is, its fourth colour is that of `marks`, uint8[n, height, width], or 255.
    """
    height, width = objects.shape[1:]
    visible, boxes = seen(objects, scenes.places)
    picture, thing = np.nonzero(visible >= least * width * width)
    box = boxes[picture, thing].astype(float)
    middle, side = box[:, :2] + box[:, 2:] / 2, MARGIN * box[:, 2:].max(axis=1)
    cut = [
        crop(rgb[p], (objects[p] == t) * (255 if marks is None else marks[p]), x, y, s, pixels, sharpest)
        for p, t, (x, y), s in zip(picture, thing, middle.tolist(), side.tolist())
    ]
    place = np.concatenate([middle - (width / 2, height / 2), side[:, None]], axis=1) / width
    codes = np.stack([scenes.codes[name][picture, thing] for name in heads], axis=1)
    return Crops(np.stack(cut), place.astype(np.float32), codes.astype(np.int64))


def crop(
    rgb: np.ndarray, marks: np.ndarray, x: float, y: float, side: float, pixels: int = SIDE, sharpest: int = WIDTH
) -> np.ndarray:
    """A square of a picture in so many pixels a side, uint8[4, pixels, pixels]; black beyond the picture's edge."""
    height, width = marks.shape
    rows, top = means(y, side, height, width / sharpest, pixels)
    columns, left = means(x, side, width, width / sharpest, pixels)
    part = (slice(top, top + rows.shape[1]), slice(left, left + columns.shape[1]))
    layers = np.concatenate([rgb[part], marks[part][..., None]], axis=2).astype(np.float32)
    return np.rint(rows @ layers.transpose(2, 0, 1) @ columns.T).astype(np.uint8)


def means(middle: float, side: float, length: int, blur: float, pixels: int) -> tuple[np.ndarray, int]:
    """The share of every pixel of a picture in each of so many along an axis, float32[pixels, n], and the first one.

    Each is the mean over its own stretch, but over no less than `blur` pixels, so that images of any size are as sharp.
    """
    stretch = max(side / pixels, blur)
    at = middle + side * ((np.arange(pixels) + 0.5) / pixels - 0.5)[:, None]
    first, last = (int(np.clip(edge, 0, length)) for edge in (at[0, 0] - stretch, at[-1, 0] + stretch + 1))
    pixel = np.arange(first, last)
    covered = np.minimum(at + stretch / 2, pixel + 1) - np.maximum(at - stretch / 2, pixel)
    return (np.maximum(covered, 0) / stretch).astype(np.float32), first


def joined(parts: list[Crops]) -> Crops:
    return Crops(*(np.concatenate(column) for column in zip(*parts)))


def crops_in(pictures: Pictures, scenes: Scenes) -> Crops:
    assert pictures.rgb is not None and pictures.objects is not None
    return crops_of(pictures.rgb, pictures.objects, scenes)


def fast_crops(scenes: Scenes) -> Crops:
    """Crops of the ray tracer's pictures."""
    batches = [scenes[i : i + AT_ONCE] for i in range(0, len(scenes), AT_ONCE)]
    return joined([crops_in(raytrace(batch, WIDTH, HEIGHT, WANT), batch) for batch in batches])


def photo_crops(scenes: Scenes) -> Crops:
    """Crops of photos, with the photos' own ids."""
    return crops_in(photograph(scenes, WIDTH, HEIGHT, WANT), scenes)


def real_crops(folder: Path) -> Crops:
    """Crops of real images; where their objects are, the ray tracer says, through the camera that fits."""
    found = []
    for pair in pairs(folder):
        height, width, _ = pair.image.shape
        objects = raytrace(pair.scene, width, height, ["objects"]).objects
        assert objects is not None
        found.append(crops_of(pair.image[None], objects, pair.scene))
    if not found:
        raise UserError(f"{folder} holds no scene files of CLEVR with images beside them, in a folder called images")
    return joined(found)


class Network(nn.Module):
    """Three convolutions, then one layer that also knows the place, then one answer per head."""

    def __init__(self) -> None:
        super().__init__()
        blocks = [self._block(*channels) for channels in ((4, 16), (16, 32), (32, 64))]
        self.look = nn.Sequential(*blocks, nn.Flatten())
        self.place = nn.BatchNorm1d(3)
        self.think = nn.Sequential(nn.Linear(64 * (SIDE // 8) ** 2 + 3, 128), nn.ReLU())
        self.answer = nn.Linear(128, sum(HEADS.values()))

    def _block(self, before: int, after: int) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU(), nn.MaxPool2d(2)
        )

    def forward(self, pixels: Tensor, place: Tensor) -> tuple[Tensor, ...]:
        told = torch.cat([self.look(pixels), self.place(place)], dim=1)
        return self.answer(self.think(told)).split(list(HEADS.values()), dim=1)


def altered(pixels: Tensor, chance: torch.Generator) -> Tensor:
    """Crops a little brighter or darker, tinted, blurred and noisy, as another camera might see them."""

    def uniform(low: float, high: float, channels: int) -> Tensor:
        return low + (high - low) * torch.rand((len(pixels), channels, 1, 1), generator=chance)

    blurred = functional.avg_pool2d(pixels, 3, 1, 1, count_include_pad=False)
    rgb, mask = torch.lerp(pixels, blurred, uniform(0, 1, 1)).split((3, 1), dim=1)
    rgb = rgb * uniform(0.85, 1.15, 1) * uniform(0.96, 1.04, 3) + uniform(-0.05, 0.05, 1)
    rgb = rgb + uniform(0, 0.02, 1) * torch.randn(rgb.shape, generator=chance)
    return torch.cat([rgb.clip(0, 1), mask], dim=1)


def train(crops: Crops, key: Key) -> Network:
    torch.manual_seed(int((key / "start").rng().integers(2**31)))
    chance = torch.Generator().manual_seed(int((key / "altered").rng().integers(2**31)))
    network = Network().train()
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-2)
    steps = EPOCHS * (len(crops.codes) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps)
    for epoch in range(EPOCHS):
        order = (key / "order" / epoch).rng().permutation(len(crops.codes))
        for i in range(0, len(order) - BATCH + 1, BATCH):
            pixels, place, codes = as_tensors(crops, order[i : i + BATCH])
            answers = network(altered(pixels, chance), place)
            loss = torch.stack([functional.cross_entropy(a, c) for a, c in zip(answers, codes.T)]).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval()


def as_tensors(crops: Crops, which: np.ndarray | slice) -> tuple[Tensor, Tensor, Tensor]:
    pixels, place, codes = (torch.from_numpy(column[which]) for column in crops)
    return pixels.float() / 255, place, codes


@torch.inference_mode()
def is_right(network: Network, crops: Crops) -> np.ndarray:
    """Whether each attribute of each object is told, bool[n, 4]."""
    right = []
    for i in range(0, len(crops.codes), BATCH):
        pixels, place, codes = as_tensors(crops, slice(i, i + BATCH))
        said = torch.stack([answer.argmax(dim=1) for answer in network(pixels, place)], dim=1)
        right.append((said == codes).numpy())
    return np.concatenate(right)


def table(right: dict[str, np.ndarray], trained: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, len(found), *(100 * found.mean(axis=0)).tolist(), float(100 * found.all(axis=1).mean()))
        for name, found in right.items()
    ]
    names = (*(f"{name} %" for name in HEADS), "all four %")
    columns = (Column("pictures"), Column("crops", "right"), *(Column(name, "right", ".2f") for name in names))
    return Table("One object, told from its crop", columns, tuple(rows), trained)


def tests(photos: int, folder: Path | None, key: Key) -> dict[str, Callable[[], Crops]]:
    """What the network is tested on, and how it is made."""
    world = ClevrWorld()
    found = {f"ray tracer, {TEST} other scenes": lambda: fast_crops(world.sample(TEST, key / "test"))}
    if photos:
        found[f"photos, {photos} other scenes"] = lambda: photo_crops(world.sample(photos, key / "photo"))
    if folder:
        found["real images"] = lambda: real_crops(folder)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--scenes", type=int, default=4_000)
    parser.add_argument("--photos", type=int, default=40)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    start, key = time.process_time(), Key(0) / "crops"
    crops = fast_crops(ClevrWorld().sample(chosen.scenes, key / "train"))
    network = train(crops, key / "network")
    right = {}
    for name, made in tests(chosen.photos, chosen.folder, key).items():
        try:
            right[name] = is_right(network, made())
        except UserError as error:  # a missing extra, or no images in the folder
            print(f"{name}: left out, because {error}")
    took = f"{time.process_time() - start:.0f} s of CPU in all"
    trained = f"trained on {len(crops.codes):,} crops of {chosen.scenes:,} scenes of the ray tracer; {took}"
    print(table(right, trained).markdown())


if __name__ == "__main__":
    main()
