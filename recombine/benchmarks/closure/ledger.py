"""The tables and figures of the CLOSURE paper."""

from recombine.benchmarks.closure.published import TABLE_1, TABLE_2, TABLE_3, TABLE_5
from recombine.benchmarks.ledger import Entry

CLOSURE = "CLOSURE"
PAGE = ("closure-networks.md",)
TRAINED = "These networks have no finished runs yet; `make table-closure` trains them, for many hours."
SHORT = "Our networks see drawn scenes or true objects and have far fewer steps than the paper's; the page says which."


def _size(table: dict[str, dict[str, object]] | dict[str, dict[str, tuple[float, float | None]]]) -> int:
    return sum(map(len, table.values()))


LEDGER: tuple[Entry, ...] = (
    Entry(CLOSURE, "Table 1", "zero-shot, seven models on seven tests", _size(TABLE_1), PAGE, ("Table 1",), explained=SHORT, missing=TRAINED),  # noqa: E501
    Entry(CLOSURE, "Table 2", "after 36 questions of each test", _size(TABLE_2), PAGE, ("Table 2",), explained=SHORT, missing=TRAINED),  # noqa: E501
    Entry(CLOSURE, "Table 3", "the nearest questions of CLEVR", _size(TABLE_3), PAGE, ("Table 3",), explained=SHORT, missing=TRAINED),  # noqa: E501
    Entry(CLOSURE, "Table 4", "MAC's original implementation", 7, missing="We have one implementation of MAC, that of Table 1; its seven values are repeated there."),  # noqa: E501
    Entry(CLOSURE, "Table 5", "CLEVR's validation questions", len(TABLE_5), PAGE, ("Table 5",), explained=SHORT, missing=TRAINED),  # noqa: E501
    Entry(CLOSURE, "Figure 3", "zero-shot accuracy, drawn", 98, PAGE, same_as="CLOSURE, Tables 1 and 3"),
    Entry(CLOSURE, "Figure 4", "few-shot accuracy, drawn", 35, PAGE, same_as="CLOSURE, Table 2"),
    Entry(CLOSURE, "Figure 7", "four module architectures on seven tests, drawn", 14, PAGE, missing="Two of the four are in Table 1; Shortcut and FiLM modules are drawn and not printed, and have no finished runs."),  # noqa: E501
)  # fmt: skip
"""Table 6 has settings, which `networks.py` holds; other figures have no numbers."""
