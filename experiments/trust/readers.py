"""Readers: everything that Recombine reads and has not written itself, each with good samples and what reads them.

A reader is opened in a folder of its own. Reading may end well or in a `UserError`; nothing else.
"""

import json
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from experiments.trust.mutations import (
    Mutation,
    json_changed,
    jsonl_changed,
    mangled,
    parquet_changed,
    png_changed,
    tensors_changed,
    wav_changed,
)
from recombine import benchmarks
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.text import console, plain

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "recombine" / "benchmarks" / "clevr" / "examples"


@dataclass(frozen=True)
class Reader:
    """Good samples, how they are changed, and what reads them."""

    samples: Sequence[bytes]
    read: Callable[[bytes], object]
    mutation: Mutation = mangled

    def input(self, number: int) -> bytes:
        """The input of this number, always the same."""
        chance = random.Random(number)
        return self.mutation(chance.choice(self.samples), chance)


def texts(*samples: str) -> list[bytes]:
    return [sample.encode() for sample in samples]


def as_text(data: bytes) -> str:
    """As Python hands over the words of a command line."""
    return data.decode("utf-8", "surrogateescape")


def through(file: Path, read: Callable[[Path], object], data: bytes) -> object:
    """Read bytes that lie in a file."""
    file.write_bytes(data)
    return read(file)


# --- datasets and the store ---------------------------------------------------------------------------------------


def _dataset(folder: Path) -> Path:
    from recombine.benchmarks.clevr.world import ClevrWorld
    from recombine.render.rendering import as_dataset

    with as_dataset(ClevrWorld().sample(4, Key(0)), "clevr", 16, 16, "theirs") as made:
        shutil.copytree(made, folder)
    return folder


def recipe(folder: Path) -> Reader:
    """recipe.json of a dataset: rendered as far as work would begin, beside a folder that must stay as it is."""
    from recombine.render.rendering import render_scenes, wanted
    from recombine.store.engine import silent

    data = _dataset(folder / "data")
    (folder / "Documents").mkdir()
    (folder / "Documents" / "thesis.tex").write_text("years of work")
    shutil.copy(data / "scenes" / "scenes-00000.parquet", folder / "Documents")
    out, kept = folder / "pics", {"data", "Documents", "pics"}

    def read(changed: bytes) -> None:
        (data / "recipe.json").write_bytes(changed)
        try:
            render_scenes(data, data, out, wanted("images", "4x4", first=1), "parquet", 1, silent, lambda _: None)
        finally:
            shutil.rmtree(out, ignore_errors=True)
            assert (folder / "Documents" / "thesis.tex").read_text() == "years of work", "a file beside it is gone"
            assert {path.name for path in folder.iterdir()} <= kept, "something was written beside it"

    whole = (data / "recipe.json").read_bytes()
    parts = json.loads(whole)
    parts["parameters"]["dataset"]["parts"] = [["", 4], ["../../../Documents", 4]]
    return Reader([whole, json.dumps(parts).encode()], read, json_changed)


def scenes_parquet(folder: Path) -> Reader:
    """Scenes of a dataset, in Parquet."""
    from recombine.render import dataset
    from recombine.render.folders import read_dataset

    data = _dataset(folder / "data")
    described, _ = read_dataset(data)
    file = data / "scenes" / "scenes-00000.parquet"

    def read(changed: bytes) -> None:
        file.write_bytes(changed)
        dataset._read.cache_clear()
        described.source("", data / "scenes").read(0, 4)

    return Reader([file.read_bytes()], read, parquet_changed)


def store_json(folder: Path) -> Reader:
    """store.json of a store."""
    from recombine.store.store import Store

    Store(folder)
    file = folder / "store.json"
    return Reader([file.read_bytes()], lambda data: through(file, lambda _: Store(folder), data), json_changed)


def _artefact(folder: Path) -> tuple[Any, Path]:
    from recombine.store.recipe import Recipe
    from recombine.store.store import Store

    store = Store(folder)
    made = store.get(Recipe("scenes", 1, {"seed": 0}, {}), lambda draft: (draft / "a").write_text("a"))  # type: ignore[arg-type]
    return store, made


