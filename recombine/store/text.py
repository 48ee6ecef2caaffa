"""Text that is not ours, made safe for where it is shown: a terminal, rich's markup, a page of Markdown.

>>> plain("red\\x1b[31m \\u202egreen")
'red[31m green'
>>> markup("data[red]")
'data\\\\[red]'
>>> markdown("a|b *c* <d>\\n[e](f) snake_case 1.5 [1.2, 1.8]")
'a\\\\|b \\\\*c\\\\* &lt;d&gt; \\\\[e\\\\](f) snake_case 1.5 \\\\[1.2, 1.8\\\\]'
>>> markdown("snake_case 1.5 [1.2, 1.8]")
'snake_case 1.5 [1.2, 1.8]'
"""

import re
import unicodedata
from collections.abc import Iterable
from html import unescape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

KEPT = "\n\t"
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that show nothing, and may steer a terminal or turn the direction of writing."""
_PRINTABLE = re.compile(r"[\n\t -~]*")
_BREAK = re.compile(r"\s*[\n\t]\s*")
_MARKS = re.compile(r"[\\`*|~$]|(?<!\w)_|_(?!\w)")
_BRACKETS = re.compile(r"[\[\]]")
_LINK = re.compile(r"\][(\[:]")
_ESCAPED = re.compile(r"\\([\\`*|~$_\[\]#+=.)-])")
_BEGINS_A_BLOCK = re.compile(r"^(#|[+-](?=\s|$)|-(?=-)|=|\d+(?=[.)](\s|$)))")


def plain(text: str) -> str:
    """The text without control characters."""
    if _PRINTABLE.fullmatch(text):
        return text
    return "".join(letter for letter in text if letter in KEPT or unicodedata.category(letter) not in HIDDEN)


def one_line(text: str) -> str:
    """The text without control characters and breaks of lines.

    >>> one_line("there is no split 'a\\n\\tb'")
    "there is no split 'a b'"
    """
    return _BREAK.sub(" ", plain(text)).strip()


def shortened(text: str, most: int) -> str:
    """The text with its middle left out where it is longer than this: beginning and end tell most.

    >>> shortened("there is no family 'aaaaaaaaaaaaaaaaaaaa'; choose another", 45)
    "there is no family 'aaaaaaaaaa ... oose another"
    """
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-most // 4 :]}"


def markup(text: object) -> str:
    """The text as rich prints it where it reads markup."""
    from rich.markup import escape  # most commands print none

    found = escape(plain(str(text)))
    odd = (len(found) - len(found.rstrip("\\"))) % 2  # the last of these would take away the meaning of what follows
    return found + "\\" * odd


def markdown(text: object) -> str:
    """The text as a page of Markdown shows it, in one line."""
    line = " ".join(plain(str(text)).split())
    safe = _MARKS.sub(r"\\\g<0>", line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    if _LINK.search(safe):
        safe = _BRACKETS.sub(r"\\\g<0>", safe)
    return _BEGINS_A_BLOCK.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", safe)


def from_markdown(text: str) -> str:
    """What `markdown` was given, but for breaks of lines and control characters.

    >>> from_markdown(markdown("a|b *c* <d> [e](f) & 1. g \\\\"))
    'a|b *c* <d> [e](f) & 1. g \\\\'
    """
    return unescape(_ESCAPED.sub(r"\1", text))


def console(**options: Any) -> "Console":
    """A terminal that nothing printed can steer: whatever a text holds, its control characters are left out."""
    from rich.console import Console
    from rich.segment import Segment

    class Plain(Console):
        def render(self, *what: Any, **how: Any) -> Iterable[Segment]:
            for text, style, control in super().render(*what, **how):
                yield Segment(text if control else plain(text), style, control)

    return Plain(**options)
