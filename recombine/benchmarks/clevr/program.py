"""How programs are written: as CLEVR's JSON lists, and as prefix tokens for models.

In a list, a node names a function, the earlier nodes it takes and its values; the last node gives the answer. The order
is depth-first, the left branch first, and nothing is shared. In tokens, a function comes before its inputs, and its
value stands in brackets: `filter_color[red]`.

>>> term = read_program([{"type": "scene", "inputs": []}, {"type": "exist", "inputs": [0]}])
>>> term
exist(scene)
>>> write_program(term)[1]
{'inputs': [0], 'function': 'exist', 'value_inputs': []}
>>> TOKENS.encode(term)
[1, 10, 41, 2]
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from reprlib import repr as brief
from typing import Any

from recombine.benchmarks.clevr.language import CLEVR, Dialect, Speech, dialect_of
from recombine.language.expr import Expr, Symbol, subterms
from recombine.store.errors import UserError

LONGEST = 256
"""The most steps of a program that is read; CLEVR's longest have about 25."""

FUNCTION_KEYS = ("function", "type")
VALUE_KEYS = ("value_inputs", "side_inputs")
"""The spellings of newer and older files."""

ATTRIBUTE_FAMILIES = ("filter", "same", "query", "equal")
"""The families whose functions have the attribute in their name."""

SPECIAL = ("<NULL>", "<START>", "<END>", "<UNK>")
NULL, START, END, UNK = range(4)


def function_of(symbol: Symbol, dialect: Dialect = CLEVR) -> tuple[str, tuple[str, ...]]:
    """CLEVR's name of a symbol, and its values: filter[color,red] is filter_color with red."""
    if symbol.family.endswith(ATTRIBUTE_FAMILIES):
        return f"{symbol.family}_{symbol.index[0]}", symbol.index[1:]
    return dialect.spelled.get(symbol.family, symbol.family), symbol.index


Functions = Mapping[str, Mapping[tuple[str, ...], tuple[Symbol, ...]]]


@lru_cache(maxsize=64)
def functions(dialect: Dialect = CLEVR) -> Functions:
    """Every function by CLEVR's name, and its symbols for each of its values: one for each type that it takes."""
    found: dict[str, dict[tuple[str, ...], tuple[Symbol, ...]]] = {}
    for symbol in dialect.signature.values():
        name, values = function_of(symbol, dialect)
        alike = found.setdefault(name, {})
        alike[values] = (*alike.get(values, ()), symbol)
    return found


def is_answer(kind: str, dialect: Dialect = CLEVR) -> bool:
    """Whether a program of this type answers a question."""
    return dialect.is_answer(kind)


def in_order(term: Expr) -> Iterator[Expr]:
    """The steps of a program in the order in which they are taken and written."""
    for arg in term.args:
        yield from in_order(arg)
    yield term


def write_program(term: Expr, key: str = "function", dialect: Dialect = CLEVR) -> list[dict[str, Any]]:
    """The program as a list of nodes; older files have the key "type"."""
    nodes: list[dict[str, Any]] = []
    ends: list[int] = []  # the nodes that no other node takes yet
    for step in in_order(term):
        first = len(ends) - len(step.args)
        name, values = function_of(step.head, dialect)
        nodes.append({"inputs": ends[first:], key: name, "value_inputs": list(values)})
        ends[first:] = [len(nodes) - 1]
    return nodes


def read_program(nodes: object, speech: Speech = CLEVR) -> Expr:
    """The program of a list of nodes, in a dialect or over a vocabulary."""
    dialect = dialect_of(speech)
    if not isinstance(nodes, list):
        raise UserError(f"a program is a list of nodes, not {brief(nodes)}")
    if not nodes:
        raise UserError("the program is empty")
    terms: list[Expr] = []
    for number, node in enumerate(nodes):
        try:
            terms.append(_read_node(node, terms, dialect))
        except UserError as error:
            raise UserError(f"node {number}: {error}") from None
    return _answering(terms[-1], f"node {len(nodes) - 1}", dialect)


def _read_node(node: object, earlier: list[Expr], dialect: Dialect) -> Expr:
    if not isinstance(node, dict):
        raise UserError(f"a node is an object with function, inputs and value_inputs, not {brief(node)}")
    symbols = _symbols(_named(node, FUNCTION_KEYS), _named(node, VALUE_KEYS, []), dialect)
    args = [_earlier(place, earlier) for place in _list(_named(node, ("inputs",)), "inputs")]
    given = tuple(arg.head.out for arg in args)
    return _apply(next((symbol for symbol in symbols if symbol.args == given), symbols[0]), args)


