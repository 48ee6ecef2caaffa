"""Models from files of a user's own: OBJ, glTF and GLB, drawn in the same fast way as ours.

    model = read_model("vehicles/car/tractor.glb")
    folder = read_models("vehicles")                        # all files in a folder, by category

A named group of a file is a part; a group called body, or none, is the body; a group whose name starts with glass is
body as well, darkened as glass is. A file is in any unit: its model is scaled so that the diagonal of its box is one,
and stands on its origin, the middle of its box. An OBJ file has x ahead, y to the left and z up; glTF has its own axes,
y up and the front toward z. Corners without normals get them by crease angle, as ours do.

In a folder the name of a file is that of its vehicle, and a folder within it is a category.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path

import numpy as np

from recombine.render.gltf import read_gltf
from recombine.render.kit.piece import length, smooth
from recombine.render.kit.tints import GLASS
from recombine.render.loose import Loose
from recombine.render.models import Model
from recombine.render.obj import read_obj
from recombine.store.errors import UserError
from recombine.store.paths import inside
from recombine.store.writing import write_text

READERS = {".obj": read_obj, ".gltf": read_gltf, ".glb": read_gltf}
FORMATS = ", ".join(READERS)
BODY = ("", "body", "default")
"""Groups that are no part; `default` is what programs write that know of no groups."""
MOST_TRIANGLES = 200_000
"""Of a model: a scene of ten is drawn within a second."""
MOST_PARTS, MOST_FILES = 100, 500
FLAT = 1e-5
"""A box with a shorter side, of its diagonal, is no vehicle."""


@dataclass(frozen=True)
class Models:
    """The models of a folder."""

    categories: Mapping[str, tuple[str, ...]]
    models: Mapping[str, Model]
    digest: str
    """Of the files: the same for the same models, wherever they are."""


def read_models(folder: Path | str) -> Models:
    """All models of a folder, and of the folders within it, by category; those of no category are called vehicles."""
    files = _files(Path(folder))
    models, categories = {}, dict[str, tuple[str, ...]]()
    for category, file in files:
        model = read_model(file)
        if model.name in models:
            raise UserError(f"{file}: there are two vehicles called '{model.name}'; rename one")
        models[model.name] = model
        categories[category] = (*categories.get(category, ()), model.name)
    if both := sorted({*models} & {*categories}):
        raise UserError(f"{folder}: '{both[0]}' is a vehicle and a category; rename one")
    whole = blake2s(digest_size=16)
    for name, model in models.items():
        whole.update(f"{name}:{','.join(model.parts)};".encode())
        for column in (model.points, model.triangles, model.normals, model.part, model.tint):
            whole.update(np.ascontiguousarray(column).tobytes())
    return Models(categories, models, whole.hexdigest())


def _files(folder: Path) -> list[tuple[str, Path]]:
    """The files of models in a folder, each with its category."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder} of vehicles")
    found = [
        ("vehicle" if file.parent == folder else _word(file.parent, "folder"), inside(folder, file))
        for file in sorted([*folder.iterdir(), *(f for sub in folder.iterdir() if sub.is_dir() for f in sub.iterdir())])
        if file.suffix.lower() in READERS and file.is_file()
    ]
    if not found:
        raise UserError(f"{folder} holds no vehicles; put files of the formats {FORMATS} into it")
    if len(found) > MOST_FILES:
        raise UserError(f"{folder} holds {len(found):,} vehicles, but {MOST_FILES} are allowed")
    return found


def _word(path: Path, what: str) -> str:
    """What a file or folder is called in questions."""
    name = path.stem if what == "file" else path.name
    word = re.sub(r"[\s_]+", "_", name.strip().lower())
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", word):
        raise UserError(f"{path}: '{name[:40]}' is no name for a {what}; use letters, digits, - and _")
    return word


