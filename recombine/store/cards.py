"""Dataset cards: README.md, with which Hugging Face `datasets` opens a folder as it is meant, and croissant.json.

A *config* is what belongs together: the episodes of one split, the questions, the scenes. Its *splits* are train,
validation and test, or the names of its tests. Both are read off the files of the folder, so that nothing is opened
together that should be apart. Both hold a checksum of what else they say, so that it is seen if one was edited.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.store.untrusted import parse_json, read_text
from recombine.store.writing import write_text

README, CROISSANT = "README.md", "croissant.json"
PARTS = {"train": "train", "val": "validation", "validation": "validation", "test": "test"}
WHOLE = "full"
"""The split of what belongs to no part: scenes of which all parts are made."""
SUFFIXES = (".parquet", ".jsonl", ".json", ".tar")
"""Of these, the first that a folder has is opened: `datasets` opens files of one kind in a folder."""
DROPPED = ("episodes",)
"""Folders that say nothing in the name of a config."""
MATERIAL = ("scenes", "concepts", "images", "sounds")
"""What others are made of, and nobody opens first."""
NO_DATA = ("recipe.json", "manifest.json", "certificate.json")
"""Files of JSON that say something of the data."""
CLASSES = ("label", "answer")
MOST_CLASSES = 64
PUBLISHED = "2026-11-18"
"""The day of this form of the card; the day on which a folder was made is not in it, for the same data are the same."""


@dataclass(frozen=True)
class About:
    """What a card says of the data beside what their files say."""

    name: str
    title: str
    about: str
    paper: str
    settings: Mapping[str, Any]
    version: str
    again: str
    """The command that makes it again."""
    example: str = ""
    """A split to open where nothing is said."""
    splits: Sequence[str] = ()
    """The names of its splits."""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Config:
    """Files that are opened together, by split."""

    name: str
    files: Mapping[str, tuple[str, ...]]
    """By split, the files, as the folder sees them."""
    suffix: str
    options: Mapping[str, str] = field(default_factory=dict)

    def patterns(self) -> dict[str, list[str]]:
        """By split, patterns that name these files and no others."""
        found = {}
        for split, files in self.files.items():
            folders = sorted({file.rpartition("/")[0] for file in files})
            numbered = all(re.search(r"-\d{5}\.\w+$", file) for file in files)
            if numbered:
                starts = sorted({re.sub(r"\d{5}(\.\w+)$", r"*\1", file) for file in files})
                found[split] = starts if len(starts) == len(folders) else sorted(files)
            else:
                found[split] = sorted(files)
        return found


# --- configs --------------------------------------------------------------------------------------------------------


def configs_of(folder: Path) -> list[Config]:
    """What a folder holds, read off the names of its files."""
    files = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    suffix = next((one for one in SUFFIXES if any(_is_data(file, one) for file in files)), None)
    found: dict[str, dict[str, list[str]]] = {}
    for file in files:
        if suffix is not None and _is_data(file, suffix):
            name, split = _named(file)
            found.setdefault(name, {}).setdefault(split, []).append(file.as_posix())
    order = [*PARTS.values(), WHOLE]
    return [
        Config(
            name,
            {s: tuple(some[s]) for s in sorted(some, key=lambda s: (order.index(s) if s in order else 1, s))},
            str(suffix),
            {"field": name.rpartition("_")[2]} if suffix == ".json" else {},
        )
        for name, some in found.items()
    ]


def _is_data(file: Path, suffix: str) -> bool:
    return file.suffix == suffix and file.name not in (CROISSANT, *NO_DATA)


OFFICIAL = re.compile(r"[A-Za-z]+_(\w+?)_((?:part_)?(?:scenes|questions))")


def _named(file: Path) -> tuple[str, str]:
    """The config and the split of a file."""
    if official := OFFICIAL.fullmatch(file.stem):
        return official[2], PARTS.get(official[1], official[1])
    words, numbered = list(file.parts[:-1]), re.fullmatch(r"\w+-\d{5}", file.stem)
    parts = [word for word in words if word in PARTS]
    if parts:
        kept = [word for word in words if word not in PARTS]
        return _config([word for word in kept if word not in DROPPED] or kept or [file.stem]), PARTS[parts[-1]]
    if numbered or not words or file.stem in (*words, *MATERIAL, "examples", "questions"):
        return _config(words or [file.stem.partition("-")[0]]), WHOLE
    return _config(words), re.sub(r"\W", "_", PARTS.get(file.stem, file.stem))


def _config(words: Iterable[str]) -> str:
    return "-".join(words)


def default_of(configs: Sequence[Config], about: About) -> str:
    """What is opened where nothing is said: the example, or else questions, or else the first that is no material."""
    names = [config.name for config in configs]
    example = about.example
    examples = [name for name in names if example and f"-{example}-" in f"-{name}-"]
    own = [name for name in examples if f"-{about.name}-" in f"-{name}-"]
    rest = [name for name in names if name not in MATERIAL]
    return [*own, *examples, *(name for name in names if name == "questions"), *rest, *names][0]


# --- the card -------------------------------------------------------------------------------------------------------


def write_cards(folder: Path, about: About) -> None:
    """Write both cards of a folder that is complete."""
    configs = configs_of(folder)
    if configs:
        write_text(folder / README, signed(_readme(folder, configs, about)))
        write_text(folder / CROISSANT, sealed(_croissant(folder, configs, about)))


def check_card(folder: Path, about: About) -> None:
    """Refuse a card that somebody has edited; write cards that are missing."""
    kept = {README: is_signed, CROISSANT: is_sealed}
    for name, as_written in kept.items():
        if (folder / name).exists() and not as_written(read_text(folder / name)):
            raise UserError(
                f"{folder / name} was edited, and is kept; move your text to another file and remove it to have it "
                "made again"
            )
    if not all((folder / name).exists() for name in kept):
        write_cards(folder, about)


SIGNED = re.compile(r"<!-- recombine ([0-9a-f]{32}) -->\n")
SEAL = "identifier"
"""The property of croissant.json that holds the checksum of the others."""


def signed(text: str) -> str:
    return f"{text}<!-- recombine {_digest(text)} -->\n"


def is_signed(text: str) -> bool:
    """Whether a card is as it was written."""
    *_, last = text.splitlines(keepends=True) or [""]
    found = SIGNED.fullmatch(last)
    return bool(found) and found is not None and found[1] == _digest(text.removesuffix(last))


def sealed(said: Mapping[str, Any]) -> str:
    """JSON with a checksum among its properties."""
    return _json({**said, SEAL: f"recombine-card:{_digest(_json(said))}"})


def is_sealed(text: str) -> bool:
    """Whether a croissant.json says what was written."""
    try:
        said = parse_json(text, CROISSANT, dict)
    except UserError:
        return False
    said.pop(SEAL, None)
    return sealed(said) == text


def _json(said: Any) -> str:
    return json.dumps(said, indent=1) + "\n"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _readme(folder: Path, configs: Sequence[Config], about: About) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in about.settings.items())
    rows = [
        f"| `{config.name}` | {split} | {_rows(folder, files):,} |"
        for config in configs
        for split, files in config.files.items()
    ]
    name = f"{about.title}, made by Recombine"
    opened = f'load_dataset("FOLDER", "{default_of(configs, about)}")'
    text = [
        "---",
        *_header(folder, configs, about),
        "---",
        f"# {name}",
        "",
        f"{about.title}: {about.about}. The data are synthetic: made from a seed, without a download.",
        "",
        "| config | split | rows |",
        "|---|---|--:|",
        *rows,
        "",
        f"`{opened}` opens a config; configs are kept apart because what one split trains on, another tests on.",
        *([f"Tables have a column `split`, one of: {', '.join(about.splits)}.", ""] if about.splits else []),
        *(f"* {note}" for note in (*about.notes, *_media_notes(folder, configs))),
        "",
        "## How it was made, and how to make it again",
        "",
        f"Recombine {about.version}; {settings}. `recipe.json` holds everything that decided it; the same command",
        "gives the same bytes, with any number of workers:",
        "",
        "```sh",
        about.again,
        "```",
        "",
        "## Limits",
        "",
        "Scenes and sentences are drawn from small grammars; scores measure recombination in these worlds, not",
        "understanding of photographs or of free text. There are no people and no personal data in it.",
        "",
        "## Licence and citation",
        "",
        f"Apache-2.0. Please cite the paper, {about.paper}, and Recombine:",
        "",
        "```bibtex",
        "@software{recombine,",
        f"  title = {{Recombine: compositional-generalisation gaps}}, version = {{{about.version}}}, year = {{2026}},",
        "}",
        "```",
        "",
    ]
    return "\n".join(text)


def _header(folder: Path, configs: Sequence[Config], about: About) -> list[str]:
    """The YAML that `datasets` reads."""
    default, total = default_of(configs, about), sum(_rows(folder, f) for c in configs for f in c.files.values())
    lines = [
        f"pretty_name: {json.dumps(about.title)}",
        "license: apache-2.0",
        "language: [en]",
        f"task_categories: [{'visual-question-answering' if _asks(configs) else 'image-classification'}]",
        f"size_categories: [{_size(total)}]",
        f"tags: [compositional-generalization, synthetic, {about.name}, recombine]",
        "configs:",
    ]
    for config in configs:
        lines += [f"- config_name: {json.dumps(config.name)}"]
        lines += ["  default: true"] if config.name == default else []
        lines += [f"  {name}: {json.dumps(value)}" for name, value in config.options.items()]
        lines += ["  data_files:"]
        for split, patterns in config.patterns().items():
            lines += [f"  - split: {json.dumps(split)}", "    path:", *(f"    - {json.dumps(one)}" for one in patterns)]
    infos = [line for config in configs for line in _features(folder, config)]
    return [*lines, *(["dataset_info:", *infos] if infos else [])]


def _asks(configs: Sequence[Config]) -> bool:
    """Whether there are questions about pictures."""
    return any("question" in file for config in configs for files in config.files.values() for file in files)


def _size(rows: int) -> str:
    bounds = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))
    return next((name for bound, name in bounds if rows < bound), "n>10M")


def _features(folder: Path, config: Config) -> list[str]:
    """The types of the columns, where the files do not say them: pictures, and classes that are written as words."""
    if config.suffix != ".parquet":
        return []
    schema = pq.read_schema(folder / next(iter(config.files.values()))[0])
    if b"huggingface" in (schema.metadata or {}):
        return []
    classes = {name: _classes(folder, config, name) for name in CLASSES if name in schema.names}
    special = {name for name, words in classes.items() if words} | {one.name for one in schema if _is_file(one.type)}
    if not special or not all(_plain(one.type) or _is_file(one.type) for one in schema):
        return []
    lines = [f"- config_name: {json.dumps(config.name)}", "  features:"]
    for one in schema:
        lines.append(f"  - name: {json.dumps(one.name)}")
        if words := classes.get(one.name):
            names = [f"          '{i}': {json.dumps(word)}" for i, word in enumerate(words)]
            lines += ["    dtype:", "      class_label:", "        names:", *names]
        elif _is_file(one.type):
            lines.append(f"    dtype: {one.name}")
        elif pa.types.is_list(one.type):
            lines.append(f"    list: {one.type.value_type}")
        else:
            lines.append(f"    dtype: {one.type}")
    return lines


def _classes(folder: Path, config: Config, column: str) -> list[str]:
    """The words of a column that has few, in order; a column of many has none."""
    found: set[str] = set()
    for file in (file for files in config.files.values() for file in files):
        with pq.ParquetFile(folder / file) as opened:
            if not pa.types.is_string(opened.schema_arrow.field(column).type):
                return []
            found |= set(pc.unique(opened.read([column])[column]).to_pylist())
    return sorted(found) if len(found) <= MOST_CLASSES and None not in found else []


def _plain(type: pa.DataType) -> bool:
    inner = type.value_type if pa.types.is_list(type) else type
    return not pa.types.is_nested(inner)


def _is_file(type: pa.DataType) -> bool:
    return bool(pa.types.is_struct(type)) and [one.name for one in type] == ["bytes", "path"]


def _rows(folder: Path, files: Sequence[str]) -> int:
    return sum(map(rows_of, (folder / file for file in files)))


def rows_of(file: Path) -> int:
    """How many rows a file of data has."""
    if file.suffix == ".parquet":
        with pq.ParquetFile(file) as opened:
            return int(opened.metadata.num_rows)
    if file.suffix == ".jsonl":
        with file.open("rb") as lines:
            return sum(1 for _ in lines)
    if file.suffix == ".json":
        held = json.loads(file.read_text(encoding="utf-8"))
        return len(held.get("questions", held.get("scenes", ())))
    return _samples(file)


def _samples(file: Path) -> int:
    """The samples of a tar file: one text each."""
    import tarfile

    with tarfile.open(file, "r:") as tar:
        return sum(one.name.endswith(".json") for one in tar)


def _media_notes(folder: Path, configs: Sequence[Config]) -> list[str]:
    names = {config.name for config in configs}
    notes = []
    if "sounds" in names:
        notes.append(
            "Sounds are WAV files; `datasets` decodes them with torchcodec. Without it, cast the column to "
            "`Audio(decode=False)` for the bytes."
        )
    tars = any(folder.rglob("*.tar"))
    if tars and configs[0].suffix != ".tar":
        notes.append("The tar files are for WebDataset: open them with `webdataset`, or `load_dataset('webdataset')`.")
    return notes


# --- Croissant ------------------------------------------------------------------------------------------------------

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "excludes": "cr:excludes",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
    "value": "cr:value",
}
ENCODING = {
    ".parquet": "application/x-parquet",
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".tar": "application/x-tar",
}


def _croissant(folder: Path, configs: Sequence[Config], about: About) -> dict[str, Any]:
    digest = Recipe("card", 1, {"name": about.name, "settings": about.settings, "again": about.again}, {}).digest
    described = [config for config in configs if config.suffix == ".parquet"]
    splits = list(dict.fromkeys(split for config in configs for split in config.files))
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": f"recombine-{about.name}",
        "description": f"{about.title}: {about.about}. Synthetic, made from a seed.",
        "url": f"urn:recombine:{digest}",
        "license": "https://www.apache.org/licenses/LICENSE-2.0",
        "creator": {"@type": "sc:Organization", "name": "Recombine"},
        "citeAs": about.paper,
        "datePublished": PUBLISHED,
        "version": about.version,
        "keywords": ["compositional generalisation", "synthetic", about.name],
        "isLiveDataset": False,
        "rai:hasSyntheticData": True,
        "rai:dataCollection": f"Drawn by a program from a seed: {about.again}",
        "rai:dataLimitations": "Small grammars and worlds: scores measure recombination in them, nothing else.",
        "rai:dataBiases": "Attributes are drawn evenly but for what a split holds out; English comes from templates.",
        "rai:dataUseCases": "Training and testing learners on combinations that were held out.",
        "rai:dataSocialImpact": "None is known: there are no people in it.",
        "rai:personalSensitiveInformation": "None.",
        "distribution": [_file_set(config) for config in configs],
        "recordSet": [_split_set(splits), *(_record_set(folder, config) for config in described)],
    }


def _file_set(config: Config) -> dict[str, Any]:
    patterns = [one for some in config.patterns().values() for one in some]
    return {
        "@type": "cr:FileSet",
        "@id": f"files-{config.name}",
        "name": f"files-{config.name}",
        "encodingFormat": ENCODING[config.suffix],
        "includes": patterns if len(patterns) > 1 else patterns[0],
    }


def _split_set(splits: Sequence[str]) -> dict[str, Any]:
    known = {"train": "cr:TrainingSplit", "validation": "cr:ValidationSplit", "test": "cr:TestSplit"}
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [
            {"@type": "cr:Field", "@id": "splits/name", "name": "name", "dataType": "sc:Text"},
            {"@type": "cr:Field", "@id": "splits/url", "name": "url", "dataType": "sc:URL"},
        ],
        "data": [
            {"splits/name": split, "splits/url": known.get(split, "cr:TestSplit").replace("cr:", CONTEXT["cr"])}
            for split in splits
        ],
    }


def _record_set(folder: Path, config: Config) -> dict[str, Any]:
    schema = pq.read_schema(folder / next(iter(config.files.values()))[0])
    fields = [made for one in schema if (made := _field(config, one)) is not None]
    return {"@type": "cr:RecordSet", "@id": config.name, "name": config.name, "field": [*fields, _part(config)]}


def _part(config: Config) -> dict[str, Any]:
    """Where a record belongs, as the path of its file."""
    return {
        "@type": "cr:Field",
        "@id": f"{config.name}/file",
        "name": "file",
        "description": "The file of the record; its folder or its name says whether it trains, validates or tests.",
        "dataType": "sc:Text",
        "source": {"fileSet": {"@id": f"files-{config.name}"}, "extract": {"fileProperty": "fullpath"}},
    }


def _field(config: Config, column: pa.Field) -> dict[str, Any] | None:
    """A column in the words of Croissant; lists of lists are left to Parquet."""
    array, type = False, column.type
    shape = "-1"
    if pa.types.is_list(type) or pa.types.is_fixed_size_list(type):
        shape = str(type.list_size) if pa.types.is_fixed_size_list(type) else "-1"
        array, type = True, type.value_type
    kind = "sc:Text" if pa.types.is_binary(type) else _kind(type)
    extract: dict[str, Any] = {"fileSet": {"@id": f"files-{config.name}"}, "extract": {"column": column.name}}
    arrays: dict[str, Any] = {"isArray": True, "arrayShape": shape} if array else {}
    if _is_file(type):
        kind = "sc:ImageObject" if column.name.startswith("image") else "sc:AudioObject"
        extract["transform"] = {"jsonPath": "bytes"}
        arrays = {"repeated": True} if array else {}  # of arrays, mlcroissant reads numbers and words alone
    if kind is None:
        return None
    return {
        "@type": "cr:Field",
        "@id": f"{config.name}/{column.name}",
        "name": column.name,
        "dataType": kind,
        **arrays,
        "source": extract,
    }


def _kind(type: pa.DataType) -> str | None:
    tests = {
        "sc:Integer": pa.types.is_integer,
        "sc:Float": pa.types.is_floating,
        "sc:Boolean": pa.types.is_boolean,
        "sc:Text": pa.types.is_string,
    }
    return next((name for name, test in tests.items() if test(type)), None)
