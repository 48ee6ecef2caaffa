"""The tables and figures of the two CURI papers."""

from recombine.benchmarks.curi.published import EASY, FIGURE, NETWORKS, POSTERIORS
from recombine.benchmarks.ledger import Entry

ICML, ICLR = "CURI (ICML)", "CURI (ICLR manuscript with appendix)"
PAGE = ("curi-networks.md",)
SHORT = (
    "Our networks have 5,000 steps and one seed, the papers' a million and three: all but Binding (color) are still "
    "below. The page has their learning curves."
)
UNTRAINED = (
    "The other networks were not trained: a run of the papers' length takes days on two cores, and images and sounds a "
    "GPU; `recombine train curi` trains every one of them."
)
UNDRAWN = "The figure has no printed values; ours is drawn the same way."
CURVES = "A sweep of trainings that is drawn and not printed; none of its runs was repeated."


def _values(metric: str) -> int:
    return sum(map(len, NETWORKS[metric].values()))


def _figure(metric: str) -> int:
    return 2 * len(FIGURE[metric])


def _table(number: int, name: str) -> Entry:
    return Entry(ICLR, f"Table {number}", f"networks on {name}, hard", 11, PAGE, same_as=f"{ICML}, Table 2, mAP")


HARD = (
    *("Binding (color)", "Boolean", "Intrinsic", "Concept IID", "Instance IID", "Extrinsic", "Complexity"),
    *("Binding (shape)", "Counting"),
)
EASY_TABLES = (
    *("Binding (color)", "Boolean", "Counting", "Extrinsic", "Intrinsic", "Concept IID", "Instance IID", "Complexity"),
    "Binding (shape)",
)
EASY_PRINTED = 6
"""Networks in each table with easy negatives."""

LEDGER: tuple[Entry, ...] = (
    Entry(ICML, "Table 2, mAP", "11 networks on nine splits, and overall", _values("mAP") + 11, PAGE, ("Table 2, mAP",), ("mAP",), explained=SHORT, missing=UNTRAINED),  # noqa: E501
    Entry(ICML, "Table 2, accuracy", "10 networks on nine splits, and overall", _values("accuracy") + 10, PAGE, ("Table 2, accuracy",), ("accuracy",), explained=SHORT, missing=UNTRAINED),  # noqa: E501
    Entry(ICML, "Figure 3, mAP", "both oracles, read off the figure within 2 points", _figure("mAP"), ("curi.md",), ("CURI: the compositionality gap by mAP",), ("strong", "weak"), tolerance=2.0, explained="Other scenes and concepts than the released ones; the split of Concept IID is random. An independent computation with the published concepts is as far from the figure."),  # noqa: E501
    Entry(ICML, "Figure 3, accuracy", "both oracles, read off the figure within a point", _figure("accuracy"), ("curi.md",), ("CURI: the compositionality gap by accuracy",), ("strong", "weak"), tolerance=1.0, explained="The figure's values were rescaled by 0.973 when they were read, so that the printed gaps come out: about half of the 2 points that ours are above."),  # noqa: E501
    Entry(ICML, "Figure 3, networks", "relation networks on three modalities, two metrics", 54, PAGE, same_as=f"{ICML}, Table 2"),  # noqa: E501
    Entry(ICML, "Figure 4", "the strong oracle's entropy on nine splits", 9, ("curi.md",), missing=UNDRAWN),
    Entry(ICML, "text, 5.2", "what writing the concept brings on average", 1, PAGE, missing="The papers' 2.8 ± 0.6 is a mean over all splits and networks; we have one network on one split (Counting), where appendix G.5 finds no gain either."),  # noqa: E501
    Entry(ICLR, "Figure 5", "the compositionality gap", 90, ("curi.md",), same_as=f"{ICML}, Figure 3"),
    Entry(ICLR, "Figures 6 to 11", "log-posteriors of hypotheses", sum(map(len, POSTERIORS.values())), ("../../tests/benchmarks/curi/test_printed_posteriors.py",), counted=(23, 23)),  # noqa: E501
    Entry(ICLR, "Figure 12", "how often each property occurs", 0, ("curi.md",), missing=UNDRAWN),
    Entry(ICLR, "Figures 14 to 18", "learning curves of relation networks and concat", 0, PAGE, missing=CURVES),
    Entry(ICLR, "Figure 19, mAP and accuracy", "both oracles with easy negatives", 36, ("curi.md",), missing=UNDRAWN),
    Entry(ICLR, "text, G.4", "how much smaller gaps are with easy negatives", 1, ("curi.md",), sentence=r"mAP gap is (\d+\.\d+) ± (\d+\.\d+) points smaller.*the papers: (\d+\.?\d*) ± (\d+\.?\d*)"),  # noqa: E501
    Entry(ICLR, "text, G.6", "gaps of Counting and Binding (color), two metrics", 4, ("curi.md",), ("CURI: the compositionality gap",), ("gap",), rows=("Counting", "Binding (color)"), explained="Counting and Binding (color) have other concepts than the released ones."),  # noqa: E501
    *(_table(number, name) for number, name in enumerate(HARD, 1)),
    *(
        Entry(ICLR, f"Table {number}", f"networks on {name}, easy", EASY_PRINTED, PAGE, missing="No network was trained with easy negatives; `recombine train curi --negatives easy` puts the printed values beside it.")  # noqa: E501
        for number, name in enumerate(EASY_TABLES, 10)
    ),
)  # fmt: skip
"""All but the tables without numbers (Table 1 of the first)."""

assert sum(map(len, EASY["mAP"].values())) == EASY_PRINTED * 7  # Tables 12 and 18 cannot be read with certainty
