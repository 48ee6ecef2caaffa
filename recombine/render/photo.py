"""The photo renderer: the same scenes through Mitsuba, which follows the light itself.

Camera, lamps, materials and ids are those of the ray tracer; shadows, mirrors and the light between things come from
paths of light, so a picture takes seconds. It is the referee of the ray tracer, and it draws meshes of the user's own.

Ids, depths and normals are seen in a scene of things only: Mitsuba's lamps are bodies that would hide them. The light
of few paths is noisy; where Open Image Denoise is installed it is smoothed, elsewhere more paths are followed.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from recombine.render.edges import LEVELS
from recombine.render.eye import NOTHING
from recombine.render.instances import Instances
from recombine.render.instances import check as check_instances
from recombine.render.mesh import Mesh, bodies_of_mesh
from recombine.render.photo_models import bodies_of_models
from recombine.render.primitives import Primitives, check
from recombine.render.raytrace import Pictures, check_wanted, empty_layers, screen
from recombine.render.solids import solids
from recombine.render.studio import Body, Studio, Words, bodies_of
from recombine.store.errors import UserError
from recombine.world.camera import FORWARD, POSITION, Camera
from recombine.world.scenes import Scenes

SAMPLES = 16
"""The paths of light that end in a pixel."""
WITHOUT_DENOISER = 8
"""How many times more there are where nothing smooths them."""
BOUNCES = 6
"""The most times that light is thrown back."""
SEED = 0
"""The same for every scene, so that a scene is the same picture in every batch."""
BLOCK = 16
"""The side of the blocks of pixels that are done at once; each has random numbers of its own."""
LLVM = 19
"""The first version of LLVM that compiles all that Mitsuba asks for; with older ones the process ends."""
NEEDED = "the photo renderer needs Mitsuba: pip install 'recombine[photo]'"


def photograph(
    scenes: Scenes | Primitives | Instances,
    width: int,
    height: int,
    want: Collection[str] = ("rgb", "objects", "depth"),
    samples: int = SAMPLES,
    meshes: Sequence[Sequence[Mesh]] = (),
) -> Pictures:
    """Photos of scenes, with the layers that are wanted; `meshes` are further things, scene by scene."""
    check_wanted(want, width, height)
    if samples < 1:
        raise UserError(f"a photo takes at least 1 sample per pixel, not {samples}")
    camera, things = Camera(width, height), solids(scenes) if isinstance(scenes, Scenes) else scenes
    if isinstance(things, Instances):
        check_instances(things, camera)
    else:
        check(things, camera)
    if meshes and len(meshes) != len(things):
        raise UserError(f"there are meshes for {len(meshes)} scenes, but there are {len(things)} scenes")
    studio = Studio(load_mitsuba())
    made = empty_layers(len(things), width, height, want)
    for scene in range(len(things)):
        jitter = things.camera[scene]
        bodies = bodies_of_models(things, scene) if isinstance(things, Instances) else bodies_of(things, scene)
        for mesh in meshes[scene] if meshes else ():
            bodies += bodies_of_mesh(mesh, camera, jitter, studio.mi)
        shot = _Shot(studio, camera, jitter, things.lamps[scene], bodies)
        for name, layer in shot.layers(want, samples).items():
            made[name][scene] = layer
    return Pictures.of(made)


@cache
def load_mitsuba() -> Any:
    """Mitsuba, compiling for this machine where it can."""
    try:
        import drjit
        import mitsuba
    except ImportError as error:
        raise UserError(NEEDED) from error
    version = drjit.detail.llvm_version()
    mitsuba.set_variant("llvm_ad_rgb" if version[0] >= LLVM else "scalar_rgb")
    return mitsuba


@cache
def _denoiser() -> Callable[..., np.ndarray] | None:
    try:
        from pyoidn import denoise
    except (ImportError, OSError):
        return None
    return denoise


@dataclass(frozen=True)
class _Shot:
    """One scene before the camera."""

    studio: Studio
    camera: Camera
    jitter: np.ndarray  # of the camera
    lamps: np.ndarray  # their jitter
    bodies: Sequence[Body]

    @cached_property
    def view(self) -> np.ndarray:
        return self.camera.view(self.jitter)

    def layers(self, want: Collection[str], samples: int) -> dict[str, np.ndarray]:
        found = {"rgb": self._photo(samples)} if "rgb" in want else {}
        if any(name != "rgb" for name in want):
            found |= self._seen()
        return {name: layer for name, layer in found.items() if name in want}

    def _photo(self, samples: int) -> np.ndarray:
        """What the camera sees, uint8[height, width, 3]."""
        denoise = _denoiser()
        path = {"type": "path", "max_depth": BOUNCES, "hide_emitters": True}
        sampler = {"type": "independent", "sample_count": samples if denoise else samples * WITHOUT_DENOISER}
        sensor = self.studio.sensor(self.camera, self.jitter, sampler)
        bodies = {f"body{i}": self.studio.body(body) for i, body in enumerate(self.bodies)}
        light = self._render(path, sensor, {**bodies, **self.studio.lamps(self.lamps), "ground": self.studio.ground})
        light = denoise(light, hdr=True) if denoise else light
        return screen()[np.round(np.clip(light, 0, 1) * (LEVELS - 1)).astype(np.int64)]

    def _depth(self, points: np.ndarray) -> np.ndarray:
        return (points - self.view[POSITION]) @ self.view[FORWARD]

    def _seen(self) -> dict[str, np.ndarray]:
        """What the middle of every pixel shows."""
        row, place, normal = self._rows()
        down = self.camera.rays(self.jitter)[..., 2]
        ground = np.where(down < 0, -self.view[POSITION, 2] / np.where(down < 0, down, -1), np.inf)
        return {
            "objects": np.array([*(body.object for body in self.bodies), NOTHING])[row],
            "parts": np.array([*(body.part for body in self.bodies), NOTHING])[row],
            "depth": np.minimum(np.where(row < 0, np.inf, self._depth(place)), ground),
            "normals": np.where(row[..., None] < 0, (0.0, 0.0, 1.0), normal),
        }

    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For the middle of every pixel the number of a body, -1 for none; the place, and which way it faces."""
        shape = self.camera.height, self.camera.width
        if not self.bodies:
            return np.full(shape, -1), np.zeros((*shape, 3)), np.zeros((*shape, 3))
        sampler = {"type": "stratified", "sample_count": 1, "jitter": False}
        sensor = self.studio.sensor(self.camera, self.jitter, sampler)
        layers = {"type": "aov", "aovs": "number:uv,place:position,normal:sh_normal,face:geo_normal"}
        things = self.studio.numbered([body.surface for body in self.bodies])
        image = self._render(layers, sensor, {"things": things})
        place, normal, face = image[..., 2:5], image[..., 5:8], image[..., 8:11]
        # What is seen from behind, such as a disc from below, faces the eye.
        behind = np.einsum("hwi,hwi->hw", face, place - self.view[POSITION]) > 0
        return np.round(image[..., 0]).astype(np.int64) - 1, place, np.where(behind[..., None], -normal, normal)

    def _render(self, integrator: Words, sensor: Words, things: Words) -> np.ndarray:
        """An image, float32[height, width, channels]: the same on any number of cores."""
        scene = {"type": "scene", "integrator": {**integrator, "block_size": BLOCK}, "sensor": sensor, **things}
        # Loaded side by side, lamps would come in any order, and other paths would be followed.
        return np.array(self.studio.mi.render(self.studio.mi.load_dict(scene, parallel=False), seed=SEED))
