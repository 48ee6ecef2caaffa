"""Learners that answer like models: by the prompt alone, in every form, and behind a server."""

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from recombine import Closure, Curi, SuperClevr, UserError
from recombine.benchmarks.closure.pipeline import ClosureScale
from recombine.benchmarks.rewards import verdict
from recombine.benchmarks.study import Study
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.harness import server
from recombine.harness.book import Book, pixels_of
from recombine.harness.server import app
from recombine.harness.versions import TRIED, need
from recombine.harness.wanted import sorted_options
from recombine.store.store import Store
from recombine.tasks.made_splits import MadeSplit
from recombine.tasks.prompts import chat, parts

SMALL = {
    "closure": ClosureScale("few", 100, 10, 40, 4, (36, 36, 36)),
    "super-clevr": SuperClevrScale("few", 100, 1, 40),
}


@pytest.fixture(scope="module")
def questions(own_home: Path) -> Book:
    study = Closure(ClosureScale("few", 40, 60, 20, 4, (36, 36, 36)), store=Store(own_home))
    return Book(study, study.asked_rows(["or_mat"], first=6, render="images", size="64x48"))


@pytest.mark.parametrize("form", ["all", "query", "sheet"])
def test_a_learner_is_asked_by_the_prompt_alone(tiny: Curi, form: str) -> None:
    book = Book(tiny, tiny.asked_rows(["boolean"], form=form, first=2, render="images", size="24x16"))
    strong = [verdict(row, book.reply("strong", [*parts(row)])).score for row in book]
    assert len(book) == (50 if form == "query" else 2) and sum(strong) / len(strong) > 0.9
    row = next(iter(book))
    cut = [piece for one in parts(row) for piece in (one.split("\n") if isinstance(one, str) else [one])]
    assert book.row(cut) is row
    other = [one + " Why?" if isinstance(one, str) else one for one in parts(row)]
    with pytest.raises(UserError, match="none of the"):
        book.reply("strong", other)


def test_words_and_sounds_are_prompts_too(tiny: Curi) -> None:
    for render in ("words", "sounds"):
        book = Book(tiny, tiny.asked_rows(["boolean"], first=2, render=render))
        assert all(verdict(row, book.reply("strong", [*parts(row)])).unreadable == 0 for row in book)


def test_a_harness_that_asks_in_its_own_way_is_understood(questions: Book) -> None:
    """Another encoding of the pictures, another sentence around the question, letters for the options."""
    for row in questions:
        small = io.BytesIO()
        Image.open(io.BytesIO(row.media[0])).resize((48, 36)).save(small, "JPEG", quality=60)
        assert questions.row([small.getvalue(), f"Question: {row.question}\nBe brief."]) is row
        few = [*{row.answers[0], "yes", "no"}]
        letters = "\n".join(f"{letter}. {option}" for letter, option in zip("ABC", few))
        said = questions.reply("strong", [small.getvalue(), f"Question: {row.question}\nOptions:\n{letters}\n"])
        assert few["ABC".index(said)] == row.answers[0]


@pytest.mark.parametrize("kind", [Closure, SuperClevr])
def test_rows_of_a_split_of_ones_own_are_answered_as_the_gap_marks_them(
    kind: type[Study], own_home: Path, tmp_path: Path
) -> None:
    pairs = (("filter[color,red]", "filter[size,large]"), ("filter[color,blue]", "filter[size,small]"))
    file = str(MadeSplit("mine", "own", kind.name, pairs).write(tmp_path / "mine.json"))
    assert sorted_options(kind.name, {"split": file})[1]["splits"] == [file]
    study = kind(SMALL[kind.name], store=Store(own_home))
    (exam,) = study.exams([file])
    book, marks = Book(study, study.asked_rows([file], first=8, render="images", size="24x16")), study.ideal(exam)
    for who in ("strong", "weak"):
        scores = [verdict(row, book.reply(who, [*parts(row)])).score for row in book]
        assert scores == pytest.approx([marks[who]["probability"][row.number] for row in book])


