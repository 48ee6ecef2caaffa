"""CURI's language of thought: what may be said about a scene, and how likely each saying is.

A concept is a quantifier over a body that speaks of an object x, of all objects S, and of the others S_-x. The body
compares properties. A `Kind` is a kind of property that may be compared with itself: colours with colours, locations
with locations (X or Y). The language is made from a list of kinds, so another world brings another list.
"""

from dataclasses import dataclass, field

from recombine.benchmarks.curi.edition import Nesting
from recombine.benchmarks.curi.world import CURI_VOCABULARY
from recombine.language.expr import Expr, Signature, Symbol, subterms
from recombine.language.grammar import Grammar, Rule
from recombine.language.query import words
from recombine.store.errors import UserError
from recombine.world.vocabulary import Vocabulary

COLORS = CURI_VOCABULARY["color"].values


@dataclass(frozen=True)
class Kind:
    """A kind of property: the attributes that have it, its constants, and the weights of what is said about it."""

    name: str
    attributes: tuple[str, ...]
    constants: tuple[str, ...]
    equal: float = 3.0
    greater: float = 0.0
    all: float = 1.0
    any: float = 1.0
    count: float = 1.0


@dataclass(frozen=True)
class Weights:
    """The weights of what does not belong to one kind."""

    conjunction: float = 3.0
    disjunction: float = 0.5
    negation: float = 1.0
    equal_numbers: float = 0.5
    greater_number: float = 1.0


CURI_KINDS = (
    Kind("color", ("color",), COLORS),
    Kind("shape", ("shape",), CURI_VOCABULARY["shape"].values),
    Kind("material", ("material",), CURI_VOCABULARY["material"].values),
    Kind("size", ("size",), CURI_VOCABULARY["size"].values, equal=0.5, greater=1.0),
    Kind("location", ("locationX", "locationY"), tuple("12345678"), equal=0.5, greater=1.0),
)
NUMBERS = ("1", "2", "3")

EXISTS = Symbol("exists", (), ("bool",), "concept")
FOR_ALL = Symbol("for_all", (), ("bool",), "concept")
HOLDS = Symbol("holds", (), ("bool",), "concept")
"""The body itself, where it speaks neither of x nor of the others."""
AND = Symbol("and", (), ("bool", "bool"))
OR = Symbol("or", (), ("bool", "bool"))
NOT = Symbol("not", (), ("bool",))
X = Symbol("x", (), (), "object")
EVERYTHING = Symbol("everything", (), (), "objects")
OTHERS = Symbol("others", (), (), "objects")


def constant(kind: str, value: str) -> Symbol:
    return Symbol("const", (kind, value), (), kind)


def equal(kind: str) -> Symbol:
    return Symbol("equal", (kind,), (kind, kind))


def greater(kind: str) -> Symbol:
    return Symbol("greater", (kind,), (kind, kind))


def function(kind: str, attribute: str) -> Symbol:
    return Symbol("function", (attribute,), (), f"{kind} of")


def of_object(kind: str) -> Symbol:
    return Symbol("of", (kind,), ("object", f"{kind} of"), kind)


def of_each(kind: str) -> Symbol:
    return Symbol("each", (kind,), ("objects", f"{kind} of"), f"{kind} each")


def over_set(family: str, kind: str) -> Symbol:
    """all, any or count: how many of a set's properties equal a value."""
    return Symbol(family, (kind,), (f"{kind} each", kind), "number" if family == "count" else "bool")


