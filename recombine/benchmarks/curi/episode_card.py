"""An episode as a card of a page: what was shown, what was asked, what the oracles answer."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape

from recombine.benchmarks.curi.episode import (
    EpisodeView,
    HypothesisView,
    SceneView,
    badges,
    hypotheses_title,
    rivals_title,
    wrong,
)
from recombine.render.instruments import PITCHES
from recombine.render.schematic import words
from recombine.render.sound import COLOR_INSTRUMENTS, MATERIAL_TIMBRES, SHAPE_PROFILES
from recombine.report.page import details


def episode_card(view: EpisodeView) -> str:
    """One episode as in the papers' Figures 6 to 11, with what the oracles answer."""
    parts = [_concept(view), _scenes(view, "Support", view.support), _scenes(view, "Query", view.query)]
    parts += [sound_legend() if any(scene.sound for scene in view.support) else ""]
    parts += [_hypotheses(view), _rivals(view) if view.rivals else ""]
    return f'<article class="episode">{"".join(parts)}</article>'


TOLD = 5
"""Scenes of each kind that a story shows."""


def episode_story(view: EpisodeView) -> str:
    """The same in brief: some of what was shown, what the weak oracle gets wrong, and what it believes."""
    yes, no = ([scene for scene in view.support if scene.label is label][:TOLD] for label in (True, False))
    asked = [scene for scene in view.query if scene.weak is not None]
    missed = [scene for scene in asked if scene.weak is not None and wrong(scene, scene.weak)]
    shown = _row(view, "Shown: here it holds", "told-yes", yes), _row(view, "and here it does not", "told-no", no)
    rows = [f'<div class="sides">{"".join(f"<div>{row}</div>" for row in shown)}</div>']
    rows.append(_row(view, "Asked, and missed by the weak learner", "told-asked", (missed or asked)[:TOLD]))
    right = {name: sum(not wrong(scene, getattr(scene, name)) for scene in asked) for name in ("strong", "weak")}
    known = next((one for one in view.hypotheses if one.known_to_weak), None)
    said = f"Of {len(asked)} scenes the strong learner gets {right['strong']} right, the weak one {right['weak']}."
    guess = f" What the weak one thinks most likely: {known.english}." if known else ""
    new = "" if any(one.true and one.known_to_weak for one in view.hypotheses) else " It never met this concept."
    head = f'<div class="tags">{words("span", f"CURI, {view.split}", class_="tag")}</div>'
    return (
        f'<article class="episode">{head}<h3>{escape(view.concept_english)}</h3>{"".join(rows)}'
        f"<p>{escape(said + new + guess)}</p></article>"
    )


def _row(view: EpisodeView, title: str, group: str, scenes: Sequence[SceneView]) -> str:
    if not scenes:
        return ""
    scope = _identifier(view.split, view.number, view.negatives, group)
    cells = (_signed(scene.label, _shot(replace(scene, sound=""), f"{scope}-{i}")) for i, scene in enumerate(scenes))
    shown = "".join(cells)
    return f'<p class="group">{escape(title)}</p><div class="shots {group}">{shown}</div>'


def _signed(label: bool, shot: str) -> str:
    return f'<div class="{"positive" if label else "negative"}">{shot}</div>'


def sound_card(view: EpisodeView) -> str:
    """The first scene that can be heard: its picture, a player, and what plays."""
    heard = next(scene for scene in view.support if scene.sound)
    picture = f'<div class="frame" style="--edge:var(--line);max-width:15rem">{scoped(heard.drawing, "heard")}</div>'
    notes = "".join(f"<li>{escape(note)}</li>" for note in heard.plays.split("; "))
    player = f'<audio controls preload="none" aria-label="Scene {heard.scene}" src="{heard.sound}"></audio>'
    told = f"{player}<ul>{notes}</ul>"
    told = f'<div class="legend">{told}</div>{sound_legend()}'
    return f'<article class="episode"><div class="beside heard">{picture}<div>{told}</div></div></article>'


def heard() -> tuple[tuple[str, str], ...]:
    """How properties are heard."""
    instruments = ", ".join(f"{color} {name.replace('-', ' ')}" for color, name in COLOR_INSTRUMENTS)
    return (
        ("colour", f"instrument: {instruments}"),
        ("column", "time: left is early; eight onsets within 1.8 s"),
        ("row", f"pitch: {' '.join(PITCHES)} from the top"),
        ("shape", ", ".join(f"{shape} {profile}" for shape, profile in SHAPE_PROFILES)),
        ("material", ", ".join(f"{material} {timbre}" for material, timbre in MATERIAL_TIMBRES)),
        ("size", "large at full volume, small at 30 %"),
    )


def sound_legend() -> str:
    listed = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in heard())
    return f'<div class="legend">{details("How to listen", f"<dl>{listed}</dl>")}</div>'


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
    frame = f'<div class="frame">{scoped(scene.drawing, scope)}</div>'
    about = escape("; ".join(scene.words))
    player = ""
    if scene.sound:
        player = f'<audio controls preload="none" title="{escape(scene.plays)}" src="{scene.sound}"></audio>'
    name = f'<span class="what">scene</span> {scene.scene}'
    caption = f'<figcaption><span class="mark">{scene.mark}</span> {name}</figcaption>'
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
    said = "".join(f'<span class="badge {kind}">{words}</span>' for kind, words in badges(one))
    odds = f"{_meter(one.probability)}<b>{one.probability:.1%}</b><span>log-prob {one.log_prob:.3f}</span>"
    english = words("span", one.english, class_="gloss") if one.english else ""
    mine = ' class="hit"' if one.true else ""
    return f'<li{mine}><div class="odds">{odds}</div><div><code>{escape(one.text)}</code> {said}{english}</div></li>'


def _rivals(view: EpisodeView) -> str:
    return details(rivals_title(view), f'<ul class="rivals">{"".join(_items(view.rivals))}</ul>', opened=True)


def _items(texts: Iterable[str]) -> Iterable[str]:
    return (f"<li><code>{escape(text)}</code></li>" for text in texts)
