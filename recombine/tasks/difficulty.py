"""Difficulty: which rows are wanted, by how much there is to see, to compute and to recombine; and how clear it is."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from recombine.language.expr import Expr
from recombine.render.media import Drawing
from recombine.render.png import decoded, png
from recombine.render.wave import from_wav, to_wav
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.rows import Keep
from recombine.world.scenes import Scenes

_SPAN = re.compile(r"(\d+)?(-)?(\d+)?")


class Span(NamedTuple):
    """From a number to another, both included."""

    low: int
    high: int

    @classmethod
    def read(cls, text: str) -> "Span":
        """
        >>> Span.read("3-6"), Span.read("4"), Span.read("-5")
        (Span(low=3, high=6), Span(low=4, high=4), Span(low=0, high=5))
        """
        found = _SPAN.fullmatch(text.strip())
        low, dash, high = found.groups() if found else (None, None, None)
        if low is None and high is None:
            raise UserError(f"'{text}' is no range; write a number such as 4, or a range such as 3-6, 3- or -6")
        span = cls(int(low or 0), int(high or (10**6 if dash else low or 0)))
        if span.low > span.high:
            raise UserError(f"the range '{text}' is empty; write the smaller number first")
        return span

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | np.integer) and self.low <= int(number) <= self.high

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"


@dataclass(frozen=True)
class Difficulty:
    """What rows are asked for; nothing where all are."""

    objects: Span | None = None
    """Of every scene of a row."""
    depth: Span | None = None
    """Functions inside each other, of a question's program or an episode's concept."""
    novelty: Span | None = None
    """The depth of the smallest fragment that training does not have."""
    noise: float = 0.0
    """The standard deviation of what is added to every pixel, of 1, or to every sample of a sound."""

    @classmethod
    def read(cls, given: "Mapping[str, Any] | Difficulty | None") -> "Difficulty":
        """From words: {"objects": "3-6", "noise": "0.1"}."""
        if isinstance(given, Difficulty):
            return given
        known = [one.name for one in fields(cls)]
        found: dict[str, Any] = {}
        for name, value in (given or {}).items():
            if name not in known:
                raise UserError(f"there is no difficulty '{name}'; choose one of {', '.join(known)}")
            found[name] = _noise(value) if name == "noise" else Span.read(str(value))
        return cls(**found)

    @property
    def said(self) -> dict[str, str]:
        """What was asked for, in words."""
        return {one.name: str(value) for one in fields(self) if (value := getattr(self, one.name))}

    def keep(self, novelty: Callable[[Expr], int | None]) -> Keep | None:
        """Whether a row is wanted; `novelty` tells that of a concept."""
        if self.objects is None and self.depth is None and self.novelty is None:
            return None

        def kept(concept: Expr, scenes: Scenes) -> bool:
            return (
                (self.objects is None or all(int(count) in self.objects for count in scenes.count))
                and (self.depth is None or depth(concept) in self.depth)
                and (self.novelty is None or novelty(concept) in self.novelty)
            )

        return kept

    def drawing(self, clear: Drawing) -> Drawing:
        return Noisy(clear, self.noise, clear.kind, clear.suffix, clear.mime) if self.noise else clear


def depth(term: Expr) -> int:
    """How many functions stand inside each other."""
    return 1 + max(map(depth, term.args), default=0)


def _noise(value: Any) -> float:
    try:
        noise = float(value)
    except (TypeError, ValueError):
        noise = -1.0
    if not 0 <= noise <= 1:
        raise UserError(f"noise is a number from 0 to 1, not {value}")
    return noise


@dataclass(frozen=True)
class Noisy:
    """Another drawing, seen or heard through noise; the same for the same scene."""

    clear: Drawing
    noise: float
    kind: str
    suffix: str
    mime: str

    def files(self, scenes: Scenes) -> list[bytes]:
        return [self._file(file) for file in self.clear.files(scenes)]

    def _file(self, file: bytes) -> bytes:
        rng = (Key(0) / "noise" / hashlib.blake2b(file, digest_size=16).hexdigest()).rng()
        if self.kind == "images":
            pixels = decoded(file).astype(np.float64)
            noisy = pixels + rng.normal(0, 255 * self.noise, pixels.shape)
            return png(noisy.round().clip(0, 255).astype(np.uint8), 1)
        sound = from_wav(file, "a sound of a row")
        return to_wav(sound.samples[:, 0] + rng.normal(0, self.noise, len(sound.samples)), sound.rate)
