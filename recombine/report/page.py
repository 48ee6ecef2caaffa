"""Pages: one HTML file that needs nothing else, readable in light and dark, on paper and on a phone."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from recombine.render.schematic import words
from recombine.report.figures import css_variables
from recombine.report.table import prose


@dataclass(frozen=True)
class Section:
    """A part of a page: the title and the introduction are text, the body is HTML."""

    title: str
    body_html: str
    intro: str = ""
    folded: bool = False
    """Whether it opens only when its title is clicked."""


def page(title: str, sections: Sequence[Section], subtitle: str = "", compact: bool = False) -> str:
    """The whole document; a compact one leaves little room between its parts."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
    head += f'<meta name="color-scheme" content="light dark">{words("title", title)}<style>{_css()}</style>'
    masthead = words("h1", title) + (f'<p class="subtitle">{prose(subtitle)}</p>' if subtitle else "")
    body = "".join(_section(section, i) for i, section in enumerate(sections, 1))
    kind = ' class="compact"' if compact else ""
    body = f"<header>{masthead}</header>{_contents(sections)}<main>{body}</main>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body{kind}>{body}</body></html>\n'


def paragraph(text: str) -> str:
    return f"<p>{prose(text)}</p>"


def details(summary: str, body_html: str, opened: bool = False) -> str:
    """A part that opens when its summary is clicked."""
    return f"<details{' open' if opened else ''}><summary>{escape(summary)}</summary>{body_html}</details>"


def chart(svg: str, caption: str = "", narrow: str = "") -> str:
    """A figure as wide as there is room; where there is little, one that is drawn for it."""
    below = words("figcaption", caption) if caption else ""
    if narrow:
        svg = f'<div class="roomy">{svg}</div><div class="narrow">{narrow}</div>'
    return f'<figure class="figure">{svg}{below}</figure>'


def _section(section: Section, number: int) -> str:
    intro = f'<p class="intro">{prose(section.intro)}</p>' if section.intro else ""
    if section.folded:
        inner = f"<summary><h2>{escape(section.title)}</h2></summary>{intro}{section.body_html}"
        return f'<details class="folded" id="section-{number}">{inner}</details>'
    return f'<section id="section-{number}"><h2>{escape(section.title)}</h2>{intro}{section.body_html}</section>'


def _contents(sections: Sequence[Section]) -> str:
    sections = [section for section in sections if not section.folded]
    if len(sections) < 3:
        return ""
    links = "".join(f'<li><a href="#section-{i}">{escape(s.title)}</a></li>' for i, s in enumerate(sections, 1))
    return f'<nav aria-label="Contents"><ol>{links}</ol></nav>'


# --- style --------------------------------------------------------------------------------------------------------


def _css() -> str:
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{css_variables(dark=True)}}}}}"
    return f":root{{{css_variables()}}}{dark}{_STYLE}"


_STYLE = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:66rem;padding:3rem 1.5rem 5rem;background:var(--ground);color:var(--ink);
 font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1,h2,h3{font-family:ui-serif,"Iowan Old Style","Palatino Linotype",Palatino,Georgia,serif;line-height:1.2;
 font-weight:600;text-wrap:balance}
