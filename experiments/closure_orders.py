"""CLOSURE's learners of order k as records, which the page of predictions reads.

python experiments/closure_orders.py [--scale paper] [--seed 0] [--out docs/results/data/closure-orders.json]
"""

import argparse
import json
import time
from pathlib import Path

from recombine.benchmarks.clevr.pipeline import ClevrPipeline
from recombine.benchmarks.closure.order_page import by_order
from recombine.benchmarks.closure.pipeline import ClosurePipeline, closure_scale
from recombine.store.store import Store


def main() -> None:
    ask = argparse.ArgumentParser(description="CLOSURE's learners of order k.")
    ask.add_argument("--scale", default="paper")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--out", type=Path, default=Path("docs/results/data/closure-orders.json"))
    given = ask.parse_args()
    start, scale = time.process_time(), closure_scale(given.scale)
    study = ClosurePipeline(ClevrPipeline(scale, given.seed, Store.default()), scale.closure)
    found = [{"scale": given.scale, "seed": given.seed, **one.record()} for one in by_order(study)]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {given.out} after {time.process_time() - start:.0f} seconds of one core")


if __name__ == "__main__":
    main()
