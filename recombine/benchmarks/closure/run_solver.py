"""A trained network as one that answers any question about any scenes.

Networks that run programs are given the true one where the task hides it, as the paper's GT- networks are: our own
English reads it without error. What a generator writes is run on the exact scene; where it is no program, or has no
answer, all answers are equally likely.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.arrays import tokens_of
from recombine.benchmarks.clevr.program import write_program
from recombine.benchmarks.clevr.runner import Runner, clevr_functions
from recombine.benchmarks.closure.families import ENGLISH
from recombine.solvers.programs import lay_out
from recombine.solvers.questions import Questions, Vocabulary
from recombine.store.errors import UserError
from recombine.tasks.examples import Observed
from recombine.world.scenes import Scenes


@dataclass(frozen=True, eq=False)
class RunSolver:
    """A network behind a view of scenes, or a generator before an executor."""

    network: Any
    model: str
    vocabulary: Vocabulary
    view: Any
    """From scenes to what the network sees of them; None for a generator."""
    training: Any

    def predict(self, test: Observed) -> np.ndarray:
        from recombine.solvers.training.loop import settled

        if test.answers != ANSWERS:
            raise UserError("this network answers CLEVR's questions, and no others")
        asked = self._questions(test)
        with settled(self.training):
            self.network.to(self.training.device).eval()
            return self._written(asked, test.scenes) if self.view is None else self._answered(asked, test.scenes)

    def _questions(self, test: Observed) -> Questions:
        rows = np.flatnonzero(~test.given)
        texts = [] if test.text is None else test.text[rows].tolist()
        programs = [ENGLISH.read(text) for text in texts] if test.concepts is None else [test.concepts[i] for i in rows]
        layout = lay_out(tokens_of([write_program(program) for program in programs]), clevr_functions())
        parts = layout.token, layout.left, layout.right, layout.height
        none = np.zeros(len(rows), np.uint8)
        image = test.scene[rows].astype(np.int32)
        return Questions(*self.vocabulary.rows(texts), *parts, none, image, none.astype(np.int16))

    def _answered(self, asked: Questions, scenes: Scenes) -> np.ndarray:
        from recombine.solvers.answering import alike, answer

        view = self.view(scenes)
        return answer(self.network, view, asked, alike(self.model, asked, view))

    def _written(self, asked: Questions, scenes: Scenes) -> np.ndarray:
        from recombine.solvers.parsing import write

        number = Runner.of(scenes)(write(self.network, asked), asked.image)
        certain = np.eye(len(ANSWERS))[np.minimum(number, len(ANSWERS) - 1)]
        return np.where((number < len(ANSWERS))[:, None], certain, 1 / len(ANSWERS))
