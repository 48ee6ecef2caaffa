"""The command line: every command has an example, machines get JSON, bad input gets one sentence and exit code 2."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recombine import benchmarks, cli
from recombine.benchmarks import laws
from recombine.benchmarks.closure.study import Closure
from recombine.benchmarks.curi import pipeline
from recombine.benchmarks.curi.pipeline import SCALES, Scale
from tests.commands import Run

COMMANDS = ("list", "show", "make", "gap", "report", "demo", "check", "bench", "train", "eval", "table")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, invoke: Run) -> Run:
    """Run a command in this process; `tiny` is a scale."""
    monkeypatch.setitem(SCALES, "tiny", Scale("tiny", 3_000, 100_000, 40, 10, 60))
    return invoke


TINY = ("--scale", "tiny", "--workers", "1", "--edition", "release")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    ran = run(command, "--help")
    assert ran.code == 0
    assert f"Example: recombine {command}" in " ".join(ran.out.split())


def test_the_example_is_about_the_benchmark_that_is_named(run: Run) -> None:
    for words, example in (("gap", "closure"), "gap closure"), (("show", "clevr"), "show clevr/one_hop --out"):
        assert f"Example: recombine {example}" in " ".join(run(*words, "--help").out.split())
    assert "curi" not in run("gap", "closure", "--help").out.partition("Example")[2]


@pytest.mark.parametrize(("verb", "flag"), [("show", ""), ("rows", "s"), ("serve", "s")])
def test_an_option_is_called_by_what_the_benchmark_counts(run: Run, verb: str, flag: str) -> None:
    for name, unit in ("curi", "episode"), ("closure", "question"), ("concept-world", "image"):
        said = run(verb, name, "--help").out
        assert f"--{unit}{flag}" in said and "…" not in said
        others = {"episode", "question", "image"} - {unit}
        assert not any(f"--{other}{flag} " in said or f"--{other}{flag}," in said for other in others)


@pytest.mark.parametrize("name", benchmarks.names())
def test_gap_offers_a_part_where_exams_have_parts(run: Run, name: str) -> None:
    assert ("--part" in run("gap", name, "--help").out) == (name not in ("curi", "concept-world"))


def test_list_names_every_benchmark(run: Run) -> None:
    listed = json.loads(run("list", "--json").out)
    assert [row["benchmark"] for row in listed] == [benchmarks.get(name).name for name in benchmarks.names()]


def test_list_of_a_benchmark_counts_the_sides(run: Run) -> None:
    rows = {row["split"]: row for row in json.loads(run("list", "curi", *TINY, "--json").out)}
    assert len(rows) == 9
    assert rows["instance-iid"]["train"] == rows["instance-iid"]["test"]
    assert rows["boolean"]["train"] + rows["boolean"]["test"] == rows["instance-iid"]["train"]


def test_gap_prints_the_same_numbers_for_people_and_machines(run: Run, tmp_path: Path) -> None:
    words = ("gap", "curi", "--split", "boolean", *TINY)
    record = json.loads(run(*words, "--json", "--out", str(tmp_path / "gap.json")).out)[0]
    assert record == json.loads((tmp_path / "gap.json").read_text())[0]
    assert record["metric"] == "mAP"
    assert record["units"] == 60
    assert record["gap"] == pytest.approx(record["strong"] - record["weak"])
    people = run(*words).out
    assert f"{record['strong']:.1f}" in people
    assert "reduced run" in " ".join(people.split())


def test_show_with_sound_writes_a_page_with_a_player_for_every_scene(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("show", "curi/counting", *TINY, "--sound")
    text = (tmp_path / "curi-counting-0.html").read_text()
    assert ran.code == 0 and "wrote curi-counting-0.html" in ran.err
    assert text.count("<audio") == text.count("data:image/png") == text.count('class="shot"') > 20


def test_show_prints_an_episode_and_writes_a_page(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "episode.html"
    ran = run("show", "curi/boolean", "--episode", "7", *TINY, "--out", str(page))
    view = json.loads(run("show", "curi/boolean", "--episode", "7", *TINY, "--json").out)
    assert ran.out == ""
    assert view["concept_postfix"] in run("show", "curi/boolean", "--episode", "7", *TINY).said
    assert view["concept_postfix"].replace(">", "&gt;") in page.read_text()
    assert len(view["support"]) == len(view["query"]) == 25


def test_report_is_one_self_contained_file(run: Run, tmp_path: Path) -> None:
    assert run("report", "curi", *TINY, "--out", str(tmp_path / "report.html")).code == 0
    text = (tmp_path / "report.html").read_text()
    assert [f.name for f in tmp_path.iterdir()] == ["report.html"]
    assert "src=" not in text and 'href="http' not in text
    for split in benchmarks.get("curi").language.splits.values():
        assert split.title in text


def test_report_as_markdown_has_its_figures_beside_it(run: Run, tmp_path: Path) -> None:
    assert run("report", "curi", *TINY, "--out", str(tmp_path / "curi.md")).code == 0
    text = (tmp_path / "curi.md").read_text()
    drawn = {f"curi/{file.name}" for file in (tmp_path / "curi").iterdir()}
    assert drawn and all(f"]({name})" in text for name in drawn)


def test_check_fails_when_a_law_is_broken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise laws.LawBroken("on purpose")

    monkeypatch.setitem(laws.LAWS, "nothing is ever broken", broken)
    ran = run("check", "curi", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)[-1]["verdict"] == "broken: on purpose"


def test_concepts_of_ones_own_need_not_fill_every_split(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("all(color?(S), blue)\nany(shape?(S), cube)\nall(color?(S), red)\n")
    rows = {
        row["split"]: row
        for row in json.loads(run("list", "curi", "--concepts", str(tmp_path / "mine.txt"), *TINY, "--json").out)
    }
    assert rows["binding-color"]["test"] == 0
    assert rows["instance-iid"]["test"] == 3


def test_a_split_of_ones_own_may_not_take_a_name(run: Run) -> None:
    ran = run("gap", "curi", "--hold-out", "boolean=green", *TINY)
    assert ran.code == 2
    assert "a split 'boolean' already" in ran.err


def test_check_holds(run: Run) -> None:
    ran = run("check", "curi", "--json")
    assert ran.code == 0
    assert {row["verdict"] for row in json.loads(ran.out)} == {"holds"}


BAD = {
    "unknown benchmark": (("gap", "cury"), "no benchmark 'cury'"),
    "unknown split": (("gap", "curi", "--split", "bolean", *TINY), "no split 'bolean'"),
    "no split": (("show", "curi"), "names no split"),
    "unknown scale": (("gap", "curi", "--scale", "huge"), "no scale 'huge'"),
    "unknown edition": (("gap", "curi", "--edition", "second"), "no edition 'second'"),
    "unknown negatives": (("gap", "curi", "--negatives", "medium", *TINY), "no 'medium' negatives"),
    "unknown part": (("show", "curi/boolean", "--part", "dev", *TINY), "no part 'dev'"),
    "unknown word": (("gap", "curi", "--hold-out", "mine=gren", *TINY), "'gren' is not a word"),
    "unfinished predicate": (("gap", "curi", "--hold-out", "mine=green &", *TINY), "expected a word"),
    "nameless split": (("gap", "curi", "--hold-out", "green", *TINY), "name=predicate"),
    "empty side": (("gap", "curi", "--hold-out", "mine=length>99", "--split", "mine", *TINY), "side is empty"),
    "no such episode": (("show", "curi/boolean", "--episode", "60", *TINY), "from 0 to 59"),
    "missing file": (("gap", "curi", "--concepts", "nowhere.txt"), "nowhere.txt"),
    "bad ending": (("report", "curi", "--out", "report.pdf", *TINY), ".html"),
    "unknown command": (("gaps",), "gaps"),
    "unknown option": (("gap", "curi", "--sed", "1"), "--sed"),
    "bad number": (("gap", "curi", "--seed", "one"), "--seed"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(run: Run, case: str) -> None:
    words, expected = BAD[case]
    ran = run(*words)
    assert ran.code == 2
    assert expected in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


ODD = {
    "deep infix": ("concepts", "not(" * 5_000, "longer than"),
    "deep JSON": ("concepts", "[" * 100_000, "nests deeper than"),
    "a long number": ("concepts", "[" + "9" * 5_000 + "]", "5,000 digits"),
    "deep parentheses": ("hold-out", "mine=" + "(" * 900 + "green", "nest too deeply"),
    "a long predicate": ("hold-out", "mine=" + "green & " * 900 + "x", "longer than"),
    "a long length": ("hold-out", "mine=length>" + "9" * 900, "is not a word"),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_texts_are_refused_in_one_sentence(run: Run, tmp_path: Path, case: str) -> None:
    option, text, expected = ODD[case]
    if option == "concepts":
        (tmp_path / "odd.txt").write_text(text)
        text = str(tmp_path / "odd.txt")
    ran = run("gap", "curi", f"--{option}", text, *TINY)
    assert ran.code == 2
    assert expected in ran.err


def test_more_episodes_than_the_disk_holds_are_refused(run: Run) -> None:
    run("list", "curi", *TINY)
    ran = run("gap", "curi", "--split", "boolean", "--episodes", "999999999999", *TINY)
    assert ran.code == 2
    assert "GB free" in ran.err


def test_a_path_that_cannot_be_written_is_refused_at_once(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    ran = run("gap", "curi", "--out", str(tmp_path / "folder.json"), *TINY)
    assert ran.code == 2
    assert "is a folder" in ran.err


def test_three_bad_lines_among_many_are_named(run: Run, tmp_path: Path) -> None:
    lines = ["S color? blue for-all= lambda S."] * 15_000
    lines[16], lines[7_000], lines[14_998] = "S colour? blue for-all= lambda S.", "x color? = lambda S. exists=", "blue"
    (tmp_path / "mine.txt").write_text("\n".join(lines))
    ran = run("gap", "curi", "--concepts", str(tmp_path / "mine.txt"), *TINY)
    assert ran.code == 2
    assert "3 of 15,000" in ran.err
    assert all(f"line {n}:" in ran.err for n in (17, 7_001, 14_999))


def test_a_store_of_a_newer_version_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "store.json").write_text('{"format": 99}')
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    ran = run("gap", "curi", *TINY)
    assert ran.code == 2
    assert "newer version" in ran.err


def test_a_damaged_file_is_named_and_rebuilt(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    words = ("gap", "curi", "--split", "boolean", *TINY, "--json")
    before = run(*words).out
    files = [
        next(tmp_path.glob(pattern))
        for pattern in ("scenes/*/*.parquet", "table/*/by_scene.npy", "answers/*/*.parquet")
    ]
    for file in files:
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 255
        file.write_bytes(content)
    again = run(*words)
    assert again.out == before
    for file in (files[0], files[2]):
        assert file.name in again.err
    assert run("check", "curi", "--store").code in (0, 1)


SCRIPT = """
import sys
from recombine import cli
from recombine.benchmarks.curi.pipeline import SCALES, Scale
if __name__ == "__main__":
    SCALES["slow"] = Scale("slow", 120_000, 20_000, 2_000, 100, 100)
    sys.argv = ["recombine", "make", "curi", "--scale", "slow", "--split", "counting", "--workers", "2", "--seed", "3"]
    cli.main()
