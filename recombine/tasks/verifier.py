"""Verifiers: how an answer in words is read and scored; what every harness, reward and server goes by.

A *completion* is what a model wrote. Of it counts what comes after the last `</think>`, and of that what stands in the
last `<answer>`, in the last `\\boxed{}`, or after the last "answer is" or "answer:". There an answer may be written as

* one of the options, in any case, with quotes, full stops, asterisks, and in words that mean the same;
* a sentence that begins with an option, or a last line that names one option and no other, and denies nothing;
* probabilities: {"yes": 0.7, "no": 0.3}. These earn what they give to the right answer.

Several answers stand in lines, in a list of JSON, or between commas; with or without their numbers. What cannot be read
earns nothing, is counted as unreadable, and never is an error.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

Said = str | Mapping[str, float] | None
"""An option, or how probable each is; None where nothing can be read."""
LONGEST = 20_000
"""Characters at the end of a completion that are looked at."""
LINE = 300
"""Characters of a line that are looked at."""
TRUE = {"true": "yes", "false": "no"}
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {name: str(number) for number, name in enumerate(NAMES)}

_ANSWER = re.compile(r"<answer>(.*?)(?:</answer>|$)", re.IGNORECASE | re.DOTALL)
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_AFTER = re.compile(r"\banswers?\b\W{0,4}?(?:\s(?:is|are)\b\s*:?|:|=)[ *_]*", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\s*[-*#(\[|]*\s*(?:scene|image|sound|query|no\.?)?\s*#?(\d{1,6})[*_]*\s*[.):\]=|-]+\s*(\S.*)", re.IGNORECASE
)
_FRINGE = " \t\r\n\"'`*_.,;:!?()[]{}<>$\\-–—=#|~"
_SPLIT = re.compile(r"[,;|/\n]+")
_DENIED = re.compile(r"\b(?:not|cannot|neither|nor|unless|unsure|unclear|unknown|either|maybe|perhaps)\b|n't\b", re.I)
_CHANCES = 1 + 1e-6


class Verdict(NamedTuple):
    """What a completion has earned."""

    score: float
    """Between 0 and 1: by the measure of the benchmark."""
    right: tuple[float, ...]
    """Of each answer, how much of it is right."""
    said: tuple[Said, ...]

    @property
    def unreadable(self) -> int:
        """Answers that could not be read."""
        return sum(one is None for one in self.said)

    @property
    def accuracy(self) -> float:
        return sum(self.right) / len(self.right)


@dataclass(frozen=True, eq=False)
class Verifier:
    """How answers to a benchmark are read and scored."""

    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Words that stand for an option."""
    balanced: bool = False
    """Whether decisions count, as the mean over the right answers that occur, so that the rare one counts as much."""

    kinds: tuple[tuple[str, ...], ...] = ()
    """Answers that go together, such as all colours."""

    def read(self, completion: Any, options: Sequence[str], count: int = 1, first: int = 1) -> tuple[Said, ...]:
        """The answers of a completion; the first of them has this number in the prompt.

        >>> Verifier().read("<think>Red or blue?</think> The answer is **Blue**.", ["red", "blue"])
        ('blue',)
        >>> Verifier().read("4. yes\\n3. no", ["no", "yes"], 2, first=3)
        ('no', 'yes')
        >>> Verifier().read("I would say so.", ["no", "yes"])
        (None,)
        """
        known = _known(tuple(options), self)
        text = counted(text_of(completion))
        if count == 1:
            return (known.one(text),)
        return known.several(text, count, first)

    def say(self, chances: Sequence[Sequence[float]], options: Sequence[str]) -> str:
        """The answers of a learner in words, by the probability of each option; they earn what it earns.

        >>> Verifier().say([[0.25, 0.75], [0.0, 1.0]], ["no", "yes"])
        '{"no": 0.25, "yes": 0.75}\\nyes'
        """
        return "\n".join(self._say(one, options) for one in chances)

    def _say(self, chances: Sequence[float], options: Sequence[str]) -> str:
        best = max(range(len(options)), key=chances.__getitem__)
        if self.balanced or chances[best] == 1:
            return options[best]
        return json.dumps({option: chance for option, chance in zip(options, chances) if chance > 0})

    def score(self, completion: Any, answers: Sequence[str], options: Sequence[str], first: int = 1) -> Verdict:
        """What a completion has earned, where these answers are right."""
        said = self.read(completion, options, len(answers), first)
        right = tuple([_earned(one, answer) for one, answer in zip(said, answers)])
        return Verdict(self.value(right, answers), right, said)

    def value(self, right: Sequence[float], answers: Sequence[str]) -> float:
        """The score of answers that are right so far."""
        if not self.balanced or len(answers) == 1:
            return sum(right) / len(right)
        kinds: dict[str, list[float]] = {}
        for answer, one in zip(answers, right):
            kinds.setdefault(answer, []).append(one)
        return sum(sum(some) / len(some) for some in kinds.values()) / len(kinds)


def _earned(said: Said, answer: str) -> float:
    if said is None or isinstance(said, str):
        return float(said == answer)
    return float(said.get(answer, 0.0))


