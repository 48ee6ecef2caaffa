"""The numbers of images in Tables 3, 5, 7 and 9 of the paper."""

import pytest

from recombine.benchmarks.concept_world.drawing import library_of
from recombine.benchmarks.concept_world.ledger import LEDGER

TABLES = {
    "Table 3": (
        "sequences",
        {
            "train": {"red": (800, 800), "blue": (800, 800), "mixed": (1600,)},
            "length_3": {"red": (600,), "blue": (600,), "mixed": (600,)},
            "length_5": {"red": (600,), "blue": (600,), "mixed": (600,)},
            "length_7": {"red": (500,), "blue": (500,), "mixed": (500,)},
        },
    ),
    "Table 5": (
        "boxworld",
        {
            "train": {"solution": (500, 500), "distractor": (500, 500), "square": (1000,)},
            "length_3": {"solution": (500,), "distractor": (500,), "square": (500,)},
            "length_5": {"solution": (500,), "distractor": (500,)},
        },
    ),
    "Table 7": (
        "patterns",
        {
            "train": {"blue": (700,), "red": (700,), "stripes": (800,), "checkerboard": (800,)},
            "squares_4x4": {"blue": (350,), "red": (350,), "stripes": (350,), "checkerboard": (350,)},
        },
    ),
    "Table 9": (
        "substitution",
        {
            "train": {"type_1": (400, 400), "type_2": (400, 400), "seq_1": (800,), "seq_2": (800,), "mixed": (800,)},
            "one_substitution": {
                "type_1": (200, 200),
                "type_2": (200, 200),
                "seq_1": (400,),
                "seq_2": (400,),
                "mixed": (400,),
            },
            "two_substitutions": {"seq_1": (400,), "seq_2": (400,)},
        },
    ),
}


@pytest.mark.parametrize("table", TABLES)
def test_the_experiments_have_as_many_images_as_the_paper_prints(table: str) -> None:
    experiment, printed = TABLES[table]
    found = library_of(None).experiments[experiment]
    parts = {"train": found.train, **found.tests}
    for part, classes in printed.items():
        names = dict.fromkeys(line.label for line in parts[part])
        ours = [tuple(line.count for line in parts[part] if line.label == name) for name in names]
        assert [sum(counts) for counts in ours][: len(classes)] == [sum(counts) for counts in classes.values()], part


@pytest.mark.parametrize("table", TABLES)
def test_the_ledger_counts_them(table: str) -> None:
    (entry,) = (one for one in LEDGER if one.item == table)
    printed = sum(len(counts) for classes in TABLES[table][1].values() for counts in classes.values())
    assert entry.counted == (entry.values, entry.values) == (printed, printed)
