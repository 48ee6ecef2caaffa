"""An episode as a card of a page: what was shown, what was asked, what the oracles answer."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from recombine.benchmarks.curi.episode import (
    EpisodeView,
    HypothesisView,
    SceneView,
    hypotheses_title,
    rivals_title,
    wrong,
)
from recombine.render.schematic import words
from recombine.report.page import details


def episode_card(view: EpisodeView) -> str:
    """One episode as in the papers' Figures 6 to 11, with what the oracles answer."""
    parts = [_concept(view), _scenes(view, "Support", view.support), _scenes(view, "Query", view.query)]
    parts += [_hypotheses(view), _rivals(view) if view.rivals else ""]
    return f'<article class="episode">{"".join(parts)}</article>'


def _concept(view: EpisodeView) -> str:
    tags = "".join(
        words("span", text, class_="tag")
        for text in (view.split, f"episode {view.number}", f"{view.negatives} negatives")
    )
    rows = (("infix", view.concept_infix), ("postfix", view.concept_postfix))
    forms = "".join(f"<dt>{name}</dt><dd><code>{escape(text)}</code></dd>" for name, text in rows)
    return f'<div class="tags">{tags}</div><h3>{escape(view.concept_english)}</h3><dl class="forms">{forms}</dl>'


def _scenes(view: EpisodeView, title: str, scenes: Sequence[SceneView]) -> str:
    groups = (
        _grid(view, f"{title.lower()}-{mark}", [scene for scene in scenes if scene.label == label])
        for label, mark in ((True, "yes"), (False, "no"))
    )
    return f"<h4>{title}</h4>{''.join(groups)}"


def _grid(view: EpisodeView, group: str, scenes: Sequence[SceneView]) -> str:
    if not scenes:
        return ""
    kind = "positive" if scenes[0].label else "negative"
    scope = _identifier(view.split, view.number, view.negatives, group)
    shots = "".join(_shot(scene, f"{scope}-{i}") for i, scene in enumerate(scenes))
    return f'<p class="group {kind}">{scenes[0].mark} {len(scenes)} {kind}</p><div class="shots {kind}">{shots}</div>'


def _shot(scene: SceneView, scope: str) -> str:
    """A scene in its coloured frame; the sign says the same as the colour."""
    said = "".join(_belief(scene, name, p) for name, p in (("strong", scene.strong), ("weak", scene.weak)))
    frame = f'<div class="frame">{scoped(scene.drawing, scope)}<span class="mark">{scene.mark}</span></div>'
    about = escape("; ".join(scene.words))
    player = ""
    if scene.sound:
        player = f'<audio controls preload="none" title="{escape(scene.plays)}" src="{scene.sound}"></audio>'
    caption = f"<figcaption>scene {scene.scene}</figcaption>"
    return f'<figure class="shot" title="{about}">{frame}{player}{caption}{said}</figure>'


def scoped(svg: str, scope: str) -> str:
    """The same drawing with ids that no other drawing on the page has.

    >>> scoped('<g id="a" fill="url(#a)"/>', "left")
    '<g id="left-a" fill="url(#left-a)"/>'
    """
    return svg.replace(' id="', f' id="{scope}-').replace("url(#", f"url(#{scope}-")


def _identifier(*parts: str | int) -> str:
    return re.sub(r"[^a-z0-9]+", "-", " ".join(map(str, parts)).lower()).strip("-")


def _belief(scene: SceneView, oracle: str, probability: float | None) -> str:
    if probability is None:
        return ""
    error = wrong(scene, probability)
    value = f'<span class="p{" wrong" if error else ""}">{probability:.2f}{" ✗" if error else ""}</span>'
    return f'<div class="belief {oracle}"><span>{oracle}</span>{_meter(probability)}{value}</div>'


def _meter(probability: float) -> str:
    return f'<span class="meter"><i style="width:{100 * probability:.1f}%"></i></span>'


def _hypotheses(view: EpisodeView) -> str:
    items = "".join(_hypothesis(hypothesis) for hypothesis in view.hypotheses)
    return f'<h4>{escape(hypotheses_title(view))}</h4><ol class="hypotheses">{items}</ol>'


def _hypothesis(one: HypothesisView) -> str:
    known = ("known", "weak knows it") if one.known_to_weak else ("novel", "new to weak")
    odds = f"{_meter(one.probability)}<b>{one.probability:.1%}</b><span>log-prob {one.log_prob:.3f}</span>"
    english = words("span", one.english, class_="gloss") if one.english else ""
    badge = f'<span class="badge {known[0]}">{known[1]}</span>'
    return f'<li><div class="odds">{odds}</div><div><code>{escape(one.text)}</code>{badge}{english}</div></li>'


def _rivals(view: EpisodeView) -> str:
    return details(rivals_title(view), f'<ul class="rivals">{"".join(_items(view.rivals))}</ul>', opened=True)


def _items(texts: Iterable[str]) -> Iterable[str]:
    return (f"<li><code>{escape(text)}</code></li>" for text in texts)
