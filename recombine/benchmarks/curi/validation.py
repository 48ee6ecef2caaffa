"""What CURI's networks are validated by, and what their decoders write."""

from typing import Any

import numpy as np

from recombine.benchmarks.curi.exam import ranked_precision
from recombine.benchmarks.curi.pipeline import CuriPipeline
from recombine.benchmarks.curi.words import Words, judge
from recombine.semantics.bits import unpack_bits
from recombine.tasks.episodes import Episodes, Negatives

VALIDATED, RANKED = 512, 200
"""Validation episodes for the accuracy, and for the average precision."""
EXAMPLES = 8
"""Written concepts that are kept to be looked at."""


def words_of(study: CuriPipeline) -> Words:
    return Words(study.setup.edition.auxiliary, study.setup.lot)


class Validation:
    """Loss, accuracy and average precision on the first validation episodes; pictures and sounds have fewer."""

    def __init__(self, study: CuriPipeline, split: str, negatives: Negatives, modality: str = "schema") -> None:
        columns = study.episodes(split, "validation", negatives)
        fewer = 1 if modality == "schema" else 8  # a picture costs more than a list of properties
        self.some = Episodes(*(column[: VALIDATED // fewer] for column in columns))
        self.ranked = Episodes(*(column[:RANKED] for column in self.some))
        probe = study.probe_scenes[:: fewer**2]
        self.scenes, self.place = np.unique(probe, return_inverse=True)
        bits = study.probe.bits[study.table.sense[self.ranked.concept]]
        self.truth = unpack_bits(bits, len(study.probe_scenes))[:, :: fewer**2]  # bool[episodes, probe]

    def __call__(self, network: Any, sight: Any) -> dict[str, float]:
        from recombine.solvers.prototypes import embed, on_episodes, read

        vectors = embed(network, sight, self.scenes)
        precision = []
        for start in range(0, len(self.truth), 16):
            some = Episodes(*(column[start : start + 16] for column in self.ranked))
            found, _ = read(network, sight, some)
            scores = rank(found, vectors)[:, self.place]
            precision += [ranked_precision(*row) for row in zip(self.truth[start : start + 16], scores)]
        return {**on_episodes(network, sight, self.some), "mAP": float(np.mean(precision))}


def rank(found: Any, vectors: Any) -> np.ndarray:
    """Numbers in the order of the log-odds of every scene in every episode, float64[episodes, scenes]."""
    from recombine.solvers.networks.prototype import log_odds

    scores: np.ndarray = log_odds(found.double(), vectors.double()[None]).cpu().numpy()
    return scores


def written(study: CuriPipeline, some: Episodes, network: Any, sight: Any) -> dict[str, Any]:
    """What the decoder writes after the support of episodes, judged, and a few examples."""
    from torch import no_grad

    from recombine.solvers.prototypes import read

    words = words_of(study)
    longest = words.numbers(study.space.concepts).shape[1]
    texts: list[str] = []
    with no_grad():
        for start in range(0, len(some.concept), 16):
            found, _ = read(network, sight, Episodes(*(column[start : start + 16] for column in some)))
            texts += map(words.text, network.decoder.write(found.flatten(1), longest).cpu().numpy())
    meant = [study.space.concepts[concept] for concept in some.concept]
    label = some.label[:, : some.size]
    verdict = judge([words.read(text) for text in texts], meant, some.support, label, study.scenes, study.setup.lot)
    meant_texts = [words.text(row) for row in words.numbers(meant[:EXAMPLES])]
    return {**verdict.shares(), "episodes": len(some.concept), "examples": list(zip(meant_texts, texts))}
