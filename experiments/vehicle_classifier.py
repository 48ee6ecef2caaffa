"""Whether pictures of vehicles teach what they are: a small classifier of single vehicles.

    python experiments/vehicle_classifier.py [--scenes 4000] [--epochs 8] [--parts] [--kept FOLDER] [--out FILE.svg]

A small network learns shape, colour, material and size from crops of 64 x 64 pixels of our own pictures (as in
crop_classifier.py: the square around what is visible of an object, which of its pixels show the object, and where it
was). With --parts it is also shown which of these pixels are parts with looks of their own: it is the body that is
asked about. A third of the pictures are easy, mid and hard each. It is tested on other scenes of each level, and
FILE.svg is its confusion matrix of shapes, by category: rows are what a vehicle is, columns what it is taken for. Crops
and every epoch are kept, so that a stopped run goes on. It needs the extra `models`.
"""

import argparse
import time
from base64 import b64encode
from pathlib import Path

import numpy as np
import torch
from crop_classifier import Crops, as_tensors, crops_of, joined
from torch import Tensor, nn
from torch.nn import functional

from recombine.benchmarks.super_clevr.meaning import parts_of
from recombine.benchmarks.super_clevr.world import COMPLEXITIES, VehicleWorld
from recombine.render.png import png
from recombine.render.schematic import canvas, element, words
from recombine.report.figures import FONT, colour_of, stand_alone, writing
from recombine.report.table import Cell, Column, Table
from recombine.store.key import Key
from recombine.world.scenes import Scenes

WIDTH, HEIGHT, SIDE = 640, 480, 64
TEST, AT_ONCE = 500, 25
"""Scenes of each level that the network is tested on, and scenes that are drawn together."""
LEAST = 200 / (WIDTH * WIDTH)
"""What is visible of every vehicle: 200 pixels."""
BATCH, RATE = 64, 3e-3
WORLDS = {level: VehicleWorld(complexity=level) for level in COMPLEXITIES}
HEADS = {name: len(WORLDS["easy"].vocabulary[name].values) for name in ("shape", "color", "material", "size")}
SHAPES = WORLDS["easy"].fleet.shapes


PART = 96
"""The fourth colour of a part that has looks of its own; the body has 255."""


def drawn(level: str, many: int, key: Key, parts: bool) -> Crops:
    """The crops of so many scenes of a level."""
    world, found = WORLDS[level], []
    scenes = world.sample(many, key)
    for i in range(0, many, AT_ONCE):
        some = scenes[i : i + AT_ONCE]
        pictures = world.stage.draw(some, WIDTH, HEIGHT, ("rgb", "objects", "parts"))
        assert pictures.rgb is not None and pictures.objects is not None and pictures.parts is not None
        marks = marked(some, pictures.objects, pictures.parts) if parts else None
        found.append(crops_of(pictures.rgb, pictures.objects, some, HEADS, SIDE, LEAST, WIDTH, marks))
    return joined(found)


