"""The rows of a test by group: what each group shows, and which scenes it asks about."""

from typing import NamedTuple

import numpy as np

from recombine.tasks.examples import Observed, numbered


class Rows(NamedTuple):
    """Groups are counted from 0; the rows of `shown` and `asked` stand in the order of their groups."""

    shown: np.ndarray  # int[given rows]: their scenes
    target: np.ndarray  # int[given rows]
    shown_start: np.ndarray  # int[groups + 1]: where the given rows of each group begin
    scenes: np.ndarray  # int[s]: the scenes that are asked about, each once
    place: np.ndarray  # int[asked]: the place of each asked row's scene among them
    start: np.ndarray  # int[groups + 1]: where the asked rows of each group begin
    order: np.ndarray  # int[asked]: where each asked row stands in the test


def by_group(test: Observed) -> Rows:
    """The rows of a test in the order of their groups."""
    group, groups = numbered(test.group)
    asked = ~test.given
    shown, order = (np.argsort(group[rows], kind="stable") for rows in (test.given, asked))
    scenes, place = _each_once(test.scene[asked], len(test.scenes))
    return Rows(
        test.scene[test.given][shown],
        test.shown[shown],
        _starts(group[test.given], groups),
        scenes,
        place[order],
        _starts(group[asked], groups),
        order,
    )


def _each_once(scene: np.ndarray, scenes: int) -> tuple[np.ndarray, np.ndarray]:
    """The scenes that occur, and the place of each row's scene among them."""
    occurs = np.zeros(scenes, bool)
    occurs[scene] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[scene]


def _starts(group: np.ndarray, groups: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(group, minlength=groups))])
