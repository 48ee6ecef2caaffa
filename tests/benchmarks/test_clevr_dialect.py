"""Questions in vocabularies of one's own: searched for, said, read, run and written like CLEVR's."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import recombine as rc
from recombine.benchmarks.clevr.answers import answers_of, columns_of, strong_answers
from recombine.benchmarks.clevr.check import check
from recombine.benchmarks.clevr.english import English
from recombine.benchmarks.clevr.english_frames import Frames
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Families, Family, build, clevr_families
from recombine.benchmarks.clevr.formats import QuestionRecord, SceneFile, read_questions, write_questions, write_scenes
from recombine.benchmarks.clevr.language import CLEVR, CLEVR_VOCABULARY, Dialect, Sort, signature
from recombine.benchmarks.clevr.meaning import (
    UNDEFINED,
    Beliefs,
    Exact,
    Known,
    Plainly,
    Undefined,
    answer_text,
    execute,
    soft_execute,
)
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, ClevrScale
from recombine.benchmarks.clevr.program import ProgramTokens, read_program, write_program
from recombine.benchmarks.clevr.questions import Looked, Rules, filling, look, search
from recombine.benchmarks.clevr.runner import Runner
from recombine.benchmarks.clevr.shapes import EVERYTHING, one, shape_of
from recombine.benchmarks.clevr.trace import trace_text
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.language.expr import Expr, Symbol
from recombine.semantics.fold import fold
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store, read_table
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

PETS = Vocabulary(
    (
        Attribute("kind", ("cat", "wolf", "field_mouse", "goose")),
        Attribute("colour", ("black", "white", "light blue", "blue")),
        Attribute("pattern", ("plain", "striped", "dotted")),
    )
)
SPOKEN = Dialect.of(
    PETS,
    noun="kind",
    bare=("animal", "creature"),
    words={"plain": ("plain", "patternless"), "wolf": ("wolf", "grey wolf")},
    plurals={"wolf": "wolves", "grey wolf": "grey wolves", "field mouse": "field mice", "goose": "geese"},
    how={},
    made=(),
)

VEHICLES = Vocabulary(
    (
        Attribute("size", ("small", "large")),
        Attribute("color", ("red", "blue", "green")),
        Attribute("material", ("rubber", "metal")),
        Attribute("shape", ("sedan", "wagon", "road", "tandem", "jet")),
        Attribute("texture", ("none", "dotted")),
    )
)
DRIVEN = Dialect.of(
    VEHICLES,
    attributes=("size", "color", "material", "shape"),
    words={**CLEVR.objects.words, "road": ("road bike",), "tandem": ("tandem bike",)},
    categories={"shape": {"car": ("sedan", "wagon"), "bicycle": ("road", "tandem"), "aeroplane": ("jet",)}},
)
DIALECTS = {"pets": SPOKEN, "vehicles": DRIVEN}
every_dialect = pytest.mark.parametrize("name", DIALECTS)


def scattered(vocabulary: Vocabulary, n: int, key: Key, low: int = 3, high: int = 8) -> Scenes:
    """Objects anywhere on the ground, with any values."""
    rng = key.rng()
    count = rng.integers(low, high + 1, n).astype(np.uint8)
    there = np.arange(high) < count[:, None]
    codes = {a.name: np.where(there, rng.integers(len(a.values), size=(n, high)), ABSENT) for a in vocabulary}
    place = np.where(there[..., None], rng.uniform(-3, 3, (n, high, 3)), 0)
    return Scenes(vocabulary, count, {a: c.astype(np.uint8) for a, c in codes.items()}, place.astype(np.float32))


class Asked(NamedTuple):
    scenes: Scenes
    families: Families
    programs: list[Expr]
    scene: np.ndarray
    answers: list[int]


@pytest.fixture(scope="module")
def asked() -> dict[str, Asked]:
    found = {}
    for name, dialect in DIALECTS.items():
        scenes, families = scattered(dialect.objects.vocabulary, 40, Key(3) / name), clevr_families(dialect)
        some = search(scenes, families, len(families), Key(4) / name)
        programs = [build(families[f], filling(families[f], d, r)) for f, d, r in _rows(some)]
        found[name] = Asked(scenes, families, programs, some.scene, some.answer.tolist())
    return found


def _rows(found) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    return zip(found.family, found.described, found.related)


# ---- One's own attributes, from families to files ----


@every_dialect
def test_every_family_makes_questions(asked: dict[str, Asked], name: str) -> None:
    own = asked[name]
    made = [own.families.family_of(program) for program in own.programs]
    assert {*made} == {*own.families}


def test_families_follow_from_the_attributes() -> None:
    kinds = {family.final for family in clevr_families(SPOKEN)}
    assert {"query_kind", "query_colour", "equal_pattern", "count", "exist", "less_than"} <= kinds
    assert len(clevr_families(SPOKEN)) == 9 + 12 + 5 + 4 + (12 + 6) + 7 + 5 + 5 + 5
    assert [repr(f.shape) for f in clevr_families(DRIVEN)] == [repr(f.shape) for f in CLEVR_FAMILIES]
    few = Dialect.of(PETS, noun="kind", asked=("colour",), matched=("pattern",))
    assert {f.final for f in clevr_families(few) if f.final.startswith("query")} == {"query_colour"}
    assert {s.index[0] for s in signature(few).values() if s.family == "same"} == {"pattern"}


@every_dialect
def test_answers_are_those_of_both_meanings(asked: dict[str, Asked], name: str) -> None:
    own, dialect = asked[name], DIALECTS[name]
    table = execute(own.programs, own.scenes, dialect=dialect)
    assert table[np.arange(len(own.programs)), own.scene].tolist() == own.answers
    for program, scene, answer in zip(own.programs[::7], own.scene[::7].tolist(), own.answers[::7]):
        value = fold(program, Plainly.of(own.scenes, scene, dialect), {})
        said = answer_text(program.head.out, value, own.scenes.vocabulary)
        assert said == answer_text(program.head.out, answer, own.scenes.vocabulary)


@every_dialect
def test_the_fast_meaning_is_the_plain_one(asked: dict[str, Asked], name: str) -> None:
    own, dialect = asked[name], DIALECTS[name]
    programs = own.programs[:: len(own.programs) // 150]
    table = execute(programs, own.scenes[:15], dialect=dialect)
    for scene in range(15):
        plain = Plainly.of(own.scenes, scene, dialect)
        for program, code in zip(programs, table[:, scene].tolist()):
            try:
                value = fold(program, plain, {})
            except Undefined:
                assert code == UNDEFINED
                continue
            kind = program.head.out
            assert code == (dialect.answers[kind].index(value) if isinstance(value, str) else int(value))


@every_dialect
def test_certain_beliefs_give_exact_answers(asked: dict[str, Asked], name: str) -> None:
    own, dialect = asked[name], DIALECTS[name]
    programs = own.programs[:200]
    exact = execute(programs, own.scenes, dialect=dialect)
    for row, soft in zip(exact, soft_execute(programs, Beliefs.certain(own.scenes), dialect)):
        np.testing.assert_array_equal(soft[row != UNDEFINED], row[row != UNDEFINED])


@every_dialect
def test_what_is_said_is_read_back(asked: dict[str, Asked], name: str) -> None:
    own, english, rng = asked[name], English(asked[name].families), np.random.default_rng(0)
    for program in own.programs:
        assert english.read(english.say(program, rng)) is program
    for program in own.programs[:: len(own.programs) // 60]:
        assert all(english.read(sentence) is program for sentence in english.forms(program))


@every_dialect
def test_no_pattern_has_two_shapes(asked: dict[str, Asked], name: str) -> None:
    for patterns in English(asked[name].families).patterns.values():
        assert len({pattern.family.shape for pattern in patterns}) == 1


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("count(filter[kind,field_mouse](filter[pattern,dotted](scene)))", "How many dotted field mice are there?"),
        ("exist(filter[kind,goose](scene))", "Are there any geese?"),
        ("query[colour](unique(filter[kind,wolf](scene)))", "What colour is the wolf?"),
        ("count(filter[colour,light blue](scene))", "How many light blue animals are there?"),
        (
            "exist(same[pattern](unique(filter[colour,blue](scene))))",
            "Are there any other animals that have the same pattern as the blue animal?",
        ),
    ],
)
def test_words_are_those_of_the_dialect(program: str, sentence: str) -> None:
    english = English(clevr_families(SPOKEN))
    term = SPOKEN.signature.parse(program)
    assert sentence in english.forms(term)
    assert english.read(sentence) is term


def test_all_words_of_a_dialect_are_read() -> None:
    english = English(clevr_families(SPOKEN))
    plain = english.read("How many plain wolves are there?")
    for text in ("How many patternless wolves are there", "How many plain grey wolves are there"):
        assert english.read(text) is plain
    assert english.read("how many creatures are there?") is english.read("how many animals are there?")
    with pytest.raises(UserError, match=r"⟨here⟩wolfs.*did you mean 'wolf'"):
        english.read("How many wolfs are there?")
    with pytest.raises(UserError, match="expected a name such as 'black plain cat'"):
        english.read("What pattern is the white?")
    with pytest.raises(UserError, match="names a colour twice"):
        english.read("How many blue light blue cats are there?")


@every_dialect
def test_programs_are_written_and_read(asked: dict[str, Asked], name: str) -> None:
    own, dialect = asked[name], DIALECTS[name]
    tokens = ProgramTokens(dialect)
    for program in own.programs[::9]:
        assert dialect.signature.parse(repr(program)) is program
        assert read_program(write_program(program), dialect) is program
        assert tokens.decode(tokens.encode(program)) is program


@every_dialect
def test_files_are_written_read_and_checked(asked: dict[str, Asked], name: str, tmp_path: Path) -> None:
    own, dialect = asked[name], DIALECTS[name]
    english, rng = English(own.families), np.random.default_rng(1)
    records = [
        QuestionRecord(
            english.say(program, rng),
            answer_text(program.head.out, answer, own.scenes.vocabulary),
            program,
            image_index=int(scene),
            family=own.families.recognise(program)[0].index,
        )
        for program, scene, answer in zip(own.programs[::4], own.scene[::4], own.answers[::4])
    ]
    write_questions(tmp_path / "questions.json", records)
    assert read_questions(tmp_path / "questions.json", dialect) == records
    bare = [QuestionRecord(r.question, r.answer, None, r.family, r.image_index) for r in records]
    write_questions(tmp_path / "bare.json", bare)
    write_scenes(tmp_path / "scenes.json", SceneFile.of(own.scenes))
    for file in ("questions.json", "bare.json"):
        assert check(tmp_path / "scenes.json", tmp_path / file, english.read, dialect).fine


@every_dialect
def test_the_strong_learner_knows_all_answers(asked: dict[str, Asked], name: str) -> None:
    own, dialect = asked[name], DIALECTS[name]
    said = strong_answers(own.programs, own.scenes, own.scene, dialect=dialect).argmax(axis=1)
    words = answers_of(dialect)
    right = [answer_text(p.head.out, a, own.scenes.vocabulary) for p, a in zip(own.programs, own.answers)]
    assert [words[i] for i in said] == right


@every_dialect
def test_tokens_run_as_programs_do(asked: dict[str, Asked], name: str) -> None:
    own, tokens = asked[name], ProgramTokens(DIALECTS[name])
    width = max(program.size for program in own.programs) + 2
    rows = np.array([tokens.encode(program, width)[1:] for program in own.programs], np.uint8)
    said = Runner.of(own.scenes, DIALECTS[name])(rows, own.scene)
    first = columns_of(DIALECTS[name])
    assert said.tolist() == [first[p.head.out] + answer for p, answer in zip(own.programs, own.answers)]


def test_a_trace_speaks_the_dialect() -> None:
    scenes = scattered(PETS, 1, Key(1))
    program = SPOKEN.signature.parse("count(filter[kind,goose](filter[pattern,plain](scene)))")
    lines = trace_text(program, scenes, 0, dialect=SPOKEN).splitlines()
    assert lines[1].startswith(("plain animals: none", "the plain animal: object", "the 2 plain animals: objects"))
    assert "plain geese: none" in lines[2] or "goose" in lines[2] or "geese" in lines[2]


def test_a_study_speaks_of_further_attributes(tmp_path: Path) -> None:
    wider = Vocabulary((*CLEVR_VOCABULARY, Attribute("pattern", ("plain", "striped"))))
    scale, world = ClevrScale("few", 12, 4, 4, questions=5), ClevrWorld(vocabulary=wider)
    study = ClevrPipeline(scale, 0, Store(tmp_path), world=world)
    table, english = read_table(study.questions_folder("train")), English(clevr_families(wider))
    assert any("striped" in text for text in table["question"].to_pylist())
    for text, program in zip(table["question"].to_pylist(), table["program"].to_pylist()):
        assert english.read(text) is read_program(json.loads(program), wider)
    same_words = ClevrPipeline(scale, 0, Store(tmp_path), world=world, dialect=Dialect.of(wider, how={}))
    plain = ClevrPipeline(scale, 0, Store(tmp_path))
    assert "dialect" not in plain.questions_recipe("train").parameters
    assert same_words.questions_recipe("train").digest != study.questions_recipe("train").digest


# ---- Categories ----


def test_a_category_lets_all_its_members_through() -> None:
    scenes = scattered(VEHICLES, 50, Key(8))
    car, *members = (
        DRIVEN.signature.parse(f"count(filter[shape,{word}](scene))") for word in ("car", "sedan", "wagon")
    )
    whole, *parts = execute([car, *members], scenes, dialect=DRIVEN)
    np.testing.assert_array_equal(whole, np.sum(parts, axis=0))
    assert "query[shape]" in DRIVEN.signature and DRIVEN.answers["shape"] == VEHICLES["shape"].values


def test_questions_use_categories_and_never_twice(asked: dict[str, Asked]) -> None:
    texts = [repr(program) for program in asked["vehicles"].programs]
    assert sum("filter[shape,car]" in text for text in texts) > 20
    assert sum("filter[shape,road]" in text for text in texts) > 20
    assert not any("filter[shape,car](filter[shape" in text for text in texts)
    assert not any("texture" in text for text in texts)


def test_categories_are_said() -> None:
    english = English(clevr_families(DRIVEN))
    program = DRIVEN.signature.parse("query[size](unique(filter[shape,bicycle](filter[color,red](scene))))")
    assert "What size is the red bicycle?" in english.forms(program)
    assert english.read("How many tandem bikes are there?") is DRIVEN.signature.parse(
        "count(filter[shape,tandem](scene))"
    )


# ---- Further functions and sorts: parts of things, as a benchmark that builds on this one would add them ----

PART_VOCABULARY = Vocabulary(
    (Attribute("color", VEHICLES["color"].values), Attribute("partname", ("left wheel", "fork", "roof")))
)
PARTS = Sort.of(
    PART_VOCABULARY,
    noun="partname",
    matched=(),
    bare=("part",),
    called={"partname": "name"},
    letter="P",
    one="part",
    many="parts",
    prefix="part",
)
PARTS_OF = Symbol("object2part", (), ("object",), "parts")
OWNER_OF = Symbol("part2object", (), ("part",), "object")
ONLY_PART = Symbol("unique_part", (), ("parts",), "part")
WITH_PARTS = Dialect(
    (DRIVEN.objects, PARTS),
    (PARTS_OF, OWNER_OF, ONLY_PART),
    acts={"object2part": "link", "part2object": "link", "unique_part": "unique"},
    spelled={"unique_part": "unique"},
    leads={"object2part": "the parts of {0.first}", "unique_part": "the only one"},
)


def parts_families() -> Families:
    """What is the color, or the name, of the one part of the one object."""
    found = []
    for index, attribute in enumerate(PARTS.asked):
        parts = Expr(ONLY_PART, (Expr(PARTS_OF, (one(EVERYTHING),)),))
        program = Expr(Symbol("partquery", (attribute,), ("part",), attribute), (parts,))
        frames = Frames(("what is the {asked} of the {x.name} of the D1",))
        found.append(Family(index, "part", "part", shape_of(program, WITH_PARTS), None, (), frames, dialect=WITH_PARTS))
    return Families(found)


class Parted(NamedTuple):
    """Scenes whose objects have two parts each; parts are numbered after the objects."""

    scenes: Scenes
    codes: np.ndarray  # uint8[n, parts, 2]

    @classmethod
    def of(cls, scenes: Scenes, key: Key) -> "Parted":
        sizes = [len(a.values) for a in PART_VOCABULARY]
        return cls(scenes, key.rng().integers(sizes, size=(len(scenes), 2 * scenes.places, 2)).astype(np.uint8))

    def look(self) -> Looked:
        seen, (n, k) = look(self.scenes, WITH_PARTS), (len(self.scenes), self.scenes.places)
        blank = np.full((n, 2 * k, seen.codes.shape[2]), 255, np.uint8)
        objects = np.concatenate([seen.codes, np.full((n, k, 2), 255, np.uint8)], axis=2)
        parts = np.concatenate([blank, self.codes], axis=2)
        links, bit = np.zeros((n, 2, 3 * k), np.uint64), np.uint64(1) << np.arange(3 * k, dtype=np.uint64)
        links[:, 0, :k] = bit[k : 3 * k : 2] | bit[k + 1 : 3 * k : 2]
        links[:, 1, k:] = np.repeat(bit[:k], 2)
        parts_of = np.stack([np.full(n, k), 2 * self.scenes.count.astype(int)], axis=1)
        spans = np.stack([seen.spans[:, 0], parts_of], axis=1)
        return Looked(spans, np.concatenate([objects, parts], axis=1), seen.beyond, links)


class PlainParts(Plainly):
    """The plain meaning, on one scene with parts; `codes` are those of its parts."""

    codes: np.ndarray

    def object2part(self, thing: int) -> set[int]:
        return {2 * thing, 2 * thing + 1}

    def partfilter(self, parts: set[int], attribute: str, value: str) -> set[int]:
        return {part for part in parts if self.partquery(part, attribute) == value}

    def unique_part(self, parts: set[int]) -> int:
        return self.unique(parts)

    def part2object(self, part: int) -> int:
        return part // 2

    def partquery(self, part: int, attribute: str) -> str:
        column = PARTS.attributes.index(attribute)
        return PART_VOCABULARY[attribute].values[self.codes[part, column]]


def test_a_benchmark_may_add_sorts_functions_families_and_meanings() -> None:
    scenes, families = scattered(VEHICLES, 60, Key(11)), parts_families()
    parted = Parted.of(scenes, Key(12))
    found = search(scenes, families, len(families), Key(13), Rules(), parted.look())
    assert len(found.scene) > 60
    english, rng, tokens = English(families), np.random.default_rng(2), ProgramTokens(WITH_PARTS)
    run, first = Runner(parted.look(), WITH_PARTS), columns_of(WITH_PARTS)
    for scene, f, answer, described, related in zip(
        found.scene, found.family, found.answer, found.described, found.related
    ):
        program = build(families[f], filling(families[f], described, related))
        plain = PlainParts.of(scenes, int(scene), WITH_PARTS)
        plain.codes = parted.codes[scene]
        assert fold(program, plain, {}) == WITH_PARTS.answers[program.head.out][answer]
        assert families.family_of(program) is families[f]
        assert english.read(english.say(program, rng)) is program
        nodes = write_program(program, dialect=WITH_PARTS)
        assert read_program(nodes, WITH_PARTS) is program
        assert sum(node["function"] == "unique" for node in nodes) == 2
        row = np.array([tokens.encode(program)[1:]], np.uint8)
        assert run(row, np.array([scene])).tolist() == [first[program.head.out] + answer]
    said = english.read("What is the name of the red part of the large car?")
    assert repr(said) == (
        "partquery[partname](unique_part(partfilter[color,red](object2part(unique(filter[shape,car]"
        "(filter[size,large](scene)))))))"
    )


class ExactParts(Exact):
    """A further function of the fast meaning."""

    def twin(self, thing: Known) -> Known:
        return self.same(thing, "color")


def test_a_further_function_runs_in_both_meanings() -> None:
    twin = Symbol("twin", (), ("object",), "objects")
    dialect = Dialect((DRIVEN.objects,), (twin,))
    program = dialect.signature.parse("count(twin(unique(filter[shape,jet](scene))))")
    usual = dialect.signature.parse("count(same[color](unique(filter[shape,jet](scene))))")
    scenes = scattered(VEHICLES, 30, Key(14))
    new, old = execute([program, usual], scenes, dialect=dialect, meaning=ExactParts)
    np.testing.assert_array_equal(new, old)
    assert read_program(write_program(program), dialect) is program


# ---- What is refused ----


def two(**more: object) -> Dialect:
    return Dialect.of(PETS, noun="kind", **more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Dialect.of(PETS, noun="shape"), "no attribute 'shape'|last of the attributes"),
        (lambda: two(asked=("size",)), "no attribute 'size'"),
        (lambda: two(attributes=("colour", "kind"), asked=("pattern",)), "'pattern' is asked about, but not among"),
        (lambda: two(attributes=("kind", "colour")), "the noun 'kind' is the last"),
        (lambda: two(categories={"kind": {"pet": ("cat",)}}), "every kind belongs to one category"),
        (lambda: clevr_families(Vocabulary(PETS.attributes[:1])), "at least two attributes"),
        (
            lambda: English(clevr_families(two(words={"black": ("dark",), "dotted": ("dark",)}))).read("What?"),
            "the word 'dark' is said of colour and black and of pattern and dotted",
        ),
        (
            lambda: signature(Vocabulary((*PETS, Attribute("number", ("one", "two"))))),
            "an attribute cannot be called number",
        ),
        (lambda: search(scattered(PETS, 2, Key(0)), CLEVR_FAMILIES, 1, Key(0)), "clevr_families"),
    ],
)
def test_what_cannot_be_spoken_is_refused(make, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()


# ---- By public names ----


def test_a_further_attribute_is_asked_about_by_public_names(own_home: Path) -> None:
    patterned = Vocabulary((*CLEVR_VOCABULARY, Attribute("pattern", ("striped", "dotted", "plain"))))
    program = rc.read("What pattern is the big red block?", patterned)
    said = rc.say(program, Key(0).rng(), patterned)
    assert "pattern" in repr(program) and rc.read(said, patterned) is program
    with pytest.raises(UserError, match="the word 'pattern' is not known"):
        rc.read("What pattern is the big red block?")
    with rc.Clevr(
        ClevrScale("few", 20, 20, 20, 5), world=ClevrWorld(vocabulary=patterned), store=Store(own_home)
    ) as own:
        families, found = clevr_families(patterned), own.questions()
        assert len(own.list().rows) == len(families) > 90
        asks = next(family for family in families if family.final == "query_pattern")
        assert all(one.answer in patterned["pattern"].values for one in own.questions(str(asks.index)))
        assert any("pattern" in one.text for one in found)