def marked(scenes: Scenes, objects: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """PART where recorded parts are seen, 255 elsewhere, uint8[n, height, width]."""
    found, recorded = np.full(objects.shape, 255, np.uint8), parts_of(scenes)
    for p in range(len(scenes)):
        for number in range(int(recorded.count[p])):
            owner, name = int(recorded.owner[p, number]), int(recorded.codes["partname"][p, number])
            place = int(WORLDS["easy"].fleet.part_places[scenes.codes["shape"][p, owner], name])
            found[p][(objects[p] == owner) & (parts[p] == place)] = PART
    return found


def kept(file: Path, level: str, many: int, key: Key, parts: bool) -> Crops:
    """The same, drawn once."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(".draft.npz")
        np.savez(draft, *drawn(level, many, key, parts))
        draft.rename(file)
    with np.load(file) as content:
        return Crops(*(content[name] for name in content.files))


class Block(nn.Module):
    """Two convolutions around which what comes in may pass; half as many pixels a side."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        first = nn.Conv2d(before, after, 3, 2, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()
        self.look = nn.Sequential(*first, nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
        self.past = nn.Sequential(nn.Conv2d(before, after, 1, 2, bias=False), nn.BatchNorm2d(after))

    def forward(self, pixels: Tensor) -> Tensor:
        return functional.relu(self.look(pixels) + self.past(pixels))


class Network(nn.Module):
    """Seven convolutions, then one layer that also knows the place, then one answer per head."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        first = nn.Sequential(nn.Conv2d(4, width, 5, 2, 2, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        blocks = [Block(width << i, width << i + 1) for i in range(3)]
        self.look = nn.Sequential(first, *blocks, nn.Flatten()).to(memory_format=torch.channels_last)
        self.place = nn.BatchNorm1d(3)
        self.think = nn.Sequential(nn.Linear(8 * width * 16 + 3, 256), nn.ReLU(), nn.Dropout(0.2))
        self.answer = nn.Linear(256, sum(HEADS.values()))

    def forward(self, pixels: Tensor, place: Tensor) -> tuple[Tensor, ...]:
        with torch.autocast("cpu", torch.bfloat16):
            seen = self.look(pixels.contiguous(memory_format=torch.channels_last))
        told = torch.cat([seen.float(), self.place(place)], dim=1)
        return self.answer(self.think(told)).split(list(HEADS.values()), dim=1)


def train(crops: Crops, epochs: int, file: Path, key: Key) -> Network:
    """The network after so many epochs; goes on from the file, which has the last one."""
    torch.manual_seed(int((key / "start").rng().integers(2**31)))
    network, done = Network().train(), 0
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=epochs * (len(crops.codes) // BATCH))
    if file.exists():
        state = torch.load(file, weights_only=True)
        done = state["done"]
        for part, name in ((network, "network"), (optimizer, "optimizer"), (schedule, "schedule")):
            part.load_state_dict(state[name])
    for epoch in range(done, epochs):
        chance = torch.Generator().manual_seed(int((key / "altered" / epoch).rng().integers(2**31)))
        order, losses = (key / "order" / epoch).rng().permutation(len(crops.codes)), []
        for i in range(0, len(order) - BATCH + 1, BATCH):
            pixels, place, codes = as_tensors(crops, order[i : i + BATCH])
            answers = network(*mirrored(pixels, place, chance))
            loss = torch.stack([functional.cross_entropy(a, c) for a, c in zip(answers, codes.T)]).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        parts = {"network": network, "optimizer": optimizer, "schedule": schedule}
        torch.save({"done": epoch + 1, **{name: part.state_dict() for name, part in parts.items()}}, file)
        print(f"epoch {epoch + 1} of {epochs}: loss {np.mean(losses):.3f}", flush=True)
    return network.eval()


def mirrored(pixels: Tensor, place: Tensor, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Half of the crops, at random, as in a mirror."""
    flip = torch.rand(len(pixels), generator=chance) < 0.5
    sign = torch.where(flip, -1.0, 1.0)
    return torch.where(flip[:, None, None, None], pixels.flip(3), pixels), place * torch.stack(
        [sign, torch.ones_like(sign), torch.ones_like(sign)], dim=1
    )


@torch.inference_mode()
def told(network: Network, crops: Crops) -> np.ndarray:
    """What the network says of every crop, asked about it and about its mirror image, int64[n, heads]."""
    said = []
    for i in range(0, len(crops.codes), BATCH):
        pixels, place, _ = as_tensors(crops, slice(i, i + BATCH))
        both = zip(network(pixels, place), network(pixels.flip(3), place * torch.tensor([-1.0, 1.0, 1.0])))
        said.append(torch.stack([sum(a.softmax(dim=1) for a in two).argmax(dim=1) for two in both], dim=1).numpy())
    return np.concatenate(said)


def table(said: dict[str, np.ndarray], crops: dict[str, Crops], note: str) -> Table:
    category = np.array(
        [[*dict(WORLDS["easy"].fleet.categories)].index(WORLDS["easy"].fleet.category[s]) for s in SHAPES]
    )
    rows: list[tuple[Cell, ...]] = []
    for level, found in said.items():
        right, true = found == crops[level].codes, crops[level].codes[:, 0]
        siblings = category[found[:, 0]] == category[true]
        shares = [100 * float(right[:, i].mean()) for i in range(len(HEADS))]
        rows.append((level, len(right), *shares, 100 * float(siblings.mean())))
    names = (*(f"{name} %" for name in HEADS), "category %")
    columns = (Column("pictures"), Column("crops", "right"), *(Column(name, "right", ".2f") for name in names))
    return Table("One vehicle, told from its crop", columns, tuple(rows), note)


def confusion(said: dict[str, np.ndarray], crops: dict[str, Crops]) -> np.ndarray:
    """How often a shape is taken for another, int64[21, 21], over all levels."""
    found = np.zeros((len(SHAPES), len(SHAPES)), np.int64)
    for level, answers in said.items():
        np.add.at(found, (crops[level].codes[:, 0], answers[:, 0]), 1)
    return found


def chart(found: np.ndarray, cell: int = 20) -> np.ndarray:
    """The confusion matrix as a picture: darker where more, white lines between categories."""
    share = found / np.maximum(found.sum(axis=1, keepdims=True), 1)
    shade = np.where(np.eye(len(found), dtype=bool), 0.35 * share, np.sqrt(share))
    picture = np.repeat(np.repeat(255 - np.rint(255 * np.clip(shade, 0, 1)), cell, axis=0), cell, axis=1)
    edge = np.cumsum([len(names) for _, names in WORLDS["easy"].fleet.categories])[:-1] * cell
    picture[edge], picture[:, edge] = 128, 128
    return np.repeat(picture.astype(np.uint8)[..., None], 3, axis=2)


def with_names(picture: np.ndarray) -> str:
    """The matrix between the names of its rows and columns, as SVG."""
    cell, left, top = len(picture) // len(SHAPES), 92, 104
    side, address = cell * len(SHAPES), "data:image/png;base64," + b64encode(png(picture)).decode()
    body = [element("image", href=address, x=left, y=top, width=side, height=side)]
    for i, name in enumerate(SHAPES):
        middle = cell * (i + 0.5)
        x, y = left + middle + 4, top - 6
        body.append(writing(name, left - 6, top + middle + 4.5, anchor="end"))
        style = f"fill:{colour_of('ink')}"
        body.append(words("text", name, x=x, y=y, transform=f"rotate(-60 {x:g} {y:g})", style=style))
    body.append(writing("is", left - 6, top - 8, "muted", anchor="end"))
    body.append(writing("is taken for", left + side + 8, top - 8, "muted"))
    style = f"font-family:{FONT};font-size:12px"
    title = "What a vehicle is, and what it is taken for"
    return stand_alone(canvas(title, left + side + 88, top + side + 8, *body, style=style))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenes", type=int, default=4_000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--parts", action="store_true", help="show which pixels are parts with looks of their own")
    parser.add_argument("--kept", type=Path, default=Path("out/vehicle-classifier"))
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    start, key, many = time.process_time(), Key(0) / "vehicle crops", chosen.scenes // len(WORLDS)
    shown = "-parts" if chosen.parts else ""

    def crops_kept(what: str, level: str, many: int) -> Crops:
        file = chosen.kept / f"{what}-{level}-{many}{shown}.npz"
        return kept(file, level, many, key / what / level, chosen.parts)

    train_on = joined([crops_kept("train", level, many) for level in WORLDS])
    network = train(train_on, chosen.epochs, chosen.kept / f"{many}-{chosen.epochs}{shown}.pt", key)
    crops = {level: crops_kept("test", level, TEST) for level in WORLDS}
    said = {level: told(network, crops[level]) for level in WORLDS}
    note = (
        f"trained on {len(train_on.codes):,} crops of {3 * many:,} scenes, {chosen.epochs} epochs; "
        f"{time.process_time() - start:.0f} s of CPU time"
    )
    print(table(said, crops, note).markdown())
    matrix = confusion(said, crops)
    wrong = matrix * ~np.eye(len(SHAPES), dtype=bool)
    print(
        "\nMost often mistaken: "
        + ", ".join(
            f"{SHAPES[i]} for {SHAPES[j]} {wrong[i, j]}"
            for i, j in zip(*np.unravel_index(np.argsort(-wrong, axis=None)[:10], wrong.shape))
        )
    )
    if chosen.out:
        chosen.out.write_text(with_names(chart(matrix)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