"""


def shards(home: Path) -> set[Path]:
    return {f.relative_to(f.parents[1]) for f in home.glob("drafts/*/*.parquet")} | set(home.glob("*/*/recipe.json"))


def heed_interrupts() -> None:
    """Programs started in the background by some shells are deaf to Ctrl-C, and so are their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_run_resumes(tmp_path: Path, how: signal.Signals) -> None:
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    home = tmp_path / "home"
    command = [sys.executable, str(script)]
    started = subprocess.Popen(
        command,
        env={**os.environ, "RECOMBINE_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    deadline = time.monotonic() + 120
    while not list(home.glob("drafts/*/scenes-*.parquet")) and started.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(started.pid, how) if how is signal.SIGINT else started.send_signal(how)
    _, said = started.communicate(timeout=60)
    assert "Traceback" not in said
    if how is not signal.SIGKILL:
        assert started.returncode == 130
        assert "the same command goes on" in said
    assert not list(home.glob("episodes/*"))
    subprocess.run(command, env={**os.environ, "RECOMBINE_HOME": str(home)}, check=True, capture_output=True)
    assert len(list(home.glob("episodes/*/recipe.json"))) == 3
    assert not list(home.glob("drafts/*"))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError("Unable to allocate 8 GiB"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("CUDA out of memory"), True),
        (RuntimeError("a bug of ours"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_a_lack_of_memory_is_told_and_a_bug_is_not_hidden(error: Exception, told: bool) -> None:
    said = cli._in_words(error)
    assert ("not enough memory" in said) if said else not told


def test_the_end_of_a_file_is_no_interruption(invoke: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(self: Closure) -> None:
        raise EOFError("a surprise")

    monkeypatch.setattr(Closure, "list", ended)
    with pytest.raises(EOFError, match="a surprise"):
        invoke("list", "closure")


def test_the_shards_are_small_enough_to_resume() -> None:
    assert pipeline.SHARD <= 10_000 and pipeline.BLOCK <= 65_536
