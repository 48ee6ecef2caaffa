"""The tables and figures of the Super-CLEVR paper."""

from recombine.benchmarks.ledger import Entry
from recombine.benchmarks.super_clevr.published import MODELS, TABLE_3, TESTED, TRAINED

SUPER = "Super-CLEVR"
PAGE = ("super-clevr-networks.md", "super-clevr.md")
SYMBOLIC = ("super-clevr-models.md",)
NSVQA = ("NSVQA", "P-NSVQA, appendix E")
SMALLER = "Our networks are smaller and shorter than the paper's; the page says how."
UNTRAINED = "Not all of these networks have been trained on all variants; the page says which."
SHORTER = "Our parsers saw fewer and smaller pictures of other vehicles; the page says how many."
NETWORKS = len(MODELS) - len(NSVQA)
CELLS = sum(len(TESTED[factor]) * len(TRAINED[factor]) for factor in TESTED)

LEDGER: tuple[Entry, ...] = (
    Entry(SUPER, "Table 1, networks", "three networks, trained and tested on variants of four factors", NETWORKS * CELLS, PAGE, ("Table 1",), explained=SMALLER, missing=UNTRAINED),  # noqa: E501
    Entry(SUPER, "Table 1, symbolic models", "NSVQA and P-NSVQA on the same", len(NSVQA) * CELLS, SYMBOLIC, ("Table 1",), columns=NSVQA, explained=SHORTER),  # noqa: E501
    Entry(SUPER, "Table 2, networks", "relative degrade", NETWORKS * len(TESTED), PAGE, ("Table 2",), explained="As for Table 1, which it is computed from.", missing=UNTRAINED + " That Table 2 follows from Table 1 is a test."),  # noqa: E501
    Entry(SUPER, "Table 2, symbolic models", "relative degrade", len(NSVQA) * len(TESTED), SYMBOLIC, ("Table 2",), rows=NSVQA, explained="As for Table 1, which it is computed from."),  # noqa: E501
    Entry(SUPER, "Table 3", "GQA with redundancy removed", sum(map(len, TABLE_3.values())), missing="GQA is another dataset, of photographs, which this project does not make."),  # noqa: E501
    Entry(SUPER, "Figure 3, networks", "three networks on Super-CLEVR and on CLEVR, drawn", 2 * NETWORKS, PAGE, ("Figure 3",), explained=SMALLER, missing=UNTRAINED),  # noqa: E501
    Entry(SUPER, "Figure 3, symbolic models", "NSVQA and P-NSVQA on the same", 2 * len(NSVQA), SYMBOLIC, ("Trained and tested on default",), rows=NSVQA, explained=SHORTER, missing="On CLEVR, NSVQA from pixels is in [parsers.md](parsers.md)."),  # noqa: E501
    Entry(SUPER, "Figure 4", "types of questions, drawn", 0, PAGE, missing="The figure has no printed values."),
    Entry(SUPER, "Figures 6 and 7", "concept distributions of the variants, drawn", 0, PAGE, missing="The figures have no printed values."),  # noqa: E501
)  # fmt: skip
"""Table 4 lists the 21 models, which the package has; other figures have no numbers."""