def text_of(completion: Any) -> str:
    """The text of a completion: a string, a message, a list of messages, or what such a message holds."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        return text_of(completion.get("content", completion.get("text")))
    if isinstance(completion, Sequence) and completion:
        if isinstance(completion[-1], Mapping) and "role" in completion[-1]:
            return text_of(completion[-1])
        return "\n".join(map(text_of, completion))
    return ""


def counted(text: str) -> str:
    """The part of a completion that counts."""
    text = text[-LONGEST:]
    if "</think>" in text:
        text = text.rpartition("</think>")[2]
    low = text.lower()
    for marked, mark in ((_ANSWER, "<answer>"), (_BOXED, "\\boxed")):
        if mark in low and (found := marked.findall(text)):
            return str(found[-1])
    ends = [found.end() for found in _AFTER.finditer(text)] if "answer" in low else []
    rest = text[ends[-1] :] if ends else ""
    return rest if rest.strip(_FRINGE) else text


def plain(text: str) -> str:
    """A word without quotes, stops and capitals.

    >>> plain(' **"Two  Objects".** ')
    'two objects'
    """
    return " ".join(text.strip(_FRINGE).lower().split())


class _Options:
    """The options of a question, by all words for them."""

    def __init__(self, options: Sequence[str], synonyms: Mapping[str, str]) -> None:
        words = {plain(option): option for option in options}
        self.words = dict(words)
        for word, option in {**TRUE, **NUMBERS, **synonyms}.items():
            if plain(option) in words:
                self.words.setdefault(plain(word), words[plain(option)])
        longest_first = sorted(self.words, key=len, reverse=True)
        any_word = "|".join(map(re.escape, longest_first)) or r"(?!)"
        self.mentioned = re.compile(rf"(?<![\w.])(?:{any_word})(?![\w%]|\.\d)")
        self.begins = re.compile(rf"({any_word})\s*(?:$|[,;:!?)\n*–—]|\.(?!\d)|-\s|\()")

    def exactly(self, text: str) -> Said:
        """An answer that is nothing but an answer."""
        if text.lstrip()[:1] == "{":
            return self._chances(text)
        return self.words.get(text) or (self.words.get(plain(text)) if len(text) <= LINE else None)

    def one(self, text: str) -> Said:
        """The one answer of a text."""
        found = self.exactly(text)
        if found is not None:
            return found
        lines = [line for line in text.splitlines() if line.strip(_FRINGE)]
        return (self._line(lines[-1]) or self.exactly(lines[0])) if lines else None

    def _line(self, line: str) -> Said:
        found = self.exactly(line) or self._begins(line)
        if found is not None or line.lstrip()[:1] == "{":
            return found
        low = " ".join(line[-LINE:].lower().split())
        named = {self.words[word] for word in self.mentioned.findall(low)}
        return named.pop() if len(named) == 1 and not _DENIED.search(low) else None

    def several(self, text: str, count: int, first: int) -> tuple[Said, ...]:
        """So many answers, the first of which has this number in the prompt."""
        nothing = (None,) * count
        listed = _json(text)
        if isinstance(listed, dict):
            listed = [f"{number}: {said}" for number, said in listed.items()]
        pieces = [str(one) for one in listed] if isinstance(listed, list) else text.splitlines()
        if len(pieces) < count and not isinstance(listed, list):
            pieces = [piece for line in pieces for piece in ([line] if "{" in line else _SPLIT.split(line))]
        said: list[tuple[int | None, Said]] = []
        for piece in pieces:
            head, _, rest = piece.partition(". ")
            number = int(head) if head.isdecimal() and len(head) < 7 else None
            found: Said = self.words.get(piece) if number is None else self.words.get(rest)
            if found is None:
                numbered = _NUMBERED.match(piece[:LINE])
                if numbered:
                    number, piece = int(numbered.group(1)), numbered.group(2)
                found = self.exactly(piece) or self._begins(piece)
            if found is not None:
                said.append((number, found))
        by_number = {number: one for number, one in said if number is not None}
        if said and all(number is not None for number, _ in said):
            return _by_number(by_number, count, first)
        if len(said) == count:
            return tuple(one for _, one in said)
        if len(pieces) == 1 and len(text) < LINE * count and len(words := text.split()) == count:
            return tuple(self.exactly(word) for word in words)
        return nothing

    def _begins(self, piece: str) -> Said:
        begins = self.begins.match(" ".join(piece[:LINE].lower().lstrip(_FRINGE).split()))
        return self.words[begins.group(1)] if begins else None

    def _chances(self, text: str) -> Said:
        found = _json(text)
        if not isinstance(found, dict):
            return None
        chances: dict[str, float] = {}
        for word, chance in found.items():
            option = self.words.get(plain(str(word)))
            number = isinstance(chance, int | float) and not isinstance(chance, bool)
            if option is None or not number or not 0 <= chance <= _CHANCES:
                return None
            chances[option] = chances.get(option, 0.0) + chance
        return chances if 0 < sum(chances.values()) <= _CHANCES else None


@lru_cache(maxsize=256)
def _known(options: tuple[str, ...], verifier: Verifier) -> _Options:
    return _Options(options, verifier.synonyms)


def _json(text: str) -> Any:
    text = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _by_number(said: Mapping[int, Said], count: int, first: int) -> tuple[Said, ...]:
    """Answers by their numbers, which count from the prompt's number of the first, or from 1."""
    start = 1 if min(said) < first else first
    if max(said) >= start + count or min(said) < start:
        return (None,) * count
    return tuple(said.get(start + place) for place in range(count))
