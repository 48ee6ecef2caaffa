"""Text that is not ours is shown as text."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from recombine.store.errors import UserError
from recombine.store.text import markdown, markup, plain


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("\x1b\x9b\x07\r\u202e[]\\"), max_size=30))
def test_nothing_of_a_text_steers_a_terminal(text: str) -> None:
    assert not set(plain(text)) & set("\x1b\x9b\x07\r\u202e\x00")
    assert plain(plain(text)) == plain(text)


@given(st.text("ab[]/\\ ", max_size=12))
def test_rich_prints_a_text_as_it_is(text: str) -> None:
    console = Console(file=io.StringIO(), width=1000)
    console.print(f"[b]{markup(text)}[/b]|", highlight=False)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.replace("\\", "") == f"{text}|\n".replace("\\", "")  # before a bracket rich may drop one


def test_an_error_that_quotes_a_file_steers_no_terminal() -> None:
    assert str(UserError("there is no color '\x1b]0;owned\x07\x1b[2J'")) == "there is no color ']0;owned[2J'"
    assert str(UserError("one:\n\ttwo")) == "one:\n\ttwo"


def test_markdown_shows_what_was_said() -> None:
    assert markdown("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert markdown("[a](javascript:x) ![b](c)") == r"\[a\](javascript:x) !\[b\](c)"
    assert markdown("a\n\n# b\n| c |") == r"a # b \| c \|"
    assert [markdown(text) for text in ("# a", "- a", "1. a", "=== a")] == [r"\# a", r"\- a", r"1\. a", r"\=== a"]
    assert markdown("`a` *b* _c_ d_e ~f~ $g$") == r"\`a\` \*b\* \_c\_ d_e \~f\~ \$g\$"
    assert markdown("98.5 [97.9, 99.0]") == "98.5 [97.9, 99.0]"
