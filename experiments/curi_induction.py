"""The learner that weighs CURI's whole language, on every split: from schemas, pictures and sounds.

    python experiments/curi_induction.py --episodes 100 --out docs/results/curi-induction.md

What is done is kept in a file, so it goes on where it was stopped; the page is written from that file.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from recombine.benchmarks.curi import exam as of_exam
from recombine.benchmarks.curi.edition import RELEASE
from recombine.benchmarks.curi.induction import READINGS, learner
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.pipeline import SCALES, CuriPipeline, Setup
from recombine.benchmarks.curi.published import NETWORKS, SPLITS
from recombine.metrics.intervals import Interval
from recombine.report.document import Chapter, write_document
from recombine.report.table import Column, Table
from recombine.semantics.fold import fold
from recombine.solvers.induction import Induction, Likelihood
from recombine.solvers.sitting import sit, taught
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.store.writing import write_text

DOUBTS = (1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
"""Those that are tried on validation episodes."""
TRIED = 16
"""Validation episodes of each split that a doubt is chosen on."""
KEPT = Path("docs/results/data/curi-induction.json")
SIZES = ("100", "100@4096")
"""Of the runs that a page shows, the first that has all splits: episodes of each, and scenes of the world."""
NETWORKS_PAGE = Path("docs/results/curi-networks.md")
MODALITIES = ("schema", "image", "sound")
PRIORS = ("grammar", "learnt")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--episodes", type=int, default=100, help="of each split")
    options.add_argument("--scale", default="demo")
    options.add_argument("--scenes", type=int, help="of the world, fewer than the scale has: pictures take long")
    options.add_argument("--modality", action="append", choices=MODALITIES)
    options.add_argument("--prior", action="append", choices=PRIORS)
    options.add_argument("--negatives", action="append", choices=("hard", "easy"))
    options.add_argument("--kept", type=Path, default=KEPT)
    options.add_argument("--out", type=Path)
    options.add_argument("--only-page", action="store_true", help="write what is kept, compute nothing")
    given = options.parse_args()
    torch.set_num_threads(1)
    scale = SCALES[given.scale]
    scale = replace(scale, scenes=given.scenes) if given.scenes else scale
    study = CuriPipeline(Setup(RELEASE, scale), Store.default())
    size = f"{given.episodes}" + (f"@{given.scenes}" if given.scenes else "")
    kept = json.loads(given.kept.read_text()) if given.kept.exists() else {}
    for modality in () if given.only_page else given.modality or MODALITIES:
        seeing = learner(study, modality)
        chosen = f"doubt/{modality}"
        if chosen not in kept:
            kept[chosen] = tried(study, seeing)
            print(chosen, kept[chosen], flush=True)
            write_text(given.kept, json.dumps(kept, indent=1) + "\n")
        likelihood = Likelihood(best_doubt(kept[chosen]))
        for negatives in given.negatives or ("hard", "easy"):
            for split in SPLITS:
                for prior in given.prior or PRIORS:
                    name = f"{modality}/{prior}/{split}/{negatives}/{size}"
                    if name in kept:
                        continue
                    solver = replace(
                        learner(study, modality, prior == "learnt"), likelihood=likelihood, _seen=seeing._seen
                    )
                    kept[name] = scored(study, solver, split, negatives, given.episodes)
                    print(name, kept[name], flush=True)
                    write_text(given.kept, json.dumps(kept, indent=1) + "\n")
                oracles = f"oracles/{split}/{negatives}/{size}"
                if oracles not in kept:
                    exam = of_exam.exam(study, split, negatives, given.episodes)
                    kept[oracles] = {
                        who: {"mAP": 100 * sit(one, exam).scores["mAP"].value}
                        for who, one in of_exam.learners(study, exam).items()
                    }
    if given.out:
        write_page(given.out, kept, given.scale)


def tried(study: CuriPipeline, solver: Induction) -> dict[str, float]:
    """The mean mAP over all splits of every doubt on validation episodes: their concepts are those of training."""
    found = dict.fromkeys(map(str, DOUBTS), 0.0)
    for split in SPLITS:
        exam = of_exam.exam(study, split, "hard", TRIED)
        pieces = [*of_exam.of_part(study, split, "hard", "validation", TRIED, queries_only=False)]
        exam = replace(exam, pieces=lambda pieces=pieces: pieces)
        for doubt in DOUBTS:
            score = sit(replace(solver, likelihood=Likelihood(doubt)), exam).scores["mAP"].value
            found[str(doubt)] += 100 * score / len(SPLITS)
    return found


def best_doubt(found: dict[str, float]) -> float:
    """The largest doubt within a tenth of a point of the best: where nothing is lost, one is not sure of oneself."""
    top = max(found.values())
    return max(float(doubt) for doubt, score in found.items() if score >= top - 0.1)


def scored(study: CuriPipeline, solver: Induction, split: str, negatives: str, episodes: int) -> dict:
    """The scores of a learner on a split, how often it names the concept, and the CPU seconds it took."""
    began = time.process_time()
    exam = of_exam.exam(study, split, negatives, episodes)  # type: ignore[arg-type]
    learnt = taught(solver, exam, Key(0) / "induction")
    found = sit(learnt, exam).scores
    return {
        **{name: [100 * x for x in (value.value, value.low, value.high)] for name, value in found.items()},
        "named": 100 * named(study, learnt, split, negatives, episodes),
        "seconds": time.process_time() - began,
    }


def named(study: CuriPipeline, solver: Induction, split: str, negatives: str, episodes: int) -> float:
    """How often the likeliest concept holds on exactly the scenes on which the right one holds."""
    drawn = study.episodes(split, "test", negatives)  # type: ignore[arg-type]
    kinds, right = solver.hypotheses(study.scenes), 0
    meaning, memo = Exact(study.scenes, study.setup.lot), {}
    for number in range(episodes):
        belief = solver.posterior(study.scenes, drawn.scene[number, : drawn.size], drawn.label[number, : drawn.size])
        said = fold(solver.plan.terms[kinds.first[belief.argmax()]], meaning, memo)
        right += bool((said == study.table.extension(study.table.sense[drawn.concept[number]])).all())
    return right / episodes


def write_page(out: Path, kept: dict, scale: str) -> None:
    chapters = []
    for negatives in ("hard", "easy"):
        there = complete(kept, negatives)
        if there:
            known = [kept[f"{name}/{SPLITS[0]}/{negatives}/{size}"] for name, size in there.items()]
            metrics = [metric for metric in ("mAP", "accuracy", "named") if any(metric in one for one in known)]
            tables = [table(kept, there, metric, negatives) for metric in metrics]
            chapters.append(Chapter(f"{negatives.capitalize()} negatives", tuple(tables)))
    chapters.append(Chapter("Beside Table 2's rows", (every_row(kept, complete(kept, "hard")),)))
    chapters.append(Chapter("The doubt", (doubts(kept),)))
    if under_way := begun(kept):
        chapters.append(Chapter("Under way", tuple(under_way)))
    said = Path(__file__).with_name("curi_induction.md").read_text(encoding="utf-8")
    write_document(out, "CURI: weighing the whole language", said.format(scale=scale, readings=READINGS), chapters)


def complete(kept: dict, negatives: str) -> dict[str, str]:
    """The learners that have sat all splits, with the size of the run that is shown."""
    found = {}
    for name in (f"{modality}/{prior}" for modality in MODALITIES for prior in PRIORS):
        done = [size for size in SIZES if all(f"{name}/{split}/{negatives}/{size}" in kept for split in SPLITS)]
        if done:
            found[name] = done[0]
    return found


def begun(kept: dict) -> list[Table]:
    """Runs that lack some splits."""
    found = []
    for size in SIZES[:2]:
        done = [name for name in kept if name.endswith(f"/hard/{size}") and name.startswith(("image", "sound"))]
        if 0 < len(done) < 4 * len(SPLITS):
            rows = tuple((name.rpartition("/hard/")[0], Interval(*kept[name]["mAP"])) for name in done)
            columns = (Column("learner"), Column("mAP", "right", ".1f"))
            found.append(Table(f"mAP, hard negatives: {sizes_in_words({'so far': size})}", columns, rows))
    return found


def sizes_in_words(there: dict[str, str]) -> str:
    said = []
    for name, size in there.items():
        episodes, _, scenes = size.partition("@")
        said.append(f"{name} {episodes} episodes of each split" + (f", a world of {scenes} scenes" if scenes else ""))
    return "; ".join(said)


def every_row(kept: dict, there: dict[str, str]) -> Table:
    """All rows of Table 2, ours from the page of our networks, the oracles', and the learner's."""
    rows = [(f"paper, {modality}, {network}", row) for (modality, network), row in NETWORKS["mAP"].items()]
    told = [(name, *(row[split][0] if split in row else None for split in SPLITS)) for name, row in rows]
    told += our_networks(NETWORKS_PAGE.read_text(encoding="utf-8"))
    oracles = [kept.get(f"oracles/{split}/hard/{SIZES[0]}", {}) for split in SPLITS]
    told += [(f"{who} oracle", *(one[who]["mAP"] if one else None for one in oracles)) for who in ("strong", "weak")]
    for name, size in there.items():
        told.append((name, *(kept[f"{name}/{split}/hard/{size}"]["mAP"][0] for split in SPLITS)))
    columns = (Column("learner"), *(Column(split, "right", ".1f") for split in SPLITS), Column("mean", "right", ".1f"))
    means = [float(np.mean(row[1:])) if None not in row[1:] else None for row in told]
    note = (
        "mAP with hard negatives, percent. Our networks had 5,000 steps, one seed, scale paper: see curi-networks.md."
    )
    return Table("mAP of everyone", columns, tuple((*row, mean) for row, mean in zip(told, means)), note)


def our_networks(page: str) -> list[tuple]:
    """The rows of our networks, from the page of them."""
    found: dict[str, dict[str, float]] = {}
    start, end = page.index("**Table 2, mAP**"), page.index("**Table 2, accuracy**")
    for line in page[start:end].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in SPLITS:
            found.setdefault(cells[1], {})[cells[0]] = float(cells[4].split()[0])
    return [(f"ours, {name}", *(row.get(split) for split in SPLITS)) for name, row in found.items()]


def doubts(kept: dict) -> Table:
    """What every doubt gives on validation episodes."""
    names = {modality: f"doubt/{modality}" for modality in MODALITIES}
    there = {modality: kept[name] for modality, name in names.items() if name in kept}
    columns = (Column("doubt"), *(Column(modality, "right", ".1f") for modality in there))
    rows = tuple((f"{doubt:g}", *(one[str(doubt)] for one in there.values())) for doubt in DOUBTS)
    chosen = ", ".join(f"{modality} {best_doubt(one):g}" for modality, one in there.items())
    note = f"Mean mAP over the splits on {TRIED} validation episodes of each, grammar's weights. Chosen: {chosen}."
    return Table("How likely a label contradicts what was perceived", columns, rows, note)


def table(kept: dict, there: dict[str, str], metric: str, negatives: str) -> Table:
    """One row per split, and the mean."""
    best = {
        (modality, split): max(
            row[split][0] for (of, _), row in NETWORKS[metric].items() if of == modality and split in row
        )
        for modality in MODALITIES
        for split in SPLITS
        if metric in NETWORKS and negatives == "hard"
    }
    published = [f"paper, best network, {modality}" for modality in MODALITIES] if best else []
    oracles = ["strong", "weak"] if metric == "mAP" else []
    there = {name: size for name, size in there.items() if metric in kept[f"{name}/{SPLITS[0]}/{negatives}/{size}"]}
    columns = (Column("split"), *(Column(name, "right", ".1f") for name in (*there, *oracles, *published)))
    rows, sums = [], []
    for split in SPLITS:
        cells = [kept[f"{name}/{split}/{negatives}/{size}"][metric] for name, size in there.items()]
        ideal = kept.get(f"oracles/{split}/{negatives}/{SIZES[0]}", {})
        more = [ideal[who]["mAP"] if who in ideal else None for who in oracles]
        more += [best[modality, split] for modality in MODALITIES] if best else []
        rows.append((split, *(Interval(*cell) if isinstance(cell, list) else cell for cell in cells), *more))
        sums.append([cell[0] if isinstance(cell, list) else cell for cell in cells] + more)
    means = [float(np.mean(column)) if None not in column else None for column in zip(*sums)]
    note = {
        "mAP": "mAP on the large set, percent, with 95 % intervals over episodes.",
        "accuracy": "Class-balanced accuracy on the query, percent.",
        "named": "How often the concept that it names holds on exactly the scenes of the right one, percent.",
    }[metric]
    return Table(metric, columns, (*rows, ("mean", *means)), f"{note} Sizes: {sizes_in_words(there)}.")


if __name__ == "__main__":
    main()
