"""The tables and figures of the ConceptWorld paper."""

from recombine.benchmarks.concept_world.published import F1, FURTHER
from recombine.benchmarks.ledger import ALL, Entry

WORLD = "ConceptWorld"
PAGE = ("concept-world-networks.md",)
TEST = ("../../tests/benchmarks/concept_world/test_paper_counts.py",)
PRETRAINED = "The ResNet that begins from ImageNet's weights needs a file of weights; ours begins from scratch."
READINGS = (
    "The paper's data were not published, and its words allow several readings: with one odd square in a mixed row, "
    "and pentominoes in their type's colour, ours come near the paper's."
)
DRAWN = "A matrix that is drawn and not printed; the page has ours."


def _size(tables: dict[tuple[str, str], dict[str, tuple[float, ...]]], experiment: str) -> int:
    return sum(len(row) for (of, _), models in tables.items() if of == experiment for row in models.values())


def _scores(item: str, experiment: str, values: int, missing: str = "", unknown: tuple[str, ...] = ()) -> Entry:
    title = (f"{item}: ConceptWorld, {experiment}",)
    what = f"F1 of every class, {experiment}"
    return Entry(WORLD, item, what, values, PAGE, title, explained=READINGS, missing=missing, unknown=unknown)


LEDGER: tuple[Entry, ...] = (
    Entry(WORLD, "Table 3", "images of each class, sequences", 14, TEST, counted=(14, 14)),
    _scores("Table 4", "sequences", _size(F1, "sequences") + 9, PRETRAINED),
    Entry(WORLD, "Table 5", "images of each class, Box-World", 10, TEST, counted=(10, 10)),
    _scores("Table 6", "boxworld", _size(F1, "boxworld"), unknown=("PrediNet",)),
    Entry(WORLD, "Table 7", "images of each class, patterns", 8, TEST, counted=(8, 8)),
    _scores("Table 8", "patterns", _size(F1, "patterns"), unknown=(ALL,)),
    Entry(WORLD, "Table 9", "images of each class, substitution", 16, TEST, counted=(16, 16)),
    _scores("Table 10", "substitution", _size(F1, "substitution")),
    _scores("Table 11", "substitution-curriculum", _size(FURTHER, "substitution-curriculum")),
    Entry(WORLD, "Figure 2b", "F1 over all classes, sequences, drawn", 18, PAGE, same_as="ConceptWorld, Table 4"),
    Entry(WORLD, "Figure 3a", "F1 over all classes, Box-World, drawn", 10, PAGE, same_as="ConceptWorld, Table 6"),
    Entry(WORLD, "Figure 3b", "confusions of WReN, Box-World", 9, PAGE, missing=DRAWN),
    Entry(WORLD, "Figure 4b", "confusions of the MLP, patterns", 16, PAGE, missing=DRAWN),
    Entry(WORLD, "Figure 5b", "confusions of the ResNet, substitution", 25, PAGE, missing=DRAWN),
)
"""Tables 1 and 2 have definitions; other figures have no numbers."""