def manifest(folder: Path) -> Reader:
    """manifest.json of an artefact: verified, listed, and asked for."""
    from recombine.store.house import kept
    from recombine.store.store import _damage

    store, made = _artefact(folder)
    file = made / "manifest.json"

    def read(_: Path) -> None:
        store.verify(), kept(store), _damage(made)

    return Reader([file.read_bytes()], partial(through, file, read), json_changed)


def artefact_recipe(folder: Path) -> Reader:
    """recipe.json of an artefact: told in words by `recombine store`."""
    from recombine.store.house import kept, prune
    from recombine.store.store import read_recipe

    store, made = _artefact(folder)
    file = made / "recipe.json"

    def read(_: Path) -> None:
        kept(store), prune(store, recipe="seed"), read_recipe(made)

    return Reader([file.read_bytes()], partial(through, file, read), json_changed)


def draft_sums(folder: Path) -> Reader:
    """The checksums beside a draft that was interrupted."""
    from recombine.store.checksums import damaged, mend, note, region
    from recombine.store.writing import open_draft

    draft = open_draft(folder / "draft")

    def read(changed: bytes) -> None:
        (draft / "part").write_text("part")
        file.write_bytes(changed)
        damaged(draft), mend(draft)
        assert (folder / "outside").exists(), "a file outside of the draft is gone"

    (folder / "outside").write_text("outside")
    (draft / "part").write_text("part")
    note(draft, region(draft, draft / "part"))
    file = folder / "draft.sums" / "part"
    whole = file.read_bytes()
    return Reader([whole, whole.replace(b"part", b"../outside")], read)


def arrays(folder: Path) -> Reader:
    """Arrays of NumPy, read and mapped."""
    from recombine.store.arrays import map_array, read_array

    np.save(folder / "a.npy", np.arange(12).reshape(3, 4))
    file = folder / "a.npy"

    def read(_: Path) -> None:
        read_array(file)
        map_array(file, "r")

    return Reader([file.read_bytes()], partial(through, file, read))


# --- runs ---------------------------------------------------------------------------------------------------------


def _results(benchmark: str) -> dict[str, Any]:
    score = {"value": 0.5, "low": 0.4, "high": 0.6}
    spent = {"parameters": 400_000, "steps": 100, "best_step": 100, "epochs": 10, "seconds": 20.0, "cpu_seconds": 10.0}
    if benchmark == "curi":
        return {"scores": {"mAP": score, "accuracy": score}, "episodes": 200, "written": None, **spent}
    if benchmark == "closure":
        pairs = {"0": [1, 2], "1": [1, 1]}
        by = {name: pairs for name in ("families", "types", "depths")}
        right = {"questions": 100, "right": 0.5, "exact": 0.5, "formed": 0.5, **by}
        from recombine.benchmarks.closure.published import TESTS

        tests = dict.fromkeys(("CLEVR", *TESTS, *(f"{test}, baseline" for test in TESTS)), right)
        return {"scores": tests, "questions": 100, **spent}
    classes = ["red", "blue"]
    table = {"train": [0.5, 0.25], "long": [1.0, 0.0]}
    eye = {test: [[1, 0], [0, 1]] for test in table}
    return {"classes": classes, "f1": table, "confusion": eye, **spent}


SPLITS = {"curi": "counting", "closure": "zero-shot", "concept-world": "sequences"}


