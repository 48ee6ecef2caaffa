"""CURI's gaps against what the papers' networks and ours lose on its splits."""

from collections.abc import Iterator
from pathlib import Path

from recombine.benchmarks.curi.published import SPLITS, losses
from recombine.benchmarks.prediction import Claim, records
from recombine.report.read_tables import tables_of, value_of

ABOUT = "A network's mAP on Instance IID minus its mAP on the split, in points; hard negatives."
BASE = "instance-iid"


def gaps(results: Path) -> dict[str, dict[str, float]]:
    """By edition and split, the gap by mAP with hard negatives."""
    found = {}
    for edition in ("release", "ideal", "paper"):
        rows = [one for one in records(results, f"curi-{edition}") if one["metric"] == "mAP"]
        found[f"gap, edition {edition}"] = {one["split"]: float(one["gap"]) for one in rows if one["split"] != BASE}
    return {name: values for name, values in found.items() if values}


def ours(results: Path) -> dict[str, dict[str, float]]:
    """What our own networks on schemas lose, as the page of networks says."""
    scores: dict[str, dict[str, float]] = {}
    for table in tables_of(results / "curi-networks.md"):
        if table.title != "Table 2, mAP":
            continue
        for row in table.rows:
            value = value_of(row["mAP"])
            plain = row["network"].startswith("schema ") and len(row["network"].split()) == 2
            if value is not None and plain and row["split"] in SPLITS:
                scores.setdefault(row["network"], {}).setdefault(row["split"], value.value)
    return {
        split: {who: row[BASE] - row[split] for who, row in scores.items() if BASE in row and split in row}
        for split in SPLITS
        if split != BASE and any(BASE in row and split in row for row in scores.values())
    }


def claims(results: Path) -> Iterator[Claim]:
    found = gaps(results)
    if not found:
        return
    for modality in ("schema", "image", "sound"):
        yield Claim("CURI", f"the papers' networks on {modality}", losses(modality), found, ABOUT)
    if lost := ours(results):
        yield Claim("CURI", "our networks", lost, found, ABOUT)
