"""Laws of pages and of the view of an episode."""

import re
from html import unescape
from html.parser import HTMLParser
from io import StringIO

from rich.console import Console

from recombine.benchmarks.curi.episode import EpisodeView, HypothesisView, SceneView, Totals, episode_terminal
from recombine.benchmarks.curi.episode_card import episode_card
from recombine.metrics.intervals import Interval
from recombine.render.schematic import draw, phrases
from recombine.report.figures import GapRow, gap_chart
from recombine.report.page import Section, chart, details, page, paragraph
from recombine.report.table import Column, Table

SCENE = [
    {"color": "red", "shape": "cube", "material": "metal", "size": "0.7", "pixel": (100, 110, 10.0), "rotation": 9}
]


def shown(scene: int, label: bool, strong: float | None = None, weak: float | None = None) -> SceneView:
    return SceneView(draw(SCENE), label, scene, strong, weak, phrases(SCENE))


VIEW = EpisodeView(
    split="Binding colour",
    number=17,
    negatives="hard",
    concept_postfix="8 x locationX? > lambda S. for-all=",
    concept_infix="for-all x in S >(8, locationX?(x))",
    concept_english='every object is left of "8" <&>',
    support=(shown(4101, True), shown(4102, False)),
    query=(shown(4103, True, 0.981, 0.124), shown(4104, False, 0.037, 0.666)),
    hypotheses=(
        HypothesisView("all(color?(S), purple)", "all objects are purple [sic]", -0.852, True),
        HypothesisView("for-all x in S =(purple, color?(x))", "", -1.95, False),
    ),
    rivals=("any(color?(S), <purple>)",),
    totals=Totals(hypotheses=1204, known_to_weak=311, rivals=1),
)
VALUES = ["Binding colour", "hard", VIEW.concept_postfix, VIEW.concept_infix, VIEW.concept_english]
VALUES += ["4101", "4102", "4103", "4104", "0.98", "0.12 ✗", "0.04", "0.67 ✗", "large red metal cube at (3,5)"]
VALUES += ["2 of 1,204 valid hypotheses, 311 known to the weak oracle", "-0.852", "42.7%", "-1.950", "14.2%"]
VALUES += [text for one in VIEW.hypotheses for text in (one.text, one.english)] + list(VIEW.rivals)


def whole_page(sections: int = 4) -> str:
    table = Table("Scores", (Column("split"), Column("mAP")), (("Counting", Interval(98.5, 97.9, 99.0)),))
    figure = gap_chart([GapRow("Counting", Interval(98.5, 97.9, 99.0), Interval(63.4, 62, 64.8), 96.7, 62.1)])
    body = episode_card(VIEW) + table.html() + chart(figure, "a <caption>") + details("more <b>", paragraph("<i>"))
    rest = [Section(f"Part {i}", "") for i in range(1, sections)]
    return page("A <title>", [Section("All & more", body, "an <intro>"), *rest], "sub & title")


class Balance(HTMLParser):
    """Checks that every element that opens is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass


def test_the_page_is_well_formed() -> None:
    parser = Balance()
    parser.feed(whole_page())
    assert parser.open == []


def test_every_value_of_an_episode_is_on_its_card() -> None:
    card = unescape(episode_card(VIEW))
    assert [value for value in VALUES if value not in card] == []


def test_every_value_of_an_episode_is_in_the_terminal() -> None:
    out = StringIO()
    Console(file=out, width=200).print(episode_terminal(VIEW))
    assert [value for value in VALUES if value not in out.getvalue()] == []


def test_the_page_needs_nothing_from_elsewhere() -> None:
    html = whole_page().replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert "http" not in html
    assert not re.search(r"<(script|link|img|iframe)|@import|url\((?!#)", html)


def test_text_is_escaped() -> None:
    html = whole_page()
    for text in ("<title>", "<caption>", "<i>", "<intro>", "<purple>", "<&>"):
        assert text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") in html
    assert "<caption>" not in html
    assert "<purple>" not in html


def test_ids_are_unique_though_the_same_scene_comes_again() -> None:
    html = whole_page()
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(ids)
    assert {link for link in re.findall(r'href="#([^"]+)"', html)} <= set(ids)


def test_labels_are_seen_without_colour() -> None:
    card = episode_card(VIEW)
    assert card.count('<span class="mark">+</span>') == 2
    assert card.count('<span class="mark">−</span>') == 2


def test_long_pages_have_contents() -> None:
    assert "<nav" not in whole_page(sections=2)
    assert whole_page(sections=3).count('href="#section-') == 3
