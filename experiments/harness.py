"""Real runs of the real tools: what the learners earn there, row by row, beside what `recombine gap` gives them.

    python experiments/harness.py --out docs/results/harness.md

Every tool has an environment of its own below `--tools`, made when it is missing; the learners answer behind the server
of `recombine serve`, or inside Inspect as models. `--only trl` runs one tool. What ran before is kept in the data file
beside the page.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import recombine as rc
from recombine.benchmarks.rewards import verdict
from recombine.harness.exports import choices
from recombine.metrics.scores import BATCH, balanced_accuracy

HERE = Path(__file__).parent.parent
FEW = 24
"""Rows of each set: three of the batches over which CURI's accuracy is pooled."""
NEEDS = {
    "inspect-ai": ("inspect-ai==0.3.*", "openai"),
    "lmms-eval": ("lmms-eval==0.7.*",),
    "verifiers": ("verifiers==0.4.*", "uv"),
    "trl": ("trl==1.*", "datasets"),
    "ms-swift": ("ms-swift==4.*",),
    "verl": ("verl==0.9.*",),
    "vlmevalkit": ("ms-vlmeval",),
}
LEARNERS = ("strong", "weak")
PACKAGE = {"vlmevalkit": "ms-vlmeval"}
TASKS = {
    "curi": {"split": "boolean", "size": "120x80"},
    "curi_sounds": {"split": "counting"},
    "clevr": {"size": "160x120"},
    "closure": {"split": "or_mat", "size": "160x120"},
    "super_clevr": {"split": "long-to-oppo", "size": "160x120"},
    "concept_world": {"split": "sequences"},
}


@dataclass(frozen=True)
class Tools:
    """Where the environments of the tools are."""

    folder: Path

    def python(self, tool: str) -> Path:
        return self.folder / tool / "bin" / "python"

    def ready(self, tool: str) -> Path:
        """The Python of a tool, with recombine beside it."""
        python, mark = self.python(tool), self.folder / tool / ".ready"
        if not mark.exists():
            subprocess.run([sys.executable, "-m", "venv", self.folder / tool], check=True)
            pip = [python, "-m", "pip", "install", "--quiet", "--constraint", HERE / "experiments" / "harness.txt"]
            subprocess.run([*pip, *NEEDS[tool], "--editable", HERE, "starlette", "uvicorn", "pillow"], check=True)
            if tool in ("lmms-eval", "ms-swift", "verl"):  # its build for GPUs does not load beside PyTorch for CPUs
                subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "torchvision"], check=True)
            mark.touch()
        return python

    def version(self, tool: str) -> str:
        code = f"from importlib.metadata import version; print(version({PACKAGE.get(tool, tool)!r}))"
        return subprocess.run(
            [self.python(tool), "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()


def run(words: list[Any], folder: Path, **more: str) -> str:
    """What a command prints; an error shows its end."""
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), **more}
    settings.pop("PYTHONPATH", None)  # every tool has recombine installed, and must not find it twice
    done = subprocess.run([*map(str, words)], cwd=folder, env=settings, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(map(str, words[:6]))} ended with {done.returncode}: {(done.stdout + done.stderr)[-1500:]}"
        )
    return done.stdout