def _run(folder: Path, benchmark: str) -> tuple[Any, Path, Callable[[Path], object]]:
    """The networks of a benchmark, the folder of a run, and what `table` and `eval` make of it."""
    from recombine.benchmarks.networks import Job, identity, job_of, networks_of
    from recombine.benchmarks.runs import read_outcomes
    from recombine.solvers.training.records import FORMAT, read_config, read_results
    from recombine.solvers.training.settings import LENGTH
    from recombine.store.engine import InProcess
    from recombine.store.store import Store
    from recombine.verbs.learners import write_page

    networks, run, store = networks_of(benchmark), folder / "runs" / "one", Store(folder / "store")
    model = next(iter(networks.models))
    options = networks.concerning(networks.options(), model)
    job = Job(benchmark, SPLITS[benchmark], model, 0, "demo", 0, options, networks.usual(model, options))
    length = {name: value for name, value in asdict(job.training).items() if name in LENGTH}
    run.mkdir(parents=True)
    config = {"format": FORMAT, **identity(job), "length": length}
    (run / "config.json").write_text(json.dumps(config))
    (run / "results.json").write_text(json.dumps({**_results(benchmark), "length": length}))

    def read(_: Path) -> None:
        found = read_outcomes(networks, folder / "runs")
        for table in networks.tables(found):
            shown(table)
        write_page(found, {}, folder / "page.md")
        told = read_config(run)
        asked = job_of(told, run)
        asked.networks.study(asked, store, InProcess())
        read_results(run)

    return networks, run, read


def shown(table: Any) -> None:
    """A table in all ways in which it is shown; none of them lets a foreign file steer who reads it."""
    terminal = console(width=80, force_terminal=False)
    with terminal.capture() as printed:
        terminal.print(table)
    assert plain(printed.get()) == printed.get(), "control characters reach the terminal"
    assert "<script" not in table.markdown() + table.html(), "a script reaches the page"
    table.json()


def run_files(benchmark: str, folder: Path) -> Reader:
    """config.json and results.json of a run."""
    _, run, read = _run(folder, benchmark)
    names = ("config", "results")

    def read_both(data: bytes) -> None:
        try:
            both = json.loads(data)
            parts = [json.dumps(both[name]).encode() for name in names]
        except (ValueError, KeyError, TypeError, RecursionError):
            parts = [data, data]
        for name, part in zip(names, parts):
            (run / f"{name}.json").write_bytes(part)
        read(run)

    whole = {name: json.loads((run / f"{name}.json").read_bytes()) for name in names}
    return Reader([json.dumps(whole).encode()], read_both, json_changed)


def metrics(folder: Path) -> Reader:
    """metrics.parquet of a run."""
    from recombine.solvers.training.records import SCHEMA, read_metrics

    rows = [dict(zip(SCHEMA.names, (step, 1, 1.0, 1.0, "validation/mAP", 0.5))) for step in range(3)]
    file = folder / "metrics.parquet"
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), file)
    return Reader([file.read_bytes()], partial(through, file, lambda _: read_metrics(folder)), parquet_changed)


def sittings(folder: Path) -> Reader:
    """environment.json and spent.json of a run that goes on."""
    from recombine.solvers.training.run import Run

    run = Run(folder, {"network": "x"}, {"steps": 1})

    def read(data: bytes) -> None:
        for name in ("environment.json", "spent.json"):
            (folder / name).write_bytes(data)
        run.spent()
        run.write_sitting({})

    return Reader(
        texts('[{"from_step": 0, "machine": "x"}]', '{"step": 0, "seconds": 1.5, "cpu_seconds": 1.0}'),
        read,
        json_changed,
    )


def checkpoint(folder: Path) -> Reader:
    """Checkpoints and weights, in the safetensors format."""
    import torch

    from recombine.solvers.training.checkpoint import load, save
    from recombine.solvers.training.tensors import read_tensors

    identity, file = {"network": "x"}, folder / "last.safetensors"
    state = {"weights": {"a": torch.zeros(2, 3), "b": torch.ones(1, dtype=torch.int64)}, "step": 3, "order": (1, [2])}
    save(file, state, identity)

    def read(_: Path) -> None:
        try:
            load(file, identity)
        finally:
            read_tensors(file)

    return Reader([file.read_bytes()], partial(through, file, read), tensors_changed)


def events(folder: Path) -> Reader:
    """Event files of TensorBoard."""
    from recombine.solvers.training.events import Events, read_scalars

    made = Events(folder, 3)
    made.add(4, {"loss": 0.5, "validation/mAP": 0.25})
    return Reader([made.file.read_bytes()], partial(through, made.file, lambda file: list(read_scalars(file))))