def _symbols(name: object, values: object, dialect: Dialect) -> tuple[Symbol, ...]:
    known = functions(dialect)
    if not isinstance(name, str) or name not in known:
        raise UserError(f"there is no function {brief(name)}; choose one of {', '.join(known)}")
    words = tuple(_list(values, "value_inputs"))
    found = known[name].get(words) if all(isinstance(word, str) for word in words) else None
    if found is None:
        choices = ", ".join(value for value, *_ in filter(None, known[name]))
        wanted = f"takes one value of {choices}" if choices else "takes no value"
        raise UserError(f"{name} {wanted}, not {brief(values)}")
    return found


def _earlier(place: object, earlier: list[Expr]) -> Expr:
    if type(place) is not int or not 0 <= place < len(earlier):
        raise UserError(f"the input {brief(place)} is not the number of an earlier node")
    return earlier[place]


def _apply(symbol: Symbol, args: Sequence[Expr]) -> Expr:
    name, given, wanted = function_of(symbol)[0], [arg.head.out for arg in args], [*symbol.args]
    if len(given) != len(wanted):
        raise UserError(f"{name} takes {len(wanted)} inputs, not {len(given)}")
    if given != wanted:
        raise UserError(f"{name} takes {' and '.join(wanted)}, not {' and '.join(given)}")
    if sum(arg.size for arg in args) >= LONGEST:
        raise UserError(f"a program has at most {LONGEST} steps, those that are shared counted each time")
    return Expr(symbol, tuple(args))


def _answering(term: Expr, where: str, dialect: Dialect) -> Expr:
    if not dialect.is_answer(term.head.out):
        raise UserError(f"{where}: {function_of(term.head)[0]} gives {term.head.out}, which is no answer")
    return term


def _named(node: Mapping[str, Any], keys: tuple[str, ...], *default: object) -> object:
    """The value under the first key that the node has."""
    for key in keys:
        if key in node:
            return node[key]
    for value in default:
        return value
    raise UserError(f"the node has no {' or '.join(keys)}")


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise UserError(f"{what} is a list, not {brief(value)}")
    return value


@dataclass(frozen=True)
class ProgramTokens:
    """Programs as prefix tokens, and tokens as numbers: four special ones, then the functions in alphabetical order."""

    speech: Speech = CLEVR

    @cached_property
    def dialect(self) -> Dialect:
        return dialect_of(self.speech)

    @cached_property
    def symbols(self) -> Mapping[str, Symbol]:
        """The symbol of every function token."""
        found = {_token(symbol): symbol for symbol in self.dialect.signature.values()}
        return {token: found[token] for token in sorted(found)}

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every token, at the place of its number."""
        return (*SPECIAL, *self.symbols)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def write(self, term: Expr) -> list[str]:
        """The tokens of a program, without special ones."""
        return [_token(part.head) for part in subterms(term)]

    def read(self, tokens: Iterable[str]) -> Expr:
        """The program of some tokens, without special ones."""
        tokens = list(tokens)
        missing, stack = 1, list[Expr]()
        for place, token in enumerate(tokens):
            if token not in self.symbols:
                raise UserError(f"token {place}: there is no function {brief(token)}")
            missing += len(self.symbols[token].args) - 1
            if missing <= 0 and place < len(tokens) - 1:
                raise UserError(f"token {place}: the program ends here, but {len(tokens) - 1 - place} tokens follow")
        if missing:
            raise UserError(f"token {len(tokens)}: the program ends too early")
        for place, token in reversed([*enumerate(tokens)]):
            symbol = self.symbols[token]
            args = [stack.pop() for _ in symbol.args]
            try:
                stack.append(_apply(symbol, args))
            except UserError as error:
                raise UserError(f"token {place}: {error}") from None
        return _answering(stack[0], "token 0", self.dialect)

    def encode(self, term: Expr, length: int = 0) -> list[int]:
        """The numbers of a program from START to END, filled up with NULL to a length."""
        numbers = [START, *(self.numbers[token] for token in self.write(term)), END]
        return numbers + [NULL] * (length - len(numbers))

    def decode(self, numbers: Iterable[int]) -> Expr:
        """The program of some numbers; START may be missing, and what follows END does not count."""
        return self.read(self.text(numbers))

    def text(self, numbers: Iterable[int]) -> list[str]:
        """The tokens up to END, without START and NULL."""
        found = []
        for number in map(int, numbers):
            if not 0 <= number < len(self.words):
                raise UserError(f"there is no token {number}; the last is {len(self.words) - 1}")
            if number == END:
                break
            if number not in (NULL, START):
                found.append(self.words[number])
        return found


def _token(symbol: Symbol) -> str:
    name, values = function_of(symbol)
    return f"{name}[{','.join(values)}]" if values else name


TOKENS = ProgramTokens()
