"""The learner of shortest definitions on ConceptWorld's four experiments, beside the paper's networks and ours.

    python experiments/concept_world_definitions.py --scale paper --out docs/results/concept-world-definitions.md

Our networks' scores are read from `docs/results/concept-world-networks.md`.
"""

import argparse
import time
from pathlib import Path

from recombine.benchmarks.concept_world.definition_learner import DefinitionLearner, atoms, written
from recombine.benchmarks.concept_world.published import F1, MODELS
from recombine.benchmarks.concept_world.study import ConceptWorld
from recombine.report.document import Chapter, write_document
from recombine.report.table import Column, Table
from recombine.solvers.sitting import sit, taught
from recombine.store.key import Key

NETWORKS = Path("docs/results/concept-world-networks.md")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--scale", default="paper")
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    study, rows, texts, lengths = ConceptWorld(given.scale), [], [], []
    ours = our_networks(NETWORKS.read_text(encoding="utf-8"))
    began = time.process_time()
    for experiment in study.experiments:
        exams = study.exams([experiment])
        learnt = taught(study.solvers_named("definition-learner")["definition-learner"], exams[0], Key(0))
        assert isinstance(learnt, DefinitionLearner)
        texts.append(f"**{experiment}**\n\n```\n{written(learnt)}```\n")
        lengths += [
            (experiment, name, sum(map(atoms, one.shortest)), len(one.disjuncts), sum(map(len, one.disjuncts)))
            for name, one in zip(learnt.classes, learnt.learnt)
        ]
        for exam in exams:
            test = exam.name.split("/")[1]
            scores = sit(learnt, exam).scores
            ideal = {who: sit(one, exam).scores["F1"].value for who, one in study.learners(exam).items()}
            worst = min(value.value for name, value in scores.items() if name.startswith("F1 "))
            published = F1[experiment, test]
            best = max(published, key=lambda model: sum(published[model]))
            mean = sum(published[best]) / len(published[best])
            mine = max(ours.get((experiment, test), {"": 0.0}).items(), key=lambda one: one[1])
            row = (exam.name, scores["F1"], worst, f"{best} {mean:.3f}", f"{mine[0]} {mine[1]:.3f}")
            rows.append((*row, ideal["strong"], ideal["weak"]))
            print(*rows[-1], flush=True)
    print(f"{time.process_time() - began:.0f} CPU seconds")
    if given.out:
        write_page(given.out, rows, texts, lengths, given.scale, time.process_time() - began)


def our_networks(page: str) -> dict[tuple[str, str], dict[str, float]]:
    """The mean F1 of our networks, by experiment and test, from the page of them."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    experiment, tests = "", [""]
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("**Table ") and "ConceptWorld, " in line:
            experiment = line.rpartition("ConceptWorld, ")[2].strip("*")
        elif cells[:2] == ["model", "concept"]:
            tests = cells
        elif len(cells) == len(tests) and cells[1:2] == ["mean"]:
            for test, cell in zip(tests, cells):
                if test not in ("model", "concept", "seeds") and "paper" not in test and "[" in cell:
                    found.setdefault((experiment, test), {})[cells[0]] = float(cell.split()[0])
    return found


def write_page(out: Path, rows: list, texts: list[str], lengths: list, scale: str, seconds: float) -> None:
    scores = Table(
        "Mean F1 over the classes",
        (
            Column("test"),
            Column("definition learner", "right", ".3f"),
            Column("its worst class", "right", ".3f"),
            Column("best network of the paper", "right"),
            Column("best network of ours", "right"),
            Column("strong oracle", "right", ".3f"),
            Column("weak oracle", "right", ".3f"),
        ),
        tuple(rows),
        f"F1 with 95 % intervals over images, scale {scale}. The paper's networks are {', '.join(MODELS)}; its "
        f"ResNet is pretrained. All of it took {seconds:.0f} seconds of CPU time.",
    )
    found = Table(
        "What was found",
        (
            Column("experiment"),
            Column("class"),
            Column("atoms of the shortest", "right"),
            Column("disjuncts", "right"),
            Column("definitions that fit", "right"),
        ),
        tuple(lengths),
        "Definitions that fit: of each disjunct, those at most four atoms longer than the shortest. A longer one "
        "weighs half as much with every atom.",
    )
    said = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    told = (
        "What it wrote down: the shortest definition of every class, in the language; `_1a` and such are its own names."
    )
    chapters = [Chapter("Scores", (scores, found)), Chapter("The shortest definitions", tuple(texts), told)]
    write_document(out, "ConceptWorld: searching for definitions", said, chapters)


if __name__ == "__main__":
    main()