def notes(folder: Path) -> Reader:
    """Notes that people wrote for a page, in Markdown."""
    from recombine.report.notes import notes_of

    (folder / "notes").mkdir()
    file = folder / "notes" / "page.md"

    def read(_: Path) -> None:
        for ending in ("md", "html"):
            for one in notes_of(folder / f"page.{ending}"):
                if not isinstance(one, str):
                    one.html()

    return Reader(
        texts("A **note** with `code` and [a link](x.md).\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"),
        partial(through, file, read),
    )


# --- concepts -----------------------------------------------------------------------------------------------------


CONCEPTS = (
    "metal x material? = S color? purple for-all= and lambda S. exists=\n# a comment\n\nall(color?(S), blue)\n",
    "exists x in S and(>(8, locationX?(x)), =(purple, color?(x)))\nfor-all x in S =(color?(x), purple)\n",
    '["all(color?(S), blue)", "x color? purple = lambda S. for-all="]',
)


@cache
def _curi_samples() -> tuple[bytes, ...]:
    """Concepts of the language in every spelling."""
    from recombine.benchmarks.curi.edition import EDITIONS
    from recombine.benchmarks.curi.language import Lot
    from recombine.benchmarks.curi.space import candidates
    from recombine.benchmarks.curi.spelling import infix, postfix, prefix

    concepts = [term for term, _ in candidates(Lot(), EDITIONS["release"], 200, Key(0))][:20]
    return tuple(spell(concept).encode() for concept in concepts for spell in (postfix, infix, prefix))


def curi_concepts(folder: Path) -> Reader:
    """Files of concepts: one per line, or a JSON list; postfix, infix."""
    from recombine.benchmarks.curi.language import Lot
    from recombine.benchmarks.curi.space import read_concepts

    lot, file = Lot(), folder / "own.txt"
    readable = [text for text in _curi_samples() if not text.startswith((b"exists= ", b"for-all= "))]  # not in prefix
    many = b"\n".join(readable)
    listed = json.dumps([one.decode() for one in readable]).encode()
    return Reader([*texts(*CONCEPTS), many, listed], partial(through, file, lambda path: read_concepts(path, lot)))


def curi_spellings(folder: Path) -> Reader:
    """One concept, in postfix, prefix and infix."""
    from recombine.benchmarks.curi.language import Lot
    from recombine.benchmarks.curi.spelling import Speller

    speller = Speller(Lot())

    def read(data: bytes) -> None:
        text = as_text(data)
        for reading in (speller.read, speller.read_postfix, speller.read_infix, speller.read_prefix):
            try:
                reading(text)
            except UserError as error:
                wellbehaved(error)

    return Reader(_curi_samples(), read)


def hold_out(folder: Path) -> Reader:
    """Splits of one's own: `--hold-out name=predicate`, and CLEVR's pairs."""
    from recombine.benchmarks.clevr.world import Condition
    from recombine.benchmarks.curi.language import Lot
    from recombine.benchmarks.curi.study import own_split
    from recombine.cli.options import Option

    lot, option = Lot(), Option("hold_out", "", str, True, True, None)

    def read(data: bytes) -> None:
        text = as_text(data)
        try:
            for name, where in option.value([text]).items():
                own_split(name, where, lot)
        except UserError as error:
            wellbehaved(error)
        Condition.read(text)

    samples = ("mine=green & (cube | length>11) & ~x", "a=~(red|blue)", "cube: gray,blue; cylinder: red")
    return Reader(texts(*samples), read)


def concept_files(folder: Path) -> Reader:
    """.concepts files: definitions, grids, experiments."""
    from recombine.benchmarks.concept_world.reader import load_library, read_file

    library = load_library()
    shipped = sorted((ROOT / "recombine" / "benchmarks" / "concept_world" / "library").glob("*.concepts"))
    own = 'grid 8 by 8\nconcept mine(X) "all red": all x in X: x.color == red\n'
    own += "experiment e: train: a 3 of mine test t: a 1 of red\n"
    shelf = [file.read_bytes() for file in shipped]
    pieces = [
        b"concept " + piece.replace(b"(", b"_own(", 1) for text in shelf for piece in text.split(b"\nconcept ")[1:]
    ]
    return Reader(
        [own.encode(), *pieces], partial(through, folder / "own.concepts", lambda path: read_file(path, library))
    )


