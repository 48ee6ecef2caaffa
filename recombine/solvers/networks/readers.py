"""The networks that answer questions about scenes, by name, at laptop size or at the paper's."""

from dataclasses import replace
from typing import Any

from torch import nn

from recombine.solvers.networks.cells import CellShape
from recombine.solvers.networks.film import Film, FilmPlan
from recombine.solvers.networks.mac import Mac, MacPlan
from recombine.solvers.networks.question_lstm import LstmPlan, QuestionLstm
from recombine.solvers.networks.tensor_nmn import TensorNMN, TensorPlan
from recombine.solvers.networks.vector_nmn import VectorNMN, VectorPlan
from recombine.solvers.programs import Functions
from recombine.solvers.training.seeding import seeded
from recombine.store.errors import UserError
from recombine.store.key import Key

MODULAR = ("tensor-nmn", "tensor-nmn-shortcut", "tensor-nmn-film", "vector-nmn", "vector-nmn-1")
"""Networks that run programs and read no words."""
READERS = ("mac", "film", *MODULAR, "lstm", "cnn-lstm")


def build(
    name: str, size: str, words: int, functions: Functions, answers: int, shape: CellShape, key: Key, **own: Any
) -> nn.Module:
    """A network as the key begins it; `size` is laptop or paper, and `own` changes its plan."""
    if name not in READERS:
        raise UserError(f"there is no network '{name}'; choose one of {', '.join(READERS)}")
    large = size == "paper"
    with seeded(key):
        if name == "mac":
            return Mac((MacPlan.paper if large else MacPlan)(words, answers, shape))
        if name == "film":
            return Film(replace((FilmPlan.paper if large else FilmPlan)(words, answers, shape), **own))
        if name.startswith("tensor-nmn"):
            variant = name.removeprefix("tensor-nmn").removeprefix("-")
            return TensorNMN((TensorPlan.paper if large else TensorPlan)(functions, answers, shape, variant))
        if name.startswith("vector-nmn"):
            blocks = 1 if name.endswith("-1") else 2
            return VectorNMN((VectorPlan.paper if large else VectorPlan)(functions, answers, shape, blocks))
        plan = (LstmPlan.paper if large else LstmPlan)(words, answers, shape if name == "cnn-lstm" else None)
        return QuestionLstm(replace(plan, **own))