def read_model(file: Path | str) -> Model:
    """The model of a file, called as the file is."""
    file = Path(file)
    if file.suffix.lower() not in READERS:
        raise UserError(f"{file} is no model that can be read; convert it to one of {FORMATS}")
    if not file.is_file():
        raise UserError(f"there is no model {file}")
    return model_of(file, _word(file, "file"), READERS[file.suffix.lower()](file))


def model_of(file: Path, name: str, loose: Loose) -> Model:
    """Loose triangles as a model of unit size."""
    corners, normals, group = _solid(file, loose)
    if len(corners) > MOST_TRIANGLES:
        raise UserError(
            f"{file} has {len(corners):,} triangles, but {MOST_TRIANGLES:,} are allowed; simplify it, "
            "some ten thousand look as good"
        )
    part, tint, parts = _parts(file, loose.names, group)
    given = length(normals) > 1e-12  # False where there are none
    unit = normals / np.where(given, length(normals), 1.0)[..., None]
    normals = np.where(given[..., None], unit, smooth(corners)) if not given.all() else unit
    points, triangles = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    return Model(name, points, triangles.reshape(-1, 3).astype(np.int32), normals, part, tint, parts)


def _solid(file: Path, loose: Loose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The corners in a box of diagonal one around the origin, without triangles that are no more than a line."""
    if not len(loose.corners):
        raise UserError(f"{file} has no faces")
    low, high = loose.corners.min(axis=(0, 1)), loose.corners.max(axis=(0, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        diagonal = float(np.sqrt(((high - low) ** 2).sum()))
    if not (np.isfinite(diagonal) and diagonal > 0):
        raise UserError(f"{file} is as large as {diagonal:g}; no vehicle is")
    if ((high - low) < FLAT * diagonal).any():
        raise UserError(f"{file} is flat: a vehicle has a length, a width and a height")
    corners = np.round((loose.corners - (low + high) / 2) / diagonal, 5) + 0.0
    one, two, three = corners[:, 0], corners[:, 1], corners[:, 2]
    kept = length(np.cross(two - one, three - one)) > 1e-10
    if not kept.any():
        raise UserError(f"{file} has no faces but points and lines")
    return corners[kept], loose.normals[kept], loose.group[kept]


def _parts(file: Path, names: tuple[str, ...], group: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """The part and the tint of every triangle, and the names of the parts."""
    raw = [re.sub(r"[^0-9a-z]+", "_", name.lower()).strip("_") for name in names]
    used = [raw[i] for i in np.unique(group).tolist()]
    parts = tuple(dict.fromkeys(name for name in used if name not in BODY and not name.startswith("glass")))
    if not parts:
        raise UserError(f"{file} has no named groups: every part of a vehicle is a group of faces with its name")
    if len(parts) > MOST_PARTS:
        raise UserError(f"{file} has {len(parts):,} parts, but {MOST_PARTS} are allowed; join some groups")
    number = np.array([parts.index(name) if name in parts else -1 for name in raw], np.int16)
    tint = np.array([GLASS if name.startswith("glass") else 1.0 for name in raw], np.float32)
    return number[group], tint[group], parts


def write_obj(model: Model, file: Path | str) -> None:
    """A model as an OBJ file, its parts as groups; what is dark of its body is glass, other tints are lost."""
    lines = [f"# {model.name}: x ahead, y to the left, z up"]
    lines += [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in model.points.tolist()]
    lines += [f"vn {x:.5f} {y:.5f} {z:.5f}" for x, y, z in model.normals.reshape(-1, 3).tolist()]
    names = np.array([*model.parts, "body", "glass"])
    glass = (model.part < 0) & (model.tint <= np.float32(GLASS))
    of = np.where(glass, len(model.parts) + 1, np.where(model.part < 0, len(model.parts), model.part))
    for which in np.unique(of).tolist():
        lines.append(f"g {names[which]}")
        for t in np.flatnonzero(of == which).tolist():
            corners = (f"{point + 1}//{3 * t + k + 1}" for k, point in enumerate(model.triangles[t].tolist()))
            lines.append(f"f {' '.join(corners)}")
    write_text(Path(file), "\n".join(lines) + "\n")