def phrases(folder: Path) -> Reader:
    """What is drawn and counted: phrases, --where, --grid, formulas."""
    from recombine.benchmarks.concept_world.drawing import _sides
    from recombine.benchmarks.concept_world.reader import load_library, phrase, read_formula
    from recombine.benchmarks.concept_world.where import limits, read_where

    library = load_library()

    def read(data: bytes) -> None:
        text = as_text(data)
        tries: tuple[Callable[[], object], ...] = (
            lambda: phrase(text, library),
            lambda: read_where(text, library.definitions),
            lambda: limits(text),
            lambda: read_formula(text, library),
            lambda: _sides(text),
        )
        for one in tries:
            try:
                one()
            except UserError as error:
                wellbehaved(error)

    samples = ("red north of red", "f_pent west of z_pent", "depth(east_seq) == 3 and not uses(red)", "8x8",
               "all x in X: x.color == red", "exists x in X: north(x, x) or not (x.x_loc < 3)")  # fmt: skip
    return Reader(texts(*samples), read)


def drawn(folder: Path) -> Reader:
    """Definitions that are drawn and counted, within a limit."""
    from recombine.benchmarks.concept_world import drawing

    library = drawing.load_library()
    file = folder / "own.concepts"

    def read(path: Path) -> None:
        known = drawing.read_file(path, library)
        for name in [name for name in known.definitions if name not in library.definitions][:2]:
            drawing.draw(name, 1, concepts=known, limit=0.5)

    bodies = ("all x in X: x.color == red", "X == (a, b) and red(a) and red(b) and north(a, b)", "red(X) or blue(X)")
    samples = [f"grid 6 by 6\nconcept mine(X): {body}\n" for body in bodies]
    return Reader(texts(*samples), partial(through, file, read))


# --- questions and scenes -----------------------------------------------------------------------------------------

ASKED = (
    "What color is the small rubber cube left of the big sphere?",
    "Are there more green things than tiny metal cylinders?",
    "How many other things are the same size as the red ball?",
    "Is there a thing that is behind the cyan cube and made of the same material as the gray cylinder?",
)


def questions_in_words(folder: Path) -> Reader:
    """Questions in English, read by every benchmark that has questions."""
    readings = [one.part(one.reader_at) for one in map(benchmarks.get, benchmarks.names()) if one.reader_at]

    def read(data: bytes) -> None:
        for reading in readings:
            try:
                reading(as_text(data))
            except UserError as error:
                wellbehaved(error)

    return Reader(texts(*ASKED), read)


def _scenes_sample() -> bytes:
    return (EXAMPLES / "scenes.json").read_bytes()


def _questions_sample() -> bytes:
    return (EXAMPLES / "questions.json").read_bytes()


def clevr_scenes(folder: Path) -> Reader:
    """Scene files of CLEVR, made ready to be drawn again."""
    from recombine.benchmarks.clevr.redraw import scenes_to_draw

    return Reader([_scenes_sample()], partial(through, folder / "scenes.json", scenes_to_draw), json_changed)


def clevr_lines(folder: Path) -> Reader:
    """Scenes and questions with one record per line."""
    from recombine.benchmarks.clevr.formats import read_questions, read_scenes

    def read(path: Path) -> None:
        for reading in (read_scenes, read_questions):
            try:
                reading(path)
            except UserError as error:
                wellbehaved(error)

    scenes, asked = json.loads(_scenes_sample())["scenes"], json.loads(_questions_sample())["questions"]
    samples = [b"\n".join(json.dumps(record).encode() for record in records) for records in (scenes, asked)]
    return Reader(samples, partial(through, folder / "records.jsonl", read), jsonl_changed)


def clevr_questions(folder: Path) -> Reader:
    """Question files of CLEVR with their programs, checked against their scenes."""
    from recombine.benchmarks.clevr.study import check_files

    scenes = folder / "scenes.json"
    scenes.write_bytes(_scenes_sample())

    def read(path: Path) -> None:
        table, _ = check_files([scenes], path)
        shown(table)

    return Reader([_questions_sample()], partial(through, folder / "questions.json", read), json_changed)


