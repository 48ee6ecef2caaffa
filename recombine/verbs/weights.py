"""`recombine weights`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.solvers.training.settings import need_torch
from recombine.verbs import Answer


def run(
    what: str,
    asked: Mapping[str, Any],
    progress: Any,
    *,
    out: Annotated[Path, "A new folder for model.safetensors, config.json and a card."] = Path("weights"),
) -> Answer:
    need_torch()
    from recombine.solvers.training.weights import write_weights

    folder = write_weights(Path(what), out)
    return Answer((f"wrote the best network of {what} to {folder}",), {"folder": str(folder)})
