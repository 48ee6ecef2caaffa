"""Rows in the files of other tools: each takes its folder as it is; the score comes from the benchmark's verifier."""

import base64
import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.benchmarks import Benchmark
from recombine.benchmarks.row_export import NONE
from recombine.render.encodings import FILE, IMAGE
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.outputs import write_text
from recombine.store.writing import writing
from recombine.tasks.prompts import data_address, kind_of, placeholders, prompt
from recombine.tasks.rows import Row

GROUP = 50
"""Rows that are held in memory."""
MOST_OPTIONS = 11
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
PARTS = pa.list_(pa.struct([("type", pa.string()), ("text", pa.string())]))
WORDS = pa.list_(pa.string())


@dataclass(frozen=True)
class Made:
    """What an export is of."""

    benchmark: Benchmark
    folder: Path
    """Where it will stand."""
    options: Mapping[str, Any]
    seed: int

    @property
    def task(self) -> str:
        return f"recombine_{self.benchmark.name.replace('-', '_')}"


def export(tool: str, rows: Iterator[Row], out: Path, made: Made) -> int:
    """Write rows for a tool to a new folder, all or nothing; how many there are."""
    count = 0

    def counted() -> Iterator[Row]:
        nonlocal count
        for row in rows:
            if kind_of(row) == "sounds" and tool != "verifiers":
                raise UserError(f"{tool} is given images or words, not sounds; render images or words")
            count += 1
            yield row

    first = next(counting := counted(), None)
    if first is None:
        raise UserError(NONE)
    with writing(out) as draft:
        readme = TOOLS[tool](chain([first], counting), draft, made)
        title = (
            f"# {made.benchmark.title} for {tool}: {count:,} rows"
            if tool != "verifiers"
            else (f"# {made.benchmark.title} for {tool}: rows made from a seed")
        )
        write_text(draft / "README.md", f"{title}\n\n{readme.strip()}\n")
    return count


def template(name: str, **put: str) -> str:
    text = files("recombine.harness").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")
    for word, value in put.items():
        text = text.replace(word, value)
    return text


# --- columns


def plain(row: Row) -> dict[str, Any]:
    """What every tool's reward is told of a row."""
    return {
        "id": row.id,
        "answers": [*row.answers],
        "options": [*row.options],
        "shown": [*row.shown],
        "benchmark": row.benchmark,
        "split": row.split,
    }


PLAIN = {
    "id": pa.string(),
    "answers": WORDS,
    "options": WORDS,
    "shown": WORDS,
    "benchmark": pa.string(),
    "split": pa.string(),
}


def pictures(row: Row) -> list[dict[str, Any]]:
    return [{"bytes": file, "path": None} for file in row.media]


def write_parquet(file: Path, columns: Mapping[str, pa.DataType], records: Iterator[Mapping[str, Any]]) -> None:
    """A group of rows at a time; `images` are pictures for Hugging Face `datasets`."""
    schema = pa.schema(columns)
    features = {field.name: feature(field.type) for field in schema}
    if "images" in features:
        features["images"] = {"feature": IMAGE, "_type": "List"}
    schema = schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while some := [*islice(records, GROUP)]:
            writer.write_table(pa.Table.from_pylist(some, schema), row_group_size=GROUP)


def feature(kind: pa.DataType) -> Any:
    """A type in the words of Hugging Face `datasets`."""
    if pa.types.is_list(kind):
        return {"feature": feature(kind.value_type), "_type": "List"}
    if pa.types.is_struct(kind):
        return {field.name: feature(field.type) for field in kind}
    return {"dtype": str(kind), "_type": "Value"}


def write_lines(file: Path, records: Iterator[Mapping[str, Any]]) -> None:
    with file.open("w", encoding="utf-8") as sink:
        for record in records:
            sink.write(json.dumps(record, ensure_ascii=False) + "\n")


# --- one function for each tool; what it returns stands in the README


def lmms_eval(rows: Iterator[Row], draft: Path, made: Made) -> str:
    columns = {**PLAIN, "cluster": pa.string(), "text": pa.string(), "answer": pa.string(), "images": pa.list_(FILE)}
    records = (
        {
            **plain(row),
            "cluster": row.cluster,
            "text": prompt(row),
            "answer": ", ".join(row.answers),
            "images": pictures(row),
        }
        for row in rows
    )
    write_parquet(draft / "test.parquet", columns, records)
    write_text(draft / "utils.py", template("lmms_eval_utils"))
    where = json.dumps(str(made.folder.resolve() / "test.parquet"))  # as YAML takes any text too
    write_text(draft / f"{made.task}.yaml", template("lmms_eval_task", TASK=made.task, FILE=where))
    return template("lmms_eval_readme", TASK=made.task)


def vlmevalkit(rows: Iterator[Row], draft: Path, made: Made) -> str:
    name = made.task.title().replace("_", "")
    with (draft / f"{name}.tsv").open("w", encoding="utf-8", newline="") as sink:
        table = csv.writer(sink, delimiter="\t", lineterminator="\n")
        table.writerow(["index", "image", "question", *LETTERS[:MOST_OPTIONS], "answer", "category"])
        table.writerows(_with_letters(rows, made.benchmark))
    return template("vlmevalkit_readme", NAME=name, MOST=str(MOST_OPTIONS))


