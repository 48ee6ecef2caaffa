"""`recombine train`."""

from collections.abc import Mapping
from typing import Any

from recombine.verbs import Answer, learners


def run(what: str, asked: Mapping[str, Any], progress: Any) -> Answer:
    table = learners.train(what, progress=progress, **asked)
    return Answer((table,), table.json())
