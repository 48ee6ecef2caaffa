"""The best network of a run for others: model.safetensors with plain names, config.json, and a card.

The names are those of the network's `state_dict`, so that `load_state_dict` takes them, and any reader of safetensors
opens the file.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recombine.solvers.training.records import as_written, read_config, read_results
from recombine.solvers.training.run import machine
from recombine.solvers.training.tensors import read_tensors, write_tensors
from recombine.store.errors import UserError
from recombine.store.outputs import free_folder
from recombine.store.room import need_room
from recombine.store.text import markdown
from recombine.store.writing import write_text, writing

MODEL, CONFIG, CARD = "model.safetensors", "config.json", "README.md"
MARGIN = 2**20
"""Bytes for a config and a card."""
INSIDE = "network/"
"""What the names of weights begin with in a checkpoint."""


def write_weights(run: Path, out: Path) -> Path:
    """Weights, config and card of a run in a new folder, all or nothing."""
    free_folder(out)
    config, results, best = read_config(run), read_results(run), run / "checkpoints" / "best.safetensors"
    if not best.exists():
        raise UserError(f"{run} has no weights yet; train it a little longer")
    tensors, _ = read_tensors(best)
    plain = {name.removeprefix(INSIDE): one for name, one in tensors.items() if name.startswith(INSIDE)}
    if not plain:
        raise UserError(f"{best} holds no network; train it again in another folder")
    weights = sum(one.numel() for one in plain.values())
    with as_written(run):
        card = _card(config, results, weights)
    need_room(out, best.stat().st_size + MARGIN, f"A copy of the weights in {out}", "choose another place")
    with writing(out) as draft:
        write_tensors(draft / MODEL, plain, {"format": "pt"})
        said = {**config, "recombine": machine()["recombine"], "parameters": weights, "results": results}
        write_text(draft / CONFIG, json.dumps(said, indent=1) + "\n")
        write_text(draft / CARD, card)
    return out


def _card(config: Mapping[str, Any], results: Mapping[str, Any] | None, weights: int) -> str:
    network = config.get("network")
    name = markdown(network.get("name", "network") if isinstance(network, dict) else "network")
    benchmark = re.sub(r"[^\w-]", "", str(config.get("benchmark", "recombine")))[:100]
    found = _scores((results or {}).get("scores", results) or {})
    scores = [f"| {markdown(test)} | {value:.4f} |" for test, value in found]
    table = ["| test | value |", "|---|--:|", *scores] if scores else ["It was not tested yet."]
    settings = {name: value for name, value in config.items() if not isinstance(value, dict | list)}
    lines = [
        "---",
        "license: apache-2.0",
        "library_name: recombine",
        f"tags: [compositional-generalization, {benchmark}, recombine]",
        "---",
        f"# {name} on {benchmark}",
        "",
        f"{weights:,} weights, trained by Recombine {machine()['recombine']} on data made from a seed: "
        f"{markdown(', '.join(f'{name} {value}' for name, value in settings.items()))}.",
        f"`{CONFIG}` holds everything that decided it.",
        "",
        *table,
        "",
        "```python",
        "from safetensors.torch import load_file",
        "",
        f'weights = load_file("{MODEL}")  # the names of the network\'s state_dict',
        "```",
        "",
        "## Limits",
        "",
        "A baseline of a benchmark of small synthetic worlds: it measures recombination there, and is of no other use.",
        "",
    ]
    return "\n".join(lines)


def _scores(found: Any, path: str = "") -> list[tuple[str, float]]:
    """The numbers of results, by the path that leads to them."""
    if isinstance(found, dict):
        return [
            one for name, value in found.items() if name != "length" for one in _scores(value, f"{path} {name}".strip())
        ]
    return [(path, float(found))] if isinstance(found, int | float) and not isinstance(found, bool) else []