def checked_scenes(folder: Path) -> Reader:
    """Scene files of CLEVR that questions are checked against."""
    from recombine.benchmarks.clevr.study import check_files

    asked = folder / "questions.json"
    asked.write_bytes(_questions_sample())

    def read(path: Path) -> None:
        table, _ = check_files([path], asked)
        shown(table)

    return Reader([_scenes_sample()], partial(through, folder / "scenes.json", read), json_changed)


def family_names(folder: Path) -> Reader:
    """Names of families, splits, parts and benchmarks; sizes, ages, formats."""
    from recombine.benchmarks.clevr.families import clevr_families
    from recombine.benchmarks.study import part_named
    from recombine.render.rendering import refuse_format, wanted
    from recombine.store.paths import plain_name
    from recombine.verbs import store as house

    families = clevr_families()
    tries: tuple[Callable[[str], object], ...] = (
        families.named, part_named, benchmarks.get, plain_name, refuse_format,
        lambda text: wanted(text, text), lambda text: wanted("images", text),
        lambda text: house._number(text, house.TIMES), lambda text: house._number(text, house.SIZES),
    )  # fmt: skip

    def read(data: bytes) -> None:
        for one in tries:
            try:
                one(as_text(data))
            except UserError as error:
                wellbehaved(error)

    return Reader(
        texts("one_hop", "89", "validation", "concept-world", "480x320", "30d", "10GB", "images,sounds"), read
    )


def splits(folder: Path) -> Reader:
    """`--split` of the benchmarks that know theirs without making data."""
    from recombine.benchmarks.concept_world.study import ConceptWorld
    from recombine.store.store import Store

    study = ConceptWorld(store=Store(folder / "store"))

    def read(data: bytes) -> None:
        text = as_text(data)
        if text not in study.experiments:  # those that are there would be made
            study.exams([text])
            raise AssertionError("a split that is none is taken for one")

    return Reader(texts(*study.experiments), read)


def programs(folder: Path) -> Reader:
    """Programs of CLEVR, as nodes of JSON and as tokens."""
    from recombine.benchmarks.clevr.program import ProgramTokens, read_program
    from recombine.store.untrusted import parse_json

    tokens = ProgramTokens()

    def read(data: bytes) -> None:
        nodes = parse_json(data, "the program")
        try:
            read_program(nodes)
        except UserError as error:
            wellbehaved(error)
        tokens.read(str(nodes).split())

    samples = [json.dumps(one["program"]).encode() for one in json.loads(_questions_sample())["questions"]]
    return Reader(samples, read, json_changed)


# --- pictures, sounds, meshes, people -----------------------------------------------------------------------------


def png(folder: Path) -> Reader:
    """Pictures in PNG: gray, palette, RGB, with and without filters."""
    from PIL import Image

    from recombine.render.png import png as written
    from recombine.render.png import read_png

    pixels = np.random.default_rng(0).integers(0, 255, (9, 7, 3), np.uint8)
    samples = [written(pixels)]
    for mode in ("1", "L", "P", "RGB", "RGBA", "LA", "I;16"):
        Image.fromarray(pixels).convert(mode).save(folder / "a.png")
        samples.append((folder / "a.png").read_bytes())
    return Reader(samples, partial(through, folder / "b.png", read_png), png_changed)


def recognised(folder: Path) -> Reader:
    """Pictures that are recognised: the pixels are the world."""
    from recombine.benchmarks.concept_world import drawing
    from recombine.render.png import png as written

    one = drawing.draw("red", 1, seed=0)
    drawing_file = folder / "one.png"
    one.write(drawing_file)
    samples = [drawing_file.read_bytes(), written(np.zeros((4, 4, 3), np.uint8))]
    read = partial(drawing.recognise, concept="red", limit=0.5)
    return Reader(samples, partial(through, folder / "b.png", read), png_changed)


