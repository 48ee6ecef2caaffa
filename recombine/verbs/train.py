"""`recombine train`."""

from collections.abc import Callable, Mapping
from typing import Any

from recombine.benchmarks import Benchmark
from recombine.verbs import Answer, learners


def run(what: str, asked: Mapping[str, Any], progress: Any) -> Answer:
    table = learners.train(what, progress=progress, **asked)
    return Answer((table,), table.json())


def options(benchmark: Benchmark | None) -> list[Callable[..., Any]]:
    """Whose keywords are its options: the verb's, and those that the networks of a benchmark have of their own."""
    networks = benchmark.networks if benchmark else None
    return [learners.train, *([networks.options] if networks else [])]


run.options = options  # type: ignore[attr-defined]
