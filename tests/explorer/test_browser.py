"""Every room in a real browser, on a desk and on a phone, in light and in dark."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from recombine import Closure, Column, Curi, Table
from recombine.benchmarks.clevr.question_page import question_story
from recombine.benchmarks.curi.episode_card import episode_story, sound_card
from recombine.report.page import Section, chart, page
from tests.explorer.conftest import Server

sync_api = pytest.importorskip("playwright.sync_api", reason="browser tests need: pip install playwright")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
LOOKS = [(1280, 900, "light"), (1280, 900, "dark"), (390, 844, "light"), (390, 844, "dark")]


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium here: `make browser` installs it (apt-get install chromium), or set CHROMIUM=/path")
    with sync_api.sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio"]
        running = playwright.chromium.launch(executable_path=found, args=flags)
        yield running
        running.close()


class Visit:
    """A page, and everything that it complained about."""

    def __init__(self, page: object, server: Server) -> None:
        self.page, self.server, self.wrong = page, server, []
        page.set_default_timeout(15_000)
        page.on("console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", lambda asked: self.wrong.append(asked.url) if not self._own(asked.url) else None)

    def _own(self, url: str) -> bool:
        return url.startswith((self.server.address, "data:", "blob:"))

    def open(self, place: str) -> "Visit":
        self.page.goto("about:blank")
        self.page.goto(self.server.address + place)
        return self.settled()

    def settled(self) -> "Visit":
        self.page.wait_for_selector("main:not([aria-busy]) h1")
        return self

    def fine(self) -> None:
        """Nothing went wrong, nothing sticks out, everything has a name."""
        assert self.wrong == []
        size = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        wide, room = self.page.evaluate(size)
        assert wide <= room, f"the page is {wide} wide on {room}: {self.page.url}"
        assert self.page.evaluate(UNNAMED) == []
        assert self.page.evaluate(STICKS_OUT) == []
        assert self.page.evaluate(PALE) == []


UNNAMED = """() => [...document.querySelectorAll('img:not([alt]), button, select, input, textarea, a')].filter(one =>
  one.tagName === 'IMG' ? !one.alt : !(one.textContent.trim() || one.getAttribute('aria-label')
  || (one.labels && one.labels.length))).map(one => one.outerHTML.slice(0, 120))"""
STICKS_OUT = """() => [...document.querySelectorAll('main *')].filter(one => !one.closest('.scroll, svg, pre, select')
  && !['INPUT', 'TEXTAREA', 'AUDIO', 'METER'].includes(one.tagName) && one.clientWidth
  && getComputedStyle(one).display !== 'inline' && one.scrollWidth > one.clientWidth + 1)
  .map(one => `${one.tagName}.${one.className}: ${one.scrollWidth} > ${one.clientWidth}`)"""
PALE = """() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const linear = (part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  const light = (color) => parts(color).slice(0, 3).map((part) => linear(part / 255))
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (one) => { for (; one; one = one.parentElement) {
    const color = getComputedStyle(one).backgroundColor;
    if ((parts(color)[3] ?? 1) > 0.99) return color;
  } return 'rgb(255, 255, 255)'; };
  const found = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement, said = texts.currentNode.data.trim();
    if (!said || one.closest('svg, noscript, :disabled') || !one.getClientRects().length) continue;
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.add(`${contrast.toFixed(1)}: ${said.slice(0, 40)}`);
  }
  return [...found]; }"""


@pytest.fixture(params=LOOKS, ids=lambda look: f"{look[0]}-{look[2]}")
def visit(request: pytest.FixtureRequest, browser, server: Server) -> Iterator[Visit]:
    width, height, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    yield Visit(context.new_page(), server)
    context.close()


@pytest.fixture
def desk(browser, server: Server) -> Iterator[Visit]:
    context = browser.new_context(accept_downloads=True)
    yield Visit(context.new_page(), server)
    context.close()


def test_every_room(visit: Visit, server: Server) -> None:
    """One walk through all rooms."""
    page = visit.page
    visit.open("")
    assert page.locator("nav a[aria-current]").inner_text() == "Play"
    # Play: answer, and see how it went.
    page.locator("form fieldset input").first.wait_for()
    for place in range(0, 25, 5):
        page.locator("form fieldset").nth(place).locator("input").first.check()
    page.click("text=Show the answers")
    page.wait_for_selector("#after .hypotheses li.true")
    page.wait_for_selector(".thinks td.num")
    assert page.locator("form .belief.enumeration").count() == 25
    starts = (
        "[...document.querySelector('.beliefs').querySelectorAll('meter')].map(one => one.getBoundingClientRect().left)"
    )
    assert len(page.evaluate(starts)) == 3 and len(set(page.evaluate(starts))) == 1  # so that bars can be compared
    assert "you" in page.locator("#after table").inner_text()
    visit.fine()
    for name, split in (("concept-world", "sequences"), ("closure", "or_mat")):
        visit.open(f"#play?benchmark={name}&split={split}")
        page.locator("form fieldset input").first.check()
        page.click("text=Show the answers")
        page.wait_for_selector("#after table")
        visit.fine()
    # Write.
    page.click("nav >> text=Write")
    page.wait_for_selector("#text")
    page.fill("#text", "all objects are red")
    page.wait_for_selector("section[data-group=holds] img")
    page.fill("#text", "all objects are rde")
    assert page.locator(".error mark").inner_text() == "rde"
    page.click("text=Write “red”")
    page.wait_for_selector("section[data-group=holds] img")
    assert page.input_value("#text") == "all objects are red"
    visit.fine()
    visit.open("#write?benchmark=concept-world&text=f_pent")
    page.wait_for_selector("section[data-group=drawn] img")
    page.fill("#text", "\n".join(["# a line"] * 6))
    assert page.evaluate("(area => area.clientHeight >= area.scrollHeight)(document.querySelector('#text'))")
    visit.open("#write?benchmark=closure&text=Are there any red cubes?")
    page.wait_for_selector("section[data-group=no] img")
    assert page.input_value("#text") == "Are there any red cubes?"
    visit.fine()
    # Browse.
    page.click("nav >> text=Browse")
    visit.settled()
    visit.open("#browse?benchmark=curi&view=splits")
    assert "leaking" in page.locator("table").first.inner_text()
    visit.fine()
    assert page.locator(".tabs >> text=Factors").count() == 0
    visit.open("#browse?benchmark=curi&view=factors").fine()
    visit.open("#browse?benchmark=concept-world&view=scenes&text=red_seq")
    assert "holds:" in page.locator(".chips button[aria-pressed=true]").inner_text()
    visit.fine()
    visit.open("#browse?benchmark=curi&view=scenes")
    page.fill("#filter", "all objects are blue")
    page.click("text=Filter")
    page.wait_for_selector(".chips button[aria-pressed=true]")
    page.locator(".shots a").first.click()
    page.wait_for_selector(".stage svg path")
    page.locator(".objects li").first.hover()
    assert page.locator(".stage path.lit").count() == 1
    assert page.locator("audio").count() == 1
    page.click("text=As JSON")
    assert json.loads(page.locator("pre.json").inner_text())
    visit.fine()
    # Compare.
    visit.open("#compare?benchmark=closure&split=or_mat")
    page.wait_for_selector("text=Play this round")
    assert "alone is right about" in page.locator("main").inner_text()
    visit.fine()


def test_a_picture_has_its_place_before_it_is_drawn(desk: Visit) -> None:
    desk.page.route("**/large/**", lambda route: None)
    page = desk.open("#browse?benchmark=closure&view=scenes&scene=1").page
    page.wait_for_selector(".stage svg path", state="attached")
    ratio = "(box => box.width / box.height)(document.querySelector('.stage img').getBoundingClientRect())"
    width, height = map(int, page.locator(".stage svg").get_attribute("viewBox").split()[2:])
    assert page.evaluate(ratio) == pytest.approx(width / height, abs=0.02)
    desk.page.unroute("**/large/**")


def test_the_keyboard_is_enough(desk: Visit) -> None:
    page = desk.open("#play?benchmark=curi&split=counting&number=1").page
    page.locator("form fieldset input").first.focus()
    for _ in range(25):
        page.keyboard.press("1")
    assert page.locator("form input:checked").count() == 25
    page.keyboard.press("Enter")
    page.wait_for_selector("#after h2")
    assert page.evaluate("document.activeElement.tagName") == "H2"
    desk.fine()


def test_a_link_reopens_the_same_state(desk: Visit) -> None:
    page = desk.open("#play?benchmark=curi&split=counting&number=2&see=sounds").page
    title = page.locator("h1").inner_text()
    assert title == "Counting, 2" and page.locator("form button.sound").count() == 25
    page.click("text=How to listen")
    assert "instrument: gray trumpet" in page.locator("details.listening").inner_text()
    desk.open("#" + page.url.partition("#")[2])
    assert page.locator("h1").inner_text() == title
    desk.open("#write?benchmark=curi")
    page.fill("#text", "some object is cyan")
    page.wait_for_url(re.compile("cyan"))
    desk.open("#" + page.url.partition("#")[2])
    assert page.input_value("#text") == "some object is cyan"
    desk.fine()


def test_scores_are_kept_and_saved(desk: Visit) -> None:
    page = desk.open("#play?benchmark=closure&split=or_mat&number=0").page
    page.locator("form fieldset input").first.check()
    page.click("text=Show the answers")
    page.wait_for_selector("text=1 round,")
    page.reload()
    page.wait_for_selector("text=1 round,")
    with page.expect_download() as saved:
        page.click("text=Save as JSONL")
    (row,) = [json.loads(line) for line in Path(saved.value.path()).read_text("utf-8").splitlines()]
    assert row["benchmark"] == "closure" and row["of"] == len(row["answers"]) == len(row["said"])
    page.click("text=Forget them")
    page.wait_for_selector("text=Nothing yet")
    desk.fine()


def test_what_was_written_can_be_saved(desk: Visit) -> None:
    page = desk.open("#write?benchmark=curi&text=all objects are blue").page
    with page.expect_download() as saved:
        page.click("text=Save mine.txt")
    assert Path(saved.value.path()).read_text("utf-8") == "all(color?(S), blue)\n"
    desk.fine()


def test_markup_that_is_typed_stays_text(desk: Visit) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    page = desk.open("#write?benchmark=curi").page
    page.fill("#text", evil)
    page.wait_for_selector(".error")
    assert page.locator("main script, main img[src=x]").count() == 0
    assert "<img src=x" in page.locator(".error").inner_text()
    desk.open("#play?benchmark=%3Cscript%3E&split=%3Cb%3E&number=zzz").fine()


def test_runs_are_drawn(desk: Visit) -> None:
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    page = desk.open("#compare?benchmark=concept-world&split=sequences").page
    page.wait_for_selector("figure.card table")
    assert re.search("MLP", page.locator("main").inner_text())
    desk.fine()


def test_what_fails_is_said(desk: Visit) -> None:
    page = desk.open("#play?benchmark=curi&split=counting&number=99999").page
    assert "there is no round 99999" in page.locator(".error").inner_text()
    desk.open("#browse?benchmark=curi&view=scenes&scene=99999999")
    assert "there is no scene" in page.locator(".error").inner_text()


def pages_of(tiny: Curi, closure: Closure) -> dict[str, str]:
    """Pages of every kind: an episode, a question, tables with many columns, a chart, folded parts."""
    episode = tiny.show("boolean", 3, pictures=True, sounds=1)
    question = closure.show("or_mat", 1, pictures=True)
    wide = Table("Wide", tuple(Column(f"column {i}", "right") for i in range(30)), (tuple(range(30)),), "A `note`.")
    gaps = closure.gap(["or_mat"])
    tables = "".join(table.html() for table in (wide, *gaps.tables()))
    story = [
        Section("An episode", episode_story(episode)),
        Section("A sound", sound_card(episode)),
        Section("A question", question_story(question)),
        Section("Tables", tables + chart(gaps.chart(), "A chart.")),
        Section("More", wide.html(), folded=True),
    ]
    return {
        "episode": episode.html(),
        "question": question.html(),
        "story": page("A story", story, "With `code`.", compact=True),
    }


WIDTHS = """[...document.querySelectorAll('main > section > .figure, main > section > .table')].map(
  one => Math.round(one.getBoundingClientRect().width))"""
SCROLLS = "(box => box.scrollWidth > box.clientWidth)(document.querySelector('.table .scroll'))"


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit(browser, tiny: Curi, server: Server, tmp_path: Path, width: int) -> None:
    """Nothing sticks out of a page, figures take the room there is, wide tables scroll in their boxes."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme="dark")
    shown = context.new_page()
    for name, text in pages_of(tiny, server.rooms.studies["closure"]).items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        shown.goto((tmp_path / f"{name}.html").as_uri())
        wide, room = shown.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide <= room, name
        assert "`" not in shown.locator("body").inner_text()
    cards = shown.evaluate(WIDTHS)
    assert len(cards) >= 3 and len(set(cards)) == 1
    drawn = shown.evaluate("document.querySelector('.chart').getBoundingClientRect().width")
    assert 0.7 * min(width, 736) < drawn <= width
    assert shown.evaluate(SCROLLS)
    program = shown.evaluate("document.querySelector('.question .scroll').getBoundingClientRect().left")
    assert (program > width / 3) == (width > 600)  # beside what the weak learner takes the question for, or below it
    assert shown.locator("details.folded").count() == 1 and shown.locator("nav a").count() == 4
    context.close()