@contextmanager
def served(python: Path, folder: Path, *words: str) -> Iterator[str]:
    """The address of learners behind a server."""
    process = subprocess.Popen(
        [python, "-m", "recombine", "serve", *words, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield line.partition(" at ")[2].split()[0]
    finally:
        process.terminate()
        process.wait()


class Set(NamedTuple):
    """Rows of a benchmark, and what the ideal learners mark on the exams they come from."""

    study: Any
    rows: Mapping[str, list[Any]]
    exams: Mapping[str, Mapping[str, Any]]


@cache
def rows_of(benchmark: str, splits: tuple[str, ...]) -> Set:
    study, exams = rc.load(benchmark, progress=rc.silent), {}
    for one in study.row_sets(splits, "test"):
        assert one.exam is not None
        exams[one.name.replace("/", "-")] = study.ideal(one.exam)
    asked = study.asked_rows(splits, first=FEW)
    return Set(study, {who: [*study.answers(asked, who)] for who in LEARNERS}, exams)


def expected(benchmark: str, who: str, splits: tuple[str, ...] = ()) -> tuple[dict[str, float], float]:
    """What a learner earns on every row by the verifier, and the figure of `recombine gap` on the same rows."""
    study, rows, exams = rows_of(benchmark, splits)
    scores, unit, truth, right, marks = {}, [], [], [], []
    for row in rows[who]:
        found = verdict(row, study.benchmark.verifier.say(row.said, row.options))
        name = row.episode[len(benchmark) + 1 : -len(f"-{row.part}-0000000")]
        scores[row.id] = found.score
        unit.append((name, row.number))
        truth.append(row.answers)
        right.append(found.right)
        if "probability" in exams[name][who]:
            marks.append(float(exams[name][who]["probability"][row.number]))
    if marks:
        assert [*scores.values()] == marks, "the verifier and the gap differ on a row"
        return scores, float(np.mean(marks))
    gap = float(np.mean([one[who]["accuracy"][: FEW // BATCH].mean() for one in exams.values()]))
    assert abs(gap - balanced_accuracy(unit, truth, right)) < 1e-12, "the verifier and the gap differ on a batch"
    return scores, gap


def options_of(task: str) -> tuple[str, tuple[str, ...]]:
    """The benchmark of a task of Inspect, and its splits."""
    return task.removesuffix("_sounds").replace("_", "-"), tuple(filter(None, [TASKS[task].get("split")]))


def inspect_ai(tools: Tools, folder: Path) -> list[dict[str, Any]]:
    """Every task with the strong and the weak learner as models, and one behind the server."""
    python, found = tools.ready("inspect-ai"), []
    inspect = python.parent / "inspect"
    quiet = ["--log-format", "json", "--no-log-images", "--display", "none"]
    for task, told in TASKS.items():
        words = [f"-T{option}={value}" for option, value in {**told, "episodes": FEW}.items()]
        models = ",".join(f"recombine/{who}" for who in LEARNERS)
        run([inspect, "eval", f"recombine/{task}", *words, "--model", models, "--log-dir", folder / task, *quiet],
            folder)  # fmt: skip
        name, splits = options_of(task)
        found += [_inspected(folder / task, task, who, expected(name, who, splits)) for who in LEARNERS]
    with served(python, folder, *CLOSURE, "--render", "images") as address:
        logs = folder / "server"
        words = [f"-T{option}={value}" for option, value in {**TASKS["closure"], "episodes": FEW}.items()]
        run([inspect, "eval", "recombine/closure", *words, "--model", "openai-api/here/strong,openai-api/here/weak",
             "--log-dir", logs, *quiet], folder, HERE_BASE_URL=address, HERE_API_KEY="none")  # fmt: skip
        for who in LEARNERS:
            found.append(_inspected(logs, "closure, behind the server", who, expected("closure", who, ("or_mat",))))
    logs = folder / "induction"
    run([inspect, "eval", "recombine/curi", "-Tsplit=boolean", "-Tepisodes=8", "-Trender=words", "--model",
         "recombine/induction", "--log-dir", logs, *quiet], folder)  # fmt: skip
    found.append(_inspected(logs, "curi, scenes in words", "induction", None))
    return found


def _inspected(logs: Path, task: str, who: str, against: tuple[dict[str, float], float] | None) -> dict[str, Any]:
    logged = [json.loads(file.read_text()) for file in logs.glob("*.json")]
    (log,) = (one for one in logged if one["eval"]["model"].endswith(f"/{who}"))
    metrics = {name: one["value"] for score in log["results"]["scores"] for name, one in score["metrics"].items()}
    rows = {one["id"]: one["scores"]["verified"]["value"] for one in log["samples"]}
    name = "balanced_accuracy" if task.startswith("curi") else "mean"
    said = f"[{metrics.get('lower', 0):.3f}, {metrics.get('upper', 0):.3f}]"
    return _record(task, who, rows, metrics[name], against, interval=said, error=round(metrics["stderr"], 4))


def _record(
    task: str,
    who: str,
    rows: Mapping[str, float],
    figure: float,
    against: tuple[Mapping[str, float], float] | None,
    **more: Any,
) -> dict[str, Any]:
    made = {"task": task, "learner": who, "rows": len(rows), "figure": figure, **more}
    if against is None:
        return made
    scores, gap = against
    same = sum(abs(rows[name] - score) < 1e-9 for name, score in scores.items() if name in rows)
    return {**made, "gap": gap, "same": same if set(rows) == set(scores) else 0}


CLOSURE = ("closure", "--split", "or_mat", "--questions", str(FEW), "--size", "160x120")


def verifiers(tools: Tools, folder: Path) -> list[dict[str, Any]]:
    """The taskset, installed as a package, asked by `vf-eval`."""
    python, found = tools.ready("verifiers"), []
    run([python, "-m", "recombine", "export", "verifiers", *CLOSURE, "--out", folder / "taskset"], folder)
    run([python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", folder / "taskset"], folder)
    with served(python, folder, *CLOSURE, "--render", "images") as address:
        for who in LEARNERS:
            place = folder / f"vf-{who}"
            place.mkdir()
            path = f"{python.parent}:{os.environ['PATH']}"
            run([python.parent / "vf-eval", "recombine-closure", "--no-push", "--env.agent.harness.id", "null",
                 "--env.agent.runtime.type", "subprocess", "-n", 2 * FEW, "--model", who, "--client.base-url", address,
                 "--client.api-key-var", "NO_KEY"], place, NO_KEY="none", PATH=path)  # fmt: skip
            (file,) = place.glob("outputs/*/traces.jsonl")
            traces = [trace for line in file.read_text().splitlines() for trace in json.loads(line)["traces"]]
            rows = {one["task"]["data"]["id"]: one["rewards"]["verified"]["score"] for one in traces}
            against = expected("closure", who, ("or_mat",))
            found.append(_record("closure", who, rows, float(np.mean([*rows.values()])), against))
    return found


def lmms_eval(tools: Tools, folder: Path) -> list[dict[str, Any]]:
    """The task folder, asked by `lmms_eval --include_path`."""
    import pyarrow.parquet as pq

    python, found = tools.ready("lmms-eval"), []
    run([python, "-m", "recombine", "export", "lmms-eval", *CLOSURE, "--out", folder / "task"], folder)
    ids = pq.read_table(folder / "task" / "test.parquet", columns=["id"])["id"].to_pylist()
    with served(python, folder, *CLOSURE, "--render", "images") as address:
        for who in LEARNERS:
            out = folder / f"lmms-{who}"
            run([python, "-m", "lmms_eval", "--model", "async_openai", "--model_args",
                 f"model_version={who},base_url={address}", "--tasks", "recombine_closure", "--include_path",
                 folder / "task", "--log_samples", "--output_path", out], folder, OPENAI_API_KEY="none")  # fmt: skip
            (file,) = out.rglob("*samples*.jsonl")
            samples = [json.loads(line) for line in file.read_text().splitlines()]
            rows = {ids[int(one["doc_id"])]: float(one["score"]) for one in samples}
            against = expected("closure", who, ("or_mat",))
            found.append(_record("closure", who, rows, float(np.mean([*rows.values()])), against))
    return found


def trl(tools: Tools, folder: Path) -> list[dict[str, Any]]:
    """A tiny model of random weights is trained with GRPO."""
    python = tools.ready("trl")
    said = run([python, "-W", "ignore", HERE / "experiments" / "tiny_grpo.py", "--steps", "60"], folder)
    told = json.loads(said.strip().splitlines()[-1])
    first, last = (float(np.mean(some)) for some in (told["rewards"][:15], told["rewards"][-15:]))
    text = f"{told['steps']} steps, {told['weights']:,} weights"
    return [
        {"task": f"concept-world, GRPO: {text}", "learner": "random LLaVA", "rows": 480, "figure": last, "first": first}
    ]


SWIFT = """
import json, sys
sys.path.insert(0, "rows")
from swift.dataset import load_dataset
from swift.template.vision_utils import load_image
from swift.rewards import orms
import importlib.util
spec = importlib.util.spec_from_file_location("plugin", "rows/plugin.py")
spec.loader.exec_module(importlib.util.module_from_spec(spec))
rows, _ = load_dataset(["rows/train.jsonl"], num_proc=1, remove_unused_columns=False)
score = orms["recombine"]()
said = json.load(open("said.json"))
found = {}
for row in rows:
    for one in row["images"]:
        load_image(one["bytes"] or one["path"] if isinstance(one, dict) else one)
    columns = {name: [row[name]] for name in ("solution", "options", "benchmark", "shown")}
    found[row["id"]] = score([said[row["id"]]], **columns)[0]
print(json.dumps(found))
"""
VERL = """
import asyncio, json
import pyarrow.parquet as pq
from verl.utils.import_utils import load_extern_object
score = load_extern_object("rows/reward.py", "compute_score")
said = json.load(open("said.json"))
found = {}
for row in pq.read_table("rows/train.parquet").to_pylist():
    name = row["extra_info"]["id"]
    found[name] = score(row["data_source"], said[name], row["reward_model"]["ground_truth"], row["extra_info"])["score"]
print(json.dumps(found))
"""


def _by_reward(tool: str, code: str, tools: Tools, folder: Path) -> list[dict[str, Any]]:
    """The tool's own loader reads the rows, and its own hook calls the reward, for what the learners say."""
    python, found = tools.ready(tool), []
    run([python, "-m", "recombine", "export", tool, *CLOSURE, "--out", folder / "rows"], folder)
    for who in LEARNERS:
        study, rows_by, _ = rows_of("closure", ("or_mat",))
        said = {row.id: study.benchmark.verifier.say(row.said, row.options) for row in rows_by[who]}
        (folder / "said.json").write_text(json.dumps(said))
        rows = json.loads(run([python, "-c", code], folder).strip().splitlines()[-1])
        against = expected("closure", who, ("or_mat",))
        found.append(_record("closure, rows and reward alone", who, rows, float(np.mean([*rows.values()])), against))
    return found


def ms_swift(tools: Tools, folder: Path) -> list[dict[str, Any]]:
    return _by_reward("ms-swift", SWIFT, tools, folder)


def verl(tools: Tools, folder: Path) -> list[dict[str, Any]]:
    return _by_reward("verl", VERL, tools, folder)


VLMEVALKIT = """
import runpy, sys, torch
for name in ("nms", "qnms"):
    torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
sys.argv[0] = "vlmeval"
runpy.run_module("vlmeval", run_name="__main__")
"""
"""`python -m vlmeval`, after two names that torchvision's build for GPUs misses beside PyTorch for CPUs."""
HITS = """
import json, pandas, sys
table = pandas.read_excel(sys.argv[1])
print(json.dumps(dict(zip(map(int, table["index"]), table["hit"]))))
"""


def vlmevalkit(tools: Tools, folder: Path) -> list[dict[str, Any]]:
    """The TSV, asked by `python -m vlmeval --data NAME --base-url ...` and scored by its exact matching of letters."""
    python, found = tools.ready("vlmevalkit"), []
    run([python, "-m", "recombine", "export", "vlmevalkit", *CLOSURE, "--out", folder / "data"], folder)
    study, rows_by, _ = rows_of("closure", ("or_mat",))
    with served(python, folder, *CLOSURE, "--render", "images") as address:
        for who in LEARNERS:
            out = folder / f"kit-{who}"
            words = ["--data", "RecombineClosure", "--model", who, "--base-url", address, "--work-dir", out]
            judged = ["--mode", "all", "--judge", "exact_matching"]
            run([python, "-c", VLMEVALKIT, *words, *judged], folder, LMUData=str(folder / "data"))
            (file,) = out.rglob("*_result.xlsx")
            hits = json.loads(run([python, "-c", HITS, file], folder))
            rows = {row.id: float(hits[str(index)]) for index, row in enumerate(rows_by[who])}
            scores = {row.id: float(_chosen(study, row) == row.answers[0]) for row in rows_by[who]}
            wavering = sum(0 < score < 1 for score in expected("closure", who, ("or_mat",))[0].values())
            task = f"closure, by letters ({wavering} rows on which the learner wavers, and must choose)"
            against = scores, expected("closure", who, ("or_mat",))[1]
            found.append(_record(task, who, rows, float(np.mean([*rows.values()])), against))
    return found


def _chosen(study: Any, row: Any) -> str:
    """The option that a learner chooses where it must: the likeliest, of equals the first."""
    chances = dict(zip(row.options, row.said[0]))
    return max(choices(row, study.benchmark), key=chances.__getitem__)


RUNS: dict[str, Callable[[Tools, Path], list[dict[str, Any]]]] = {
    "inspect-ai": inspect_ai,
    "lmms-eval": lmms_eval,
    "verifiers": verifiers,
    "trl": trl,
    "ms-swift": ms_swift,
    "verl": verl,
    "vlmevalkit": vlmevalkit,
}


def reward_speed() -> dict[str, float]:
    """Seconds for the rewards of 1,000 completions, the best of five."""
    found = {}
    episodes = "\n".join(f"{place}. {'yes' if place % 5 else 'no'}" for place in range(26, 51))
    thought = "<think>" + "hm " * 2000 + "</think>"
    asked = {
        "one answer": ("The answer is red.", ["red"], ["red", "blue"], "clevr", []),
        "25 answers": (episodes, ["yes"] * 25, ["no", "yes"], "curi", ["no"] * 25),
        "25 answers, 2,000 words before": (thought + episodes, ["yes"] * 25, ["no", "yes"], "curi", ["no"] * 25),
    }
    for name, (said, answers, options, benchmark, shown) in asked.items():
        columns = [[one] * 1000 for one in (said, answers, options, benchmark, shown)]
        rc.reward(*columns)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            rc.reward(*columns)
            times.append(time.perf_counter() - start)
        found[name] = min(times)
    return found


INTRO = """The strong and the weak learner answer the prompts that any model gets, inside Inspect as models, elsewhere
behind `recombine serve`. *Same rows* counts the rows on which the tool's own score is what `recombine gap` gives that
learner; *gap* is the figure of `recombine gap` for the same rows. Made by `make harness`; a tool whose run failed, or
that has not been run, says so.

Inspect, lmms-eval, verifiers and VLMEvalKit are run by their own commands to the end. TRL trains. ms-swift and verl
train on GPUs, so no training is run: ms-swift's own loader reads the rows and its pictures, and its own registry calls
the reward; of verl only its own hook for rewards is run, on the rows as they stand in the file.
VLMEvalKit is not on PyPI: what is run is ModelScope's copy of it there, `ms-vlmeval`. It asks for letters, so a
learner that holds several answers equally likely must choose one, and its figure can lie off the gap by that."""


def page(known: Mapping[str, Any]) -> str:
    """The page of what was measured."""
    lines = [
        "# Harnesses: real runs of the real tools",
        "",
        INTRO,
        "",
        "| tool | version | task | who answers | rows | the tool's figure | gap | same rows | interval of the tool |",
        "|---|---|---|---|---:|---:|---:|---:|---|",
    ]
    for tool in NEEDS:
        told = known.get(tool)
        if told is None or "failed" in told:
            why = "not run" if told is None else told["failed"]
            lines.append(f"| {tool} | {'' if told is None else told['version']} | {why} | | | | | | |")
            continue
        for one in told["runs"]:
            gap = f"{one['gap']:.4f}" if "gap" in one else ""
            same = f"{one['same']} of {one['rows']}" if "same" in one else ""
            figure = (
                f"{one['figure']:.4f}" if "first" not in one else f"reward {one['first']:.3f} → {one['figure']:.3f}"
            )
            cells = (
                tool,
                told["version"],
                one["task"],
                one["learner"],
                one["rows"],
                figure,
                gap,
                same,
                one.get("interval", ""),
            )
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", "## Rewards", "", "| 1,000 completions with | seconds |", "|---|---:|"]
    lines += [f"| {name} | {seconds:.3f} |" for name, seconds in known.get("reward", {}).items()]
    lines += ["", f"Machine: {known.get('machine', '')}. Figures are of demo scale, seed 0.", ""]
    return "\n".join(lines)


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--tools", type=Path, default=HERE / "out" / "harness")
    read.add_argument("--only", action="append", choices=[*RUNS])
    read.add_argument("--out", type=Path, default=HERE / "docs" / "results" / "harness.md")
    asked = read.parse_args()
    data = asked.out.parent / "data" / f"{asked.out.stem}.json"
    known = json.loads(data.read_text()) if data.exists() else {}
    tools = Tools(asked.tools.resolve())
    data.parent.mkdir(parents=True, exist_ok=True)
    known["reward"] = reward_speed()
    known["machine"] = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    for tool in asked.only or RUNS:
        with TemporaryDirectory() as folder:
            try:
                runs = RUNS[tool](tools, Path(folder))
                known[tool] = {"version": tools.version(tool), "runs": runs}
                print(tool, json.dumps(runs, indent=1), flush=True)
            except (RuntimeError, subprocess.CalledProcessError, ValueError, KeyError) as error:
                print(f"{tool} failed: {error}", file=sys.stderr, flush=True)
                known[tool] = {"version": "", "failed": "the run failed"}
        data.write_text(json.dumps(known, indent=1) + "\n")
        asked.out.write_text(page(known))


if __name__ == "__main__":
    main()