def _with_letters(rows: Iterator[Row], benchmark: Benchmark) -> Iterator[list[Any]]:
    for index, row in enumerate(rows):
        if len(row.answers) > 1:
            raise UserError("vlmevalkit asks one thing at a time; choose the form query")
        if not row.media:
            raise UserError("vlmevalkit is about images; render images")
        options = choices(row, benchmark)
        images = [base64.b64encode(file).decode() for file in row.media]
        asked = prompt(row).rpartition("\n")[0] if len(images) > 1 else "\n".join(_said(row))
        cells = [*options, *[""] * (MOST_OPTIONS - len(options))]
        right = LETTERS[options.index(row.answers[0])]
        yield [index, images[0] if len(images) == 1 else str(images), asked, *cells, right, row.split]


def _said(row: Row) -> list[str]:
    return [one for one in (row.intro, row.question) if one]


def choices(row: Row, benchmark: Benchmark) -> list[str]:
    """The answers of the right one's kind; of many, the right one and others that its id draws."""
    (right,) = row.answers
    kind = next((some for some in benchmark.verifier.kinds if right in some), row.options)
    found = [option for option in row.options if option in kind]
    if len(found) <= MOST_OPTIONS:
        return found
    others = [option for option in found if option != right]
    drawn = (Key(row.seed) / "options" / row.id).rng().choice(len(others), MOST_OPTIONS - 1, replace=False)
    chosen = {right, *(others[i] for i in drawn)}
    return [option for option in found if option in chosen]


def trl(rows: Iterator[Row], draft: Path, made: Made) -> str:
    message = pa.list_(pa.struct([("role", pa.string()), ("content", PARTS)]))
    columns = {"prompt": message, "images": pa.list_(FILE), **PLAIN}
    records = ({"prompt": placeholders(row), "images": pictures(row), **plain(row)} for row in rows)
    write_parquet(draft / "train.parquet", columns, records)
    write_text(draft / "train.py", template("trl_train"))
    return template("trl_readme")


def verl(rows: Iterator[Row], draft: Path, made: Made) -> str:
    columns = {
        "data_source": pa.string(),
        "prompt": MESSAGES,
        "images": pa.list_(pa.struct([("bytes", pa.binary())])),
        "ability": pa.string(),
        "reward_model": pa.struct([("style", pa.string()), ("ground_truth", pa.string())]),
        "extra_info": pa.struct([("index", pa.int64()), ("id", pa.string()), ("split", pa.string())]),
    }
    records = (
        {
            "data_source": made.task,
            "prompt": [{"role": "user", "content": prompt(row)}],
            "images": [{"bytes": file} for file in row.media],
            "ability": "visual reasoning",
            "reward_model": {"style": "rule", "ground_truth": json.dumps(truth(row))},
            "extra_info": {"index": index, "id": row.id, "split": row.split},
        }
        for index, row in enumerate(rows)
    )
    write_parquet(draft / "train.parquet", columns, records)
    write_text(draft / "reward.py", template("verl_reward"))
    return template("verl_readme")


def truth(row: Row) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "answers": [*row.answers],
        "options": [*row.options],
        "first": len(row.shown) + 1,
    }


def ms_swift(rows: Iterator[Row], draft: Path, made: Made) -> str:
    records = (
        {
            "messages": [{"role": "user", "content": prompt(row)}],
            "images": [data_address(file) for file in row.media],
            "solution": [*row.answers],
            **{name: value for name, value in plain(row).items() if name != "answers"},
        }
        for row in rows
    )
    write_lines(draft / "train.jsonl", records)
    write_text(draft / "plugin.py", template("ms_swift_plugin"))
    return template("ms_swift_readme")


def verifiers(rows: Iterator[Row], draft: Path, made: Made) -> str:
    next(rows)  # that there are such rows is seen; the taskset makes them again
    options = {name: _in_words(value) for name, value in made.options.items()}
    put = {"TITLE": made.benchmark.title, "OPTIONS": repr(options), "SEED": str(made.seed)}
    write_text(draft / f"{made.task}.py", template("verifiers_taskset", BENCHMARK=made.benchmark.name, **put))
    dashed = made.task.replace("_", "-")
    write_text(
        draft / "pyproject.toml",
        f'[project]\nname = "{dashed}"\nversion = "0.1.0"\ndependencies = ["recombine", "verifiers==0.4.*"]\n\n'
        f'[build-system]\nrequires = ["setuptools>=68"]\nbuild-backend = "setuptools.build_meta"\n\n'
        f'[tool.setuptools]\npy-modules = ["{made.task}"]\n',
    )
    return template("verifiers_readme", DASHED=dashed)


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}={one}" for name, one in value.items())
    return ",".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)


TOOLS: Mapping[str, Callable[[Iterator[Row], Path, Made], str]] = {
    "lmms-eval": lmms_eval,
    "vlmevalkit": vlmevalkit,
    "trl": trl,
    "verl": verl,
    "ms-swift": ms_swift,
    "verifiers": verifiers,
}