def test_the_server_answers_like_a_model_and_refuses_in_a_sentence(questions: Book) -> None:
    client = TestClient(app(questions, 8421), base_url="http://127.0.0.1:8421")
    row = next(iter(questions))
    asked: dict[str, Any] = {"model": "strong", "messages": chat(row)}
    whole = client.post("/v1/chat/completions", json=asked).json()["choices"][0]["message"]["content"]
    assert verdict(row, whole).score == 1.0
    lines = client.post("/v1/chat/completions", json={**asked, "stream": True}).text.strip().split("\n\n")
    assert lines[-1] == "data: [DONE]"
    assert json.loads(lines[0][6:])["choices"][0]["delta"]["content"] == whole
    assert {one["id"] for one in client.get("/v1/models").json()["data"]} == {"strong", "weak"}
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    odd = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(b"x").decode()}}
    for wrong in (
        b"{",
        b"[" * 100_000,
        {},
        {**asked, "model": "nobody"},
        {**asked, "messages": []},
        {**asked, "messages": [{"role": "user", "content": [picture]}]},
        {**asked, "messages": [{"role": "user", "content": [odd]}]},
        {**asked, "messages": "hello"},
    ):
        sent: dict[str, Any] = {"content": wrong} if isinstance(wrong, bytes) else {"json": wrong}
        answer = client.post("/v1/chat/completions", **sent)
        assert answer.status_code == 400 and answer.json()["error"]["message"]
    elsewhere = {"host": "elsewhere:8421"}, {"origin": ""}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}
    for headers in elsewhere:
        assert client.get("/v1/models", headers=headers).status_code == 403
    for path in ("/v1/models/", "/v1/%2e%2e/", "/docs"):  # nor is anybody sent elsewhere
        answer = client.get(path, headers={"host": "elsewhere:8421"}, follow_redirects=False)
        assert answer.status_code == 404 and answer.json()["error"]["message"]


def test_the_server_reads_no_more_than_a_request_may_have(questions: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LARGEST", 10_000)
    client, sent = TestClient(app(questions, 8421), base_url="http://127.0.0.1:8421"), list[int]()

    def body() -> Iterator[bytes]:
        for number in range(50):
            sent.append(number)
            yield b" " * 1_000

    assert client.post("/v1/chat/completions", content=body()).status_code == 413


def test_requests_share_what_the_server_may_take(questions: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "AT_ONCE", 5_000)
    room = server.Room()
    with pytest.raises(server.Refused, match="too much") as refused, room.for_one() as take, room.for_one() as other:
        take(3_000), other(3_000)
    assert refused.value.status == 503 and room.taken == 0
    client = TestClient(app(questions, 8421), base_url="http://127.0.0.1:8421")
    assert client.post("/v1/chat/completions", content=b" " * 6_000).status_code == 503
    assert client.post("/v1/chat/completions", content=b" " * 4_000).status_code == 400


def test_a_bug_of_ours_is_a_sentence(questions: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Book, "reply", lambda *_: {}["not for everyone"])
    client = TestClient(app(questions, 8421), base_url="http://127.0.0.1:8421")
    answer = client.post("/v1/chat/completions", json={"model": "strong", "messages": [{"content": "x"}]})
    assert answer.status_code == 500 and "KeyError" in answer.text and "not for" not in answer.text


def test_another_major_version_is_refused_in_one_sentence() -> None:
    for tool, tried in TRIED.items():
        assert need(tool, f"{tried}.17") == f"{tried}.17"
        with pytest.raises(UserError, match=f"made for {tool} {tried} and 99.0 is installed"):
            need(tool, "99.0")
    with pytest.raises(UserError, match="is not installed: pip install"):
        need("ms-swift")


def test_a_picture_that_is_gone_over_again_and_again_is_refused() -> None:
    """A hundred kilobytes of scans without news would take the server seconds, and a whole request an hour."""
    written = io.BytesIO()
    Image.new("L", (64, 64)).save(written, "JPEG", progressive=True)
    content = written.getvalue()
    scan, end = content[content.rindex(b"\xff\xda") : -2], content[-2:]
    assert pixels_of(content[:-2] + 10 * scan + end).shape == (64, 64, 3)
    with pytest.raises(UserError, match="is sent in more than 64 scans"):
        pixels_of(content[:-2] + 100 * scan + end)


def test_of_a_picture_only_its_colours_are_unpacked() -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (9, 7, 4), np.uint8)
    for mode, channels in (("RGBA", [0, 1, 2]), ("LA", [0, 0, 0])):
        written = io.BytesIO()
        Image.fromarray(pixels[..., : len(mode)], mode).save(written, "PNG")
        assert np.array_equal(pixels_of(written.getvalue()), pixels[..., channels])
