"""Formulas: what a definition says about objects.

An object is a point of the grid or a vector of objects. A formula is a term of four types: `formula`, `object` (a
variable, a vector, a vector with a rest), `value` (a property of a point, a number, a colour) and nothing else.

>>> x, y = var("x"), var("y")
>>> write(both(call("red", x), compare("==", prop("x_loc", y), plus(prop("x_loc", x), 1))))
'red(x) and y.x_loc == x.x_loc + 1'
"""

from collections.abc import Iterator

from recombine.language.expr import Expr, Symbol

PROPERTIES = ("x_loc", "y_loc", "color")
"""What a point has: its column from the west, its row from the north, its colour."""
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
SIZES = ("width", "height")
"""Numbers that the grid gives."""


def _term(family: str, index: tuple[str, ...], args: tuple[Expr, ...], out: str) -> Expr:
    return Expr(Symbol(family, index, tuple(arg.head.out for arg in args), out), args)


def var(name: str) -> Expr:
    """A variable."""
    return _term("var", (name,), (), "object")


def vector(*items: Expr) -> Expr:
    """(x1, ..., xn)."""
    return _term("vector", (str(len(items)),), items, "object")


def split(heads: tuple[Expr, ...], rest: Expr) -> Expr:
    """(x1, ..., xk) :: rest."""
    return _term("split", (str(len(heads)),), (*heads, rest), "object")


def point(x: Expr) -> Expr:
    """x is a point, not a vector."""
    return _term("point", (), (x,), "formula")


def same(a: Expr, b: Expr) -> Expr:
    """a == b, as objects: a pattern where b is a vector."""
    return _term("same", (), (a, b), "formula")


def extreme(kind: str, name: str, picked: Expr, among: Expr) -> Expr:
    """picked == argmin(among, name) or argmax: the first of the points of `among` where the property is extreme."""
    return _term(kind, (name,), (picked, among), "formula")


def call(name: str, *args: Expr) -> Expr:
    """The definition of this name, about these objects."""
    return _term("call", (name, str(len(args))), args, "formula")


def both(*parts: Expr) -> Expr:
    """All of these."""
    return _join("and", parts)


def either(*parts: Expr) -> Expr:
    """At least one of these."""
    return _join("or", parts)


def _join(family: str, parts: tuple[Expr, ...]) -> Expr:
    """One flat conjunction or disjunction; of one part, the part itself."""
    flat = tuple(inner for part in parts for inner in (part.args if part.head.family == family else (part,)))
    return flat[0] if len(flat) == 1 else _term(family, (str(len(flat)),), flat, "formula")


def no(part: Expr) -> Expr:
    """Not this."""
    return _term("not", (), (part,), "formula")


def every(name: str, among: Expr, says: Expr) -> Expr:
    """all name in among: says. The name stands for each point of the object, whatever its structure."""
    return _term("all", (name,), (among, says), "formula")


def some(name: str, among: Expr, says: Expr) -> Expr:
    """some name in among: says."""
    return _term("some", (name,), (among, says), "formula")


def compare(comparison: str, a: Expr, b: Expr) -> Expr:
    """A comparison of two numbers or two colours."""
    return _term("compare", (comparison,), (a, b), "formula")


def prop(name: str, x: Expr) -> Expr:
    """x.name, one of PROPERTIES."""
    return _term("property", (name,), (x,), "value")


def number(n: int) -> Expr:
    return _term("number", (str(n),), (), "value")


def color(name: str) -> Expr:
    return _term("color", (name,), (), "value")


def size(name: str) -> Expr:
    """width or height of the grid."""
    return _term("size", (name,), (), "value")


def plus(value: Expr, n: int) -> Expr:
    """value + n; n may be negative."""
    return _term("plus", (str(n),), (value,), "value") if n else value


def variables(term: Expr) -> Iterator[str]:
    """The names of the variables in a term, bound ones included, as they come."""
    if term.head.family in ("var", "all", "some"):
        yield term.head.index[0]
    for arg in term.args:
        yield from variables(arg)


_LEVEL = {"or": 0, "and": 1}


def write(term: Expr) -> str:
    """The text of a formula as .concepts files have it; reading it back gives the same term."""
    return _WRITE[term.head.family](term)


def _tight(part: Expr) -> str:
    return f"({write(part)})" if part.head.family in _LEVEL else write(part)


def _written_join(term: Expr) -> str:
    level = _LEVEL[term.head.family]
    parts = (f"({write(p)})" if _LEVEL.get(p.head.family, 2) <= level else write(p) for p in term.args)
    return f" {term.head.family} ".join(parts)


def _commas(items: tuple[Expr, ...]) -> str:
    return ", ".join(map(write, items))


def _written_split(term: Expr) -> str:
    *heads, rest = term.args
    # `(a, b) :: c` splits off two objects, `((a, b)) :: c` one.
    alone = len(heads) == 1 and heads[0].head.family == "var"
    front = write(heads[0]) if alone else f"({_commas(tuple(heads))})"
    return f"{front} :: {write(rest)}"


def _written_plus(term: Expr) -> str:
    n = int(term.head.index[0])
    return f"{write(term.args[0])} {'+' if n > 0 else '-'} {abs(n)}"


def _word(term: Expr) -> str:
    return term.head.index[0]


def _quantified(term: Expr) -> str:
    return f"{term.head.family} {_word(term)} in {write(term.args[0])}: {_tight(term.args[1])}"


def _written_extreme(term: Expr) -> str:
    return f"{write(term.args[0])} == {term.head.family}({write(term.args[1])}, {_word(term)})"


_WRITE = {
    "var": _word,
    "number": _word,
    "color": _word,
    "size": _word,
    "vector": lambda term: f"({_commas(term.args)})",
    "split": _written_split,
    "point": lambda term: f"point({write(term.args[0])})",
    "same": lambda term: f"{write(term.args[0])} == {write(term.args[1])}",
    "argmin": _written_extreme,
    "argmax": _written_extreme,
    "call": lambda term: f"{_word(term)}({_commas(term.args)})",
    "and": _written_join,
    "or": _written_join,
    "not": lambda term: f"not {_tight(term.args[0])}",
    "all": _quantified,
    "some": _quantified,
    "compare": lambda term: f"{write(term.args[0])} {_word(term)} {write(term.args[1])}",
    "property": lambda term: f"{write(term.args[0])}.{_word(term)}",
    "plus": _written_plus,
}