@dataclass(frozen=True)
class Lot:
    """A language of thought: kinds of properties, and how they may be combined."""

    kinds: tuple[Kind, ...] = CURI_KINDS
    weights: Weights = field(default_factory=Weights)
    numbers: tuple[str, ...] = NUMBERS

    def attribute_of(self, kind: str) -> str:
        """An attribute of this kind; all of them have the same values."""
        return next(k.attributes[0] for k in self.kinds if k.name == kind)

    def signature(self) -> Signature:
        """Every symbol of the language."""
        symbols = [EXISTS, FOR_ALL, HOLDS, AND, OR, NOT, X, EVERYTHING, OTHERS, equal("number"), greater("number")]
        symbols += [constant("number", value) for value in self.numbers]
        for kind in self.kinds:
            symbols += [constant(kind.name, value) for value in kind.constants]
            symbols += [function(kind.name, attribute) for attribute in kind.attributes]
            symbols += [equal(kind.name), greater(kind.name), of_object(kind.name), of_each(kind.name)]
            symbols += [over_set(family, kind.name) for family in ("all", "any", "count")]
        return Signature.of(symbols)

    def grammar(self, nesting: Nesting) -> Grammar:
        """The weighted rules, in the order of the paper's appendix B.1."""
        w = self.weights
        rules = [Rule("START", 1, EXISTS, ("BOOL",)), Rule("START", 1, FOR_ALL, ("BOOL",))]
        rules += [Rule("BOOL", w.conjunction, AND, ("BOOL", "BOOL"))]
        rules += [Rule("BOOL", w.disjunction, OR, ("BOOL", "BOOL"))]
        rules += [Rule("BOOL", w.negation, NOT, ("BOOL",))]
        rules += [Rule("BOOL", w.equal_numbers, equal("number"), ("number", "number"))]
        rules += [Rule("BOOL", w.greater_number, greater("number"), ("number", "number"))]
        if not self.kinds:
            raise UserError("a language of thought needs at least one kind of property")
        counts = sum(kind.count for kind in self.kinds) or 1.0
        for kind in self.kinds:
            rules += _rules_of(kind, counts)
        rules += [Rule("number", 0.5 / len(self.numbers), constant("number", value)) for value in self.numbers]
        rules += [Rule("OBJECT", 1, X), Rule("SET", 1, EVERYTHING), Rule("SET", 1, OTHERS)]
        return Grammar("START", tuple(rule for rule in rules if rule.weight > 0), nesting.levels, dull=only_constants)


CURI_LOT = Lot()


def check_language(lot: Lot, vocabulary: Vocabulary) -> None:
    """Refuse a language that speaks of what its world does not have."""
    for kind in lot.kinds:
        for name in kind.attributes:
            attribute = vocabulary[name]
            for constant_ in kind.constants:
                attribute.code(constant_)
            if kind.greater and not attribute.ordered:
                raise UserError(
                    f"'{name}' has no order, so the kind '{kind.name}' cannot use >; set greater=0 or ordered=True"
                )


def _rules_of(kind: Kind, counts: float) -> list[Rule]:
    """What may be said about one kind; half of the values are constants and half are properties of x."""
    name, each, call = kind.name, f"SET {kind.name}", f"F {kind.name}"
    return [
        Rule("BOOL", kind.equal, equal(name), (name, name)),
        Rule("BOOL", kind.greater, greater(name), (name, name)),
        Rule("BOOL", kind.all, over_set("all", name), (each, name)),
        Rule("BOOL", kind.any, over_set("any", name), (each, name)),
        Rule("number", 0.5 * kind.count / counts, over_set("count", name), (each, name)),
        *(Rule(name, 0.5 / len(kind.constants), constant(name, value)) for value in kind.constants),
        Rule(name, 0.5, of_object(name), ("OBJECT", call)),
        Rule(each, 1, of_each(name), ("SET", call)),
        *(Rule(call, 1, function(name, attribute)) for attribute in kind.attributes),
    ]


def only_constants(head: Symbol, args: tuple[Expr, ...]) -> bool:
    """A node whose children are all constants says nothing about the scene."""
    return bool(args) and all(arg.head.family == "const" for arg in args)


def banned(concept: Expr) -> bool:
    """f(x) against the same f(x), all or any of f(S) against the same f(x), or for-all together with S_-x."""
    if concept.head is FOR_ALL and any(part.head is OTHERS for part in subterms(concept)):
        return True
    return any(_same_property(part) for part in subterms(concept))


def _same_property(part: Expr) -> bool:
    """Whether a comparison or an all/any looks at one property of x on both sides."""
    if part.head.family not in ("equal", "greater", "all", "any"):
        return False
    left, right = part.args
    asked = {"of", "each"}
    return left.head.family in asked and right.head.family in asked and left.args[1] is right.args[1]


def depends_on_x(concept: Expr) -> bool:
    """Whether the body speaks of x or of the others."""
    return not words(concept).isdisjoint(("x", "others"))


def collapsed(concept: Expr) -> Expr:
    """Without its quantifier, where that makes no difference."""
    return concept if depends_on_x(concept) else Expr(HOLDS, concept.args)
