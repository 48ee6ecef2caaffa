"""The tables and figures of the Super-CLEVR paper."""

from recombine.benchmarks.ledger import Entry
from recombine.benchmarks.super_clevr.published import MODELS, TABLE_2, TABLE_3, TESTED, TRAINED

SUPER = "Super-CLEVR"
PAGE = ("super-clevr-networks.md", "super-clevr.md")
SMALLER = "Our networks are smaller and shorter than the paper's; the page says how."
UNTRAINED = "Not all of these networks have been trained on all variants; the page says which."
TABLE_1 = len(MODELS) * sum(len(TESTED[factor]) * len(TRAINED[factor]) for factor in TESTED)

LEDGER: tuple[Entry, ...] = (
    Entry(SUPER, "Table 1", "five models, trained and tested on variants of four factors", TABLE_1, PAGE, ("Table 1",), explained=SMALLER, missing=UNTRAINED),  # noqa: E501
    Entry(SUPER, "Table 2", "relative degrade", sum(map(len, TABLE_2.values())), PAGE, ("Table 2",), explained="As for Table 1, which it is computed from.", missing=UNTRAINED + " That Table 2 follows from Table 1 is a test."),  # noqa: E501
    Entry(SUPER, "Table 3", "GQA with redundancy removed", sum(map(len, TABLE_3.values())), missing="GQA is another dataset, of photographs, which this project does not make."),  # noqa: E501
    Entry(SUPER, "Figure 3", "five models on Super-CLEVR and on CLEVR, drawn", 2 * len(MODELS), PAGE, ("Figure 3",), explained=SMALLER, missing=UNTRAINED),  # noqa: E501
    Entry(SUPER, "Figure 4", "types of questions, drawn", 0, PAGE, missing="The figure has no printed values."),
    Entry(SUPER, "Figures 6 and 7", "concept distributions of the variants, drawn", 0, PAGE, missing="The figures have no printed values."),  # noqa: E501
)  # fmt: skip
"""Table 4 lists the 21 models, which the package has; other figures have no numbers."""