h1{font-size:clamp(1.9rem,5vw,2.7rem);margin:0;letter-spacing:-.015em}
h2{font-size:1.55rem;margin:0 0 .6rem}
h3{font-size:1.3rem;margin:.5rem 0 .9rem;text-wrap:pretty}
h4{font-size:.95rem;margin:1.8rem 0 .4rem}
p{max-width:44rem;margin:.7rem 0}
a{color:var(--strong);text-underline-offset:.15em}
code{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.subtitle{font-size:1.15rem;color:var(--muted);margin:.6rem 0 0}
.intro{color:var(--muted)}
section{margin-top:3rem;padding-top:2rem;border-top:1px solid var(--line)}
nav{margin-top:2rem}
nav ol{margin:0;padding:0;list-style:none;display:flex;flex-wrap:wrap;gap:.35rem 1.4rem}
figure{margin:1.4rem 0}
figcaption,.note{color:var(--muted);font-size:.875rem}
.figure,.table{width:100%;padding:1.2rem;background:var(--surface);border:1px solid var(--line);border-radius:12px}
.figure figcaption{margin-top:.6rem}
.chart{display:block;width:100%;max-width:46rem;height:auto}
.scroll{overflow-x:auto;background:linear-gradient(90deg,var(--surface) 30%,transparent),
 linear-gradient(270deg,var(--surface) 30%,transparent) 100% 0,linear-gradient(90deg,rgba(120,130,150,.5),transparent),
 linear-gradient(270deg,rgba(120,130,150,.5),transparent) 100% 0;background-repeat:no-repeat;
 background-size:2.5rem 100%,2.5rem 100%,.8rem 100%,.8rem 100%;background-attachment:local,local,scroll,scroll}
.scroll>svg>rect{fill:none!important}
.narrow{display:none}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem;margin-top:.6rem}
.plots .figure{margin:0;break-inside:avoid}
.strip{display:grid;grid-template-columns:repeat(7,minmax(0,1fr));gap:.5rem}
.images{display:grid;gap:1.1rem .9rem;grid-template-columns:repeat(auto-fill,minmax(min(30%,9rem),1fr));margin:.6rem 0}
.strip .shot{text-align:center;color:var(--muted)}
.strip .scene{border-radius:6px}
.sides,.beside{display:grid;gap:.4rem 1.6rem;align-items:start}
.sides{grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr))}
.beside{grid-template-columns:minmax(0,2fr) minmax(0,3fr)}
.heard audio{max-width:100%}
.heard ul{margin:.3rem 0;padding-left:1.2rem}
.compact{padding-top:1.4rem}
.compact h1{font-size:2.2rem}
.compact section{margin-top:.8rem;padding-top:.7rem}
.compact h4{margin-top:.6rem}
.compact .episode details{margin:.6rem 0 0}
.compact nav{margin-top:.7rem;font-size:.85rem}
.compact nav ol{column-gap:1.1rem}
.compact .subtitle,.compact .intro{max-width:60rem}
.compact .subtitle{font-size:1.05rem}
.compact h2{font-size:1.35rem;margin-bottom:.2rem}
.compact .intro{margin:.1rem 0}
.compact .episode{margin:.6rem 0 0;padding:1rem 1.4rem .8rem}
.compact .episode .shots{margin-bottom:.4rem}
.compact .episode>p:last-child{max-width:none;margin-bottom:0}
.compact .figure{margin-top:.6rem;padding:1rem}
.folded{margin:1rem 0 0;padding:.8rem 0;border-top:1px solid var(--line)}
.folded>summary h2{display:inline;font-size:1.15rem}
.table figcaption{font-weight:600;color:var(--ink);margin-bottom:.5rem}
.table .note{margin:.7rem 0 0}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.4rem .8rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
tr:has(>:nth-child(8))>*{padding-inline:.6rem}
td{min-width:2.5rem;max-width:30rem}
td.right{white-space:nowrap}
.words{min-width:8rem}
.lines{min-width:14rem}
.essay{min-width:22rem}
.keyed th:first-child,.keyed td:first-child{position:sticky;left:0;background:var(--surface)}
th:first-child,td:first-child{padding-left:0}
th:last-child,td:last-child{padding-right:0}
th{color:var(--muted);font-weight:500}
tbody tr:last-child td{border-bottom:0}
.right{text-align:right}
details{margin:1rem 0}
summary{cursor:pointer;font-weight:600;font-size:.95rem}
.episode{margin:1.6rem 0;padding:1.4rem 1.6rem 1.6rem;background:var(--surface);border:1px solid var(--line);
 border-radius:12px}
.tags{display:flex;flex-wrap:wrap;gap:.4rem}
.tag,.badge{font-size:.75rem;line-height:1;padding:.32rem .55rem;border-radius:99px;background:var(--gap)}
.forms{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem;margin:0;align-items:baseline}
.forms dt{color:var(--muted);font-size:.8rem}
.forms dd{margin:0}
.group{margin:.5rem 0 .3rem;font-size:.8rem;font-weight:600}
.group.positive{color:var(--positive)}
.group.negative{color:var(--negative)}
.shots{display:grid;grid-template-columns:repeat(5,minmax(0,1fr));gap:.8rem .7rem;margin-bottom:1rem}
.sides .shot .what{display:none}
.shot{margin:0;min-width:0;overflow-wrap:anywhere;font-size:.72rem;line-height:1.35;font-variant-numeric:tabular-nums;break-inside:avoid}
.shot figcaption{font-size:inherit}
.shot audio{display:block;width:100%;height:1.9rem;margin:.3rem 0}
.frame{position:relative;border:2px solid var(--edge);border-radius:6px;overflow:hidden;margin-bottom:.15rem}
.scene{display:block;width:100%;height:auto}
.mark{display:inline-block;width:1.1rem;border-radius:4px;background:var(--edge);color:var(--surface);
 font:700 .85rem/1.05rem system-ui,sans-serif;text-align:center}
.positive{--edge:var(--positive)}
.negative{--edge:var(--negative)}
.belief{display:grid;grid-template-columns:2.5rem 1fr 2.6rem;gap:.35rem;align-items:center;white-space:nowrap}
.question .belief{grid-template-columns:6rem 5.5rem minmax(4rem,12rem) 3rem;font-size:.85rem;white-space:normal}
.belief>:first-child{color:var(--muted)}
.meter{height:.42rem;border-radius:9px;background:var(--line);overflow:hidden}
.meter i{display:block;height:100%;background:var(--strong);border-radius:inherit}
.weak .meter i{background:var(--weak)}
.p.wrong{color:var(--negative);font-weight:600}
.hypotheses,.rivals{margin:.6rem 0 0;padding:0;list-style:none}
.hypotheses li{display:grid;grid-template-columns:11.5rem 1fr;gap:.2rem 1.1rem;padding:.5rem 0;
 border-top:1px solid var(--line);break-inside:avoid}