def wav(folder: Path) -> Reader:
    """Recordings of notes, in WAV."""
    from recombine.render.recordings import read_note
    from recombine.render.wave import to_wav as written

    note = np.sin(np.arange(3_000) / 20)
    return Reader(
        [written(note), written(note[:500])], partial(through, folder / "oboe_A4.wav", read_note), wav_changed
    )


OBJ = (
    "# a cube's corner\no body\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\ng wheels\nf 1//1 2//1 3//1\nf 1 2 -1 3\n"
)
PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""


def obj(folder: Path) -> Reader:
    """Meshes in OBJ."""
    from recombine.render.mesh import read_groups

    return Reader(texts(OBJ), partial(through, folder / "a.obj", lambda path: read_groups(path, None)))


def ply(folder: Path) -> Reader:
    """The heads of meshes in PLY, which say how much there is to read."""
    from recombine.render.mesh import _check_ply

    return Reader(texts(PLY), partial(through, folder / "a.ply", _check_ply))


def judgements(folder: Path) -> Reader:
    """Judgements of people."""
    from recombine.benchmarks.human.judgements import read

    lines = [
        f"hg{c} L1 {s} {i} {i == 1} triangle blue {1 + i % 3} 15 9" for c in (1, 2) for s in (1, 2) for i in (1, 2, 3)
    ]
    file = folder / "people.txt"
    return Reader(texts("\n".join(lines)), partial(through, file, lambda path: read(path, "L1")))


def vocabulary(folder: Path) -> Reader:
    """Vocabularies: attributes with their values."""
    from recombine.render.folders import _dataset as described
    from recombine.store.untrusted import parse_json

    sample = json.loads((_dataset(folder / "data") / "recipe.json").read_bytes())["parameters"]["dataset"]

    def read(data: bytes) -> None:
        plainly = parse_json(data, "the vocabulary", dict)
        try:
            found = described(plainly).vocabulary
        except (KeyError, ValueError, TypeError, AttributeError) as error:  # as read_dataset says it
            raise UserError(str(error)) from error
        for attribute in found:
            attribute.code(attribute.values[0])

    return Reader([json.dumps(sample).encode()], read, json_changed)


# --- all of them --------------------------------------------------------------------------------------------------


def wellbehaved(error: UserError) -> None:
    """A complaint is short enough to be read, and steers no terminal."""
    said = str(error)
    assert plain(said) == said, "control characters in a complaint"
    said.encode()
    assert len(said) < 20_000, f"a complaint of {len(said):,} letters"


Open = Callable[[Path], Reader]
READERS: Mapping[str, Open] = {
    "recipe.json of a dataset": recipe,
    "vocabulary of a dataset": vocabulary,
    "scenes (Parquet)": scenes_parquet,
    "store.json": store_json,
    "manifest.json": manifest,
    "recipe.json of an artefact": artefact_recipe,
    "checksums of a draft": draft_sums,
    "arrays (.npy)": arrays,
    **{f"config.json, results.json of a run ({name})": partial(run_files, name) for name in SPLITS},
    "metrics.parquet of a run": metrics,
    "environment.json, spent.json of a run": sittings,
    "checkpoints (.safetensors)": checkpoint,
    "events of TensorBoard": events,
    "notes (Markdown)": notes,
    "files of concepts (CURI)": curi_concepts,
    "concepts in every spelling (CURI)": curi_spellings,
    "hold-out expressions": hold_out,
    ".concepts files": concept_files,
    "definitions, drawn": drawn,
    "phrases, --where, --grid, formulas": phrases,
    "questions in English": questions_in_words,
    "programs (CLEVR)": programs,
    "scenes (CLEVR, JSON)": clevr_scenes,
    "scenes, checked (CLEVR, JSON)": checked_scenes,
    "questions, checked (CLEVR, JSON)": clevr_questions,
    "scenes and questions (JSON lines)": clevr_lines,
    "names of families, parts, sizes, ages": family_names,
    "--split": splits,
    "pictures (PNG)": png,
    "pictures, recognised": recognised,
    "recordings (WAV)": wav,
    "meshes (OBJ)": obj,
    "heads of meshes (PLY)": ply,
    "human judgements": judgements,
}
