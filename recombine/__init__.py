"""Recombine: build, measure and close compositional-generalisation gaps.

import recombine as rc

curi = rc.load("curi", scale="demo", edition="release")
print(curi.gap(["boolean"]).table("mAP").markdown())

rc.draw("f_pent west of z_pent", n=16).write("sheet.png")
"""

from typing import TYPE_CHECKING

from recombine.store.lazy import lazily

if TYPE_CHECKING:
    from recombine.benchmarks import Benchmark as Benchmark
    from recombine.benchmarks import names as names
    from recombine.benchmarks.clevr.english import read as read
    from recombine.benchmarks.clevr.english import say as say
    from recombine.benchmarks.clevr.pipeline import ClevrScale as ClevrScale
    from recombine.benchmarks.clevr.study import Clevr as Clevr
    from recombine.benchmarks.clevr.world import ClevrWorld as ClevrWorld
    from recombine.benchmarks.closure.study import Closure as Closure
    from recombine.benchmarks.concept_networks import ConceptNetworks as ConceptNetworks
    from recombine.benchmarks.concept_study import ConceptStudy as ConceptStudy
    from recombine.benchmarks.concept_world.drawing import count as count
    from recombine.benchmarks.concept_world.drawing import draw as draw
    from recombine.benchmarks.concept_world.drawing import recognise as recognise
    from recombine.benchmarks.concept_world.study import ConceptWorld as ConceptWorld
    from recombine.benchmarks.curi.edition import PAPER as PAPER
    from recombine.benchmarks.curi.edition import Edition as Edition
    from recombine.benchmarks.curi.language import Kind as Kind
    from recombine.benchmarks.curi.language import Lot as Lot
    from recombine.benchmarks.curi.language import Weights as Weights
    from recombine.benchmarks.curi.pipeline import Scale as Scale
    from recombine.benchmarks.curi.study import Curi as Curi
    from recombine.benchmarks.endless import Endless as Endless
    from recombine.benchmarks.endless import Level as Level
    from recombine.benchmarks.language import Language as Language
    from recombine.benchmarks.networks import Networks as Networks
    from recombine.benchmarks.rewards import reward as reward
    from recombine.benchmarks.rewards import verdict as verdict
    from recombine.benchmarks.scoring import score as score
    from recombine.benchmarks.study import Study as Study
    from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale as SuperClevrScale
    from recombine.benchmarks.super_clevr.study import SuperClevr as SuperClevr
    from recombine.benchmarks.super_clevr.world import VehicleWorld as VehicleWorld
    from recombine.language.expr import Expr as Expr
    from recombine.language.expr import Signature as Signature
    from recombine.language.expr import Symbol as Symbol
    from recombine.language.query import Where as Where
    from recombine.language.query import uses as uses
    from recombine.loading import load as load
    from recombine.metrics.intervals import Interval as Interval
    from recombine.render.rendering import wanted as wanted
    from recombine.report.table import Column as Column
    from recombine.report.table import Table as Table
    from recombine.solvers.training.settings import Training as Training
    from recombine.solvers.user_solver import inputs as inputs
    from recombine.store.cluster import engine_named as engine_named
    from recombine.store.engine import silent as silent
    from recombine.store.errors import UserError as UserError
    from recombine.store.key import Key as Key
    from recombine.store.store import Store as Store
    from recombine.tasks.difficulty import Difficulty as Difficulty
    from recombine.tasks.exam import Exam as Exam
    from recombine.tasks.examples import Examples as Examples
    from recombine.tasks.examples import Observed as Observed
    from recombine.tasks.prompts import chat as chat
    from recombine.tasks.rows import Piece as Piece
    from recombine.tasks.rows import Row as Row
    from recombine.tasks.rows import RowSet as RowSet
    from recombine.tasks.splits import Split as Split
    from recombine.tasks.splits import hold_out as hold_out
    from recombine.tasks.verifier import Verdict as Verdict
    from recombine.tasks.verifier import Verifier as Verifier
    from recombine.verbs.learners import evaluate as evaluate
    from recombine.verbs.learners import results_page as results_page
    from recombine.verbs.learners import table as table
    from recombine.verbs.learners import train as train
    from recombine.verbs.render import render_dataset as render_dataset
    from recombine.world.distribution import Uniform as Uniform
    from recombine.world.scenes import Scenes as Scenes
    from recombine.world.vocabulary import Attribute as Attribute
    from recombine.world.vocabulary import Vocabulary as Vocabulary

__version__ = "0.1.0"
_HOMES = {
    "Attribute": "world.vocabulary",
    "Benchmark": "benchmarks",
    "Clevr": "benchmarks.clevr.study",
    "ClevrScale": "benchmarks.clevr.pipeline",
    "ClevrWorld": "benchmarks.clevr.world",
    "Closure": "benchmarks.closure.study",
    "Column": "report.table",
    "ConceptNetworks": "benchmarks.concept_networks",
    "ConceptStudy": "benchmarks.concept_study",
    "ConceptWorld": "benchmarks.concept_world.study",
    "Curi": "benchmarks.curi.study",
    "Difficulty": "tasks.difficulty",
    "Edition": "benchmarks.curi.edition",
    "Endless": "benchmarks.endless",
    "Exam": "tasks.exam",
    "Examples": "tasks.examples",
    "Expr": "language.expr",
    "Interval": "metrics.intervals",
    "Key": "store.key",
    "Kind": "benchmarks.curi.language",
    "Language": "benchmarks.language",
    "Lot": "benchmarks.curi.language",
    "Level": "benchmarks.endless",
    "Networks": "benchmarks.networks",
    "Observed": "tasks.examples",
    "Piece": "tasks.rows",
    "Row": "tasks.rows",
    "RowSet": "tasks.rows",
    "Scale": "benchmarks.curi.pipeline",
    "Scenes": "world.scenes",
    "Signature": "language.expr",
    "Split": "tasks.splits",
    "Store": "store.store",
    "Study": "benchmarks.study",
    "SuperClevr": "benchmarks.super_clevr.study",
    "SuperClevrScale": "benchmarks.super_clevr.pipeline",
    "Symbol": "language.expr",
    "Table": "report.table",
    "Training": "solvers.training.settings",
    "Uniform": "world.distribution",
    "UserError": "store.errors",
    "VehicleWorld": "benchmarks.super_clevr.world",
    "Verdict": "tasks.verifier",
    "Verifier": "tasks.verifier",
    "Vocabulary": "world.vocabulary",
    "Where": "language.query",
    "chat": "tasks.prompts",
    "count": "benchmarks.concept_world.drawing",
    "draw": "benchmarks.concept_world.drawing",
    "engine_named": "store.cluster",
    "evaluate": "verbs.learners",
    "hold_out": "tasks.splits",
    "inputs": "solvers.user_solver",
    "load": "loading",
    "names": "benchmarks",
    "say": "benchmarks.clevr.english",
    "read": "benchmarks.clevr.english",
    "Weights": "benchmarks.curi.language",
    "PAPER": "benchmarks.curi.edition",
    "recognise": "benchmarks.concept_world.drawing",
    "render_dataset": "verbs.render",
    "results_page": "verbs.learners",
    "reward": "benchmarks.rewards",
    "score": "benchmarks.scoring",
    "silent": "store.engine",
    "table": "verbs.learners",
    "train": "verbs.learners",
    "uses": "language.query",
    "verdict": "benchmarks.rewards",
    "wanted": "render.rendering",
}
"""Where each public name lives; it is imported when it is first used. A test keeps both lists equal."""
__all__ = ["__version__", *_HOMES]

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
