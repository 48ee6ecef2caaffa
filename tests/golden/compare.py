"""Golden values: what a fixed key makes must not drift.

Prints what would change; writes only when asked. `tests/test_golden.py` runs the same comparison.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from recombine.api import Curi
from recombine.benchmarks.curi.spelling import postfix
from recombine.benchmarks.curi.study import Scale
from recombine.store.store import Store

FILE = Path(__file__).with_name("curi.json")
SCALE = Scale("golden", scenes=2_000, draws=50_000, train=20, validation=10, test=40)


def _name(*arrays: np.ndarray) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def values() -> dict[str, object]:
    """The values as they are now, for both editions."""
    found: dict[str, object] = {}
    for edition in ("paper", "release"):
        with tempfile.TemporaryDirectory() as home, Curi(SCALE, edition, seed=7, store=Store(Path(home))) as curi:
            study = curi.study
            scenes, space = study.scenes, study.space
            made = {
                "scenes": _name(scenes.count, scenes.position, *scenes.codes.values(), *scenes.extra.values()),
                "concepts": len(space),
                "concept texts": hashlib.blake2b(
                    "\n".join(map(postfix, space.concepts)).encode(), digest_size=8
                ).hexdigest(),
                "senses": study.table.senses,
            }
            for kind in ("hard", "easy"):
                episodes = study.episodes("boolean", "test", kind)
                made[f"boolean {kind} episodes"] = _name(*episodes)
                gap = study.gaps("boolean", kind)["mAP"]
                made[f"boolean {kind} mAP"] = [round(gap.strong.value, 9), round(gap.weak.value, 9)]
            found[edition] = made
    return found


def differences(now: dict[str, object], then: dict[str, object]) -> list[str]:
    """One line per value that changed."""
    lines = []
    for edition in sorted({*now, *then}):
        a, b = now.get(edition, {}), then.get(edition, {})
        assert isinstance(a, dict) and isinstance(b, dict)
        lines += [
            f"{edition}: {key}: {b.get(key)} -> {a.get(key)}" for key in sorted({*a, *b}) if a.get(key) != b.get(key)
        ]
    return lines


def stored() -> dict[str, object]:
    return json.loads(FILE.read_text()) if FILE.exists() else {}


if __name__ == "__main__":
    current = values()
    changed = differences(current, stored())
    print("\n".join(changed) or "nothing would change")
    if "--write" in sys.argv and changed:
        FILE.write_text(json.dumps(current, indent=1) + "\n")
        print(f"wrote {FILE.name}")
    elif changed:
        print("write it with: make golden WRITE=1")