.odds{display:grid;grid-template-columns:1fr 3.2rem;gap:0 .5rem;align-items:center;align-content:start;
 font-size:.8rem;font-variant-numeric:tabular-nums}
.odds b{text-align:right}
.odds span:last-child{grid-column:1/-1;color:var(--muted)}
.gloss{display:block;font-size:.875rem;color:var(--muted)}
.badge{display:inline-block;margin:.1rem .3rem .1rem 0;white-space:nowrap;font-size:.7rem;line-height:1.3;
 padding:.12rem .45rem}
.badge.true{background:var(--positive);color:var(--surface)}
.hypotheses li.hit{box-shadow:inset 3px 0 var(--positive);padding-left:.7rem}
.legend{font-size:.85rem;color:var(--muted)}
.legend dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:.3rem 0}
.legend dd{margin:0}
.novel{background:none;box-shadow:inset 0 0 0 1px var(--weak);color:var(--weak)}
.rivals li{padding:.15rem 0}
@media (max-width:40rem){
 body{padding:1.6rem 1rem 3rem}
 .episode,.figure,.table{padding:1rem}
 .shots{grid-template-columns:repeat(3,minmax(0,1fr));gap:.6rem .5rem}
 .roomy{display:none}
 .narrow{display:block}
 .images{grid-template-columns:repeat(2,minmax(0,1fr))}
 .shots:has(audio){grid-template-columns:repeat(2,1fr)}
 .compact nav{display:none}
 .strip{grid-template-columns:repeat(4,minmax(0,1fr))}
 .compact{padding-top:1rem;line-height:1.45}
 .compact h1{font-size:1.5rem}
 .compact h2{font-size:1.2rem;margin-bottom:.2rem}
 .compact h3{font-size:1.05rem;margin:.4rem 0 .5rem}
 .compact .subtitle{font-size:.95rem;margin-top:.4rem}
 .compact .intro{font-size:.9rem;margin:.2rem 0}
 .compact section{margin-top:.7rem;padding-top:.6rem}
 .compact .episode{margin-top:.5rem;padding:.7rem}
 .compact .episode>p:last-child{font-size:.9rem;margin-top:.4rem}
 .compact .sides{gap:0}
 .compact .sides .shots{margin:0;grid-template-columns:repeat(5,minmax(0,1fr));gap:.3rem}
 .compact .sides .shot figcaption{display:none}
 .compact .told-asked,.compact .images,.compact .strip,.compact .plots{display:flex;gap:.6rem;margin:.3rem -.7rem 0;
  padding:0 .7rem .3rem;overflow-x:auto;scroll-snap-type:x proximity;scroll-padding:.7rem}
 .compact .told-asked>*{flex:0 0 7.4rem;scroll-snap-align:start}
 .compact .images>*{flex:0 0 6.4rem;scroll-snap-align:start}
 .compact .strip>*{flex:0 0 5.6rem;scroll-snap-align:start}
 .compact .plots{margin:.3rem -1rem 0;padding:0 1rem .3rem;scroll-padding:1rem;align-items:start}
 .compact .plots>*{flex:0 0 90%;padding:.7rem;scroll-snap-align:start}
 .compact .plots figcaption{font-size:.8rem}
 .compact .episode .belief{grid-template-columns:auto minmax(1rem,1fr) auto;gap:.3rem}
 .compact .episode .belief .meter{grid-row:auto;grid-column:auto;margin:0}
 .question .belief,.compact .question .belief{
  grid-template-columns:6rem 5rem minmax(2rem,1fr) 2.4rem;white-space:normal}
 .question .belief .meter{grid-row:auto;grid-column:auto;margin:0}
 .hypotheses li,.forms{grid-template-columns:1fr}
 .forms dd{margin-bottom:.4rem}
 .odds{max-width:15rem}
 .beside{grid-template-columns:minmax(0,1fr)}
 .heard{display:flow-root}
 .heard .frame{float:left;width:38%}
 .heard audio{width:57%;margin-left:5%}
 .heard ul{clear:both;font-size:.75rem;padding-left:.9rem}
 .heard details{margin:.3rem 0 0}
 .belief{grid-template-columns:1fr auto;gap:0 .2rem}
 .belief .meter{grid-row:2;grid-column:1/-1;margin-bottom:.15rem}
}
@media print{
 body{max-width:none;padding:0;font-size:10pt;background:none}
 .scroll{overflow:visible}
 .figure,.table{break-inside:avoid}
 *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
}
"""
