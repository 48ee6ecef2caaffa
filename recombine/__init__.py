"""Recombine: build, measure and close compositional-generalisation gaps.

import recombine as rc

curi = rc.load("curi", scale="demo", edition="release")
print(curi.gap(["boolean"]).table("mAP").markdown())

rc.draw("f_pent west of z_pent", n=16).write("sheet.png")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recombine.benchmarks import Benchmark as Benchmark
    from recombine.benchmarks import names as names
    from recombine.benchmarks.clevr.english import read as read
    from recombine.benchmarks.clevr.english import say as say
    from recombine.benchmarks.clevr.facade import Clevr as Clevr
    from recombine.benchmarks.clevr.study import ClevrScale as ClevrScale
    from recombine.benchmarks.clevr.world import ClevrWorld as ClevrWorld
    from recombine.benchmarks.closure.facade import Closure as Closure
    from recombine.benchmarks.concept_world.drawing import count as count
    from recombine.benchmarks.concept_world.drawing import draw as draw
    from recombine.benchmarks.concept_world.drawing import recognise as recognise
    from recombine.benchmarks.concept_world.facade import ConceptWorld as ConceptWorld
    from recombine.benchmarks.curi.edition import PAPER as PAPER
    from recombine.benchmarks.curi.edition import Edition as Edition
    from recombine.benchmarks.curi.facade import Curi as Curi
    from recombine.benchmarks.curi.language import Kind as Kind
    from recombine.benchmarks.curi.language import Lot as Lot
    from recombine.benchmarks.curi.language import Weights as Weights
    from recombine.benchmarks.curi.study import Scale as Scale
    from recombine.benchmarks.language import Language as Language
    from recombine.benchmarks.scoring import score as score
    from recombine.benchmarks.study import Study as Study
    from recombine.language.expr import Expr as Expr
    from recombine.language.query import Where as Where
    from recombine.language.query import uses as uses
    from recombine.loading import load as load
    from recombine.metrics.intervals import Interval as Interval
    from recombine.render.rendering import wanted as wanted
    from recombine.report.table import Column as Column
    from recombine.report.table import Table as Table
    from recombine.solvers.user_solver import inputs as inputs
    from recombine.store.engine import silent as silent
    from recombine.store.errors import UserError as UserError
    from recombine.store.key import Key as Key
    from recombine.store.store import Store as Store
    from recombine.tasks.exam import Exam as Exam
    from recombine.tasks.examples import Examples as Examples
    from recombine.tasks.examples import Observed as Observed
    from recombine.tasks.splits import Split as Split
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
    "Clevr": "benchmarks.clevr.facade",
    "ClevrScale": "benchmarks.clevr.study",
    "ClevrWorld": "benchmarks.clevr.world",
    "Closure": "benchmarks.closure.facade",
    "Column": "report.table",
    "ConceptWorld": "benchmarks.concept_world.facade",
    "Curi": "benchmarks.curi.facade",
    "Edition": "benchmarks.curi.edition",
    "Exam": "tasks.exam",
    "Examples": "tasks.examples",
    "Expr": "language.expr",
    "Interval": "metrics.intervals",
    "Key": "store.key",
    "Kind": "benchmarks.curi.language",
    "Language": "benchmarks.language",
    "Lot": "benchmarks.curi.language",
    "Observed": "tasks.examples",
    "Scale": "benchmarks.curi.study",
    "Scenes": "world.scenes",
    "Split": "tasks.splits",
    "Store": "store.store",
    "Study": "benchmarks.study",
    "Table": "report.table",
    "Uniform": "world.distribution",
    "UserError": "store.errors",
    "Vocabulary": "world.vocabulary",
    "Where": "language.query",
    "count": "benchmarks.concept_world.drawing",
    "draw": "benchmarks.concept_world.drawing",
    "evaluate": "verbs.learners",
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
    "score": "benchmarks.scoring",
    "silent": "store.engine",
    "table": "verbs.learners",
    "train": "verbs.learners",
    "uses": "language.query",
    "wanted": "render.rendering",
}
"""Where each public name lives; it is imported when it is first used. A test keeps both lists equal."""
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'recombine' has no attribute '{name}'")
    return getattr(import_module(f"recombine.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
