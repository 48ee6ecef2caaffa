"""How the gap grows with the divergence of compounds: splits made automatically at several bounds, one page.

    python experiments/divergence.py --out docs/results/divergence.md

Demo scale; the bound on the divergence of atoms is what one pays for more divergence of compounds.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from recombine import Clevr, Curi
from recombine.report.table import Column, Table

BOUNDS = (0.005, 0.02, 0.05, 0.1, 0.2)
HOWS = ("orthotopic", "pairwise")
COLUMNS = (
    Column("split"),
    Column("seed", "right"),
    Column("atoms", "right", ".3f"),
    Column("compounds", "right", ".3f"),
    Column("tested", "right", ".3f"),
    Column("leaks", "right"),
    Column("strong", "right"),
    Column("weak", "right"),
    Column("gap", "right"),
)


def rows_of(kind: type, seeds: int, **options: object) -> list[tuple]:
    found = []
    for seed in range(seeds):
        for how, bound in [*(("mcd", bound) for bound in BOUNDS), *((how, None) for how in HOWS)]:
            with tempfile.TemporaryDirectory() as place, kind(seed=seed, **options) as study:
                name = f"{how}-{bound:g}".replace(".", "_") if bound else how
                file = Path(place) / f"{name}.json"
                made = study.made_split(file, how=how, **({"atoms": bound} if bound else {}))
                gap = study.gap([str(file)]).of()[0].gap
                said = made.measured
                found.append(
                    (
                        f"mcd, atoms at most {bound:g}" if bound else how,
                        seed,
                        said["atom divergence"],
                        said["compound divergence"],
                        said["tested"],
                        said["leaks"],
                        gap.strong,
                        gap.weak,
                        gap.gap,
                    )
                )
                print(*found[-1], flush=True)
    return found


def correlation(rows: list[tuple]) -> str:
    mcd = [row for row in rows if row[0].startswith("mcd")]
    x, y = np.array([row[3] for row in mcd]), np.array([row[-1].value for row in mcd])
    slope = np.polyfit(x, y, 1)[0] / 10
    return (
        f"Over the {len(mcd)} mcd splits: correlation {np.corrcoef(x, y)[0, 1]:.2f}, {slope:.1f} points of gap per 0.1 of "
        "compound divergence."
    )


def page(tables: dict[str, list[tuple]], seeds: int) -> str:
    text = [
        "# How the gap grows with divergence",
        "",
        f"Splits made by `recombine split`, demo scale, {seeds} worlds; made again by `python experiments/divergence.py`.",
        "A compound is a pair of words that occur in one concept or question; divergences after Keysers et al. (2020),",
        "alpha 0.1 for compounds and 0.5 for atoms. The bound on atoms is what `mcd` is allowed; the paper's is 0.02.",
        "Concepts here have few words, so that at 0.02 compounds cannot diverge as far as in large corpora: what is",
        "reached is in the table. Intervals are over meanings (CURI) or questions (CLEVR) of one world.",
        "",
    ]
    for name, rows in tables.items():
        table = Table(name, COLUMNS, tuple(rows))
        text += [f"## {name}", "", correlation(rows), "", table.markdown(), ""]
    return "\n".join(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/results/divergence.md"))
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    tables = {
        "CLEVR, accuracy": rows_of(Clevr, asked.seeds),
        "CURI, mAP": rows_of(Curi, asked.seeds),
    }
    asked.out.write_text(page(tables, asked.seeds))
