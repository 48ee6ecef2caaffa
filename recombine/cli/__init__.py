"""The command line. A command takes the options of its verb and of the benchmark it is about, and no others."""

import errno
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from recombine import __version__, benchmarks
from recombine.benchmarks.subjects import SUBJECTS, subject
from recombine.cli.options import Option, command, options_of
from recombine.store.errors import LONGEST, UserError
from recombine.store.text import console, one_line, shortened
from recombine.verbs import VERBS, Answer, Verb

out_console, note_console = console(), console(stderr=True)
JSON = Option("json", "Print JSON for machines.", bool, False, False, False)
ENGINE = Option(
    "engine", "processes, slurm or ray, with settings after a colon: docs/cluster.md.", str, False, False, ""
)
ABOUT = {
    "list": "A benchmark whose splits are listed. Default: the benchmarks.",
    "check": "A benchmark, such as curi; none with --certificate.",
    "show": "A benchmark and a split, such as curi/boolean or clevr/one_hop.",
    "eval": "A benchmark, or the folder of a run.",
    "report": f"A benchmark, such as curi; or {', '.join(SUBJECTS)}.",
    "weights": "The folder of a run.",
    "export": "The tool: lmms-eval, vlmevalkit, trl, verl, ms-swift or verifiers.",
    "push": "A folder made with --out, or an artefact of the store: STAGE/DIGEST.",
    "pull": "The place that it was pushed to.",
    "render": "A folder made by recombine make with --out, or a scene file (.json).",
}


def app_for(words: Sequence[str]) -> typer.Typer:
    """The program, with the whole command that these words are about; of the others, the name and what they do."""
    app = typer.Typer(
        name="recombine",
        help="Build, measure and close compositional-generalisation gaps.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback(invoke_without_command=True)(_version)
    for name, verb in VERBS.items():
        made = _command(name, verb, words[1:]) if words[:1] == [name] else _named(verb.help)
        app.command(name, epilog=f"Example: [b]recombine {_example(verb, words)}[/b]")(made)
    for benchmark in benchmarks.every():
        for name, help in benchmark.commands.items():
            if words[:1] != [name]:
                app.command(name)(_named(help))
                continue
            run = benchmark.part(f"commands:{name}")
            app.command(name, epilog=f"Example: [b]{run.__doc__}[/b]")(_own_command(run, help))
    return app


def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        out_console.print(__version__)
        raise typer.Exit


def _example(verb: Verb, words: Sequence[str]) -> str:
    """An example of a verb, about the benchmark that the words name."""
    benchmark = _benchmark_in(words[1:])
    if benchmark is None or re.search(rf"\b{benchmark.name}\b", verb.example):
        return verb.example
    plain = re.sub(r" --(?!out\b)\S+( (?!-)\S+)?", "", verb.example)  # another benchmark may lack its options
    named = rf"\b({'|'.join(benchmarks.names())})(/\w+)?\b"
    return re.sub(named, lambda found: benchmark.name + (f"/{benchmark.example}" if found[2] else ""), plain)


def _named(help: str) -> Callable[[], None]:
    def called() -> None: ...

    called.__doc__ = help
    return called


def _command(name: str, verb: Verb, words: Sequence[str]) -> Callable[..., Any]:
    """A verb with the options of the benchmark that the words name."""
    run = import_module(f"recombine.verbs.{name}").run
    own, benchmark = options_of(run, words=True), _benchmark_in(words)
    method: dict[str, Option] = {}
    study: dict[str, Option] = {}
    if hasattr(run, "options"):  # of its own, by the benchmark
        method = {name: one for source in run.options(benchmark) for name, one in options_of(source).items()}
    elif name == "report" and (about := next((word for word in words if word in SUBJECTS), None)):
        benchmark, method, study = None, options_of(subject(about).report), {}
    elif verb.method and (benchmark or name not in ("list", "eval")):  # these are also about no benchmark, or a run
        kind = benchmark.study if benchmark else import_module("recombine.benchmarks.study").Study
        method = options_of(getattr(kind, verb.method))
        taken = {flag for one in method.values() for flag in (one.flag, *one.flags)}
        study = {name: one for name, one in options_of(kind).items() if name not in method and one.flag not in taken}

    def called(given: dict[str, Any]) -> None:
        as_json, what, said = given.pop("json"), given.pop("what", None), given.pop("engine", "")
        asked, made, rest = (
            {name: option.value(given[name]) for name, option in options.items()} for options in (method, study, own)
        )
        with _bars() as bars:
            for some in (asked, made, rest):
                if said and "workers" in some:
                    some["workers"] = engine_named(said, some["workers"], bars)
            if verb.method:
                answer = run(what, _opener(what, benchmark, made, bars), asked, **rest)
            else:
                answer = run(what, asked, bars, **rest)
        _say(answer, as_json)

    if benchmark:
        own, method = ({name: one.about(benchmark.study.unit) for name, one in some.items()} for some in (own, method))
    engines = [ENGINE] if "workers" in {*own, *method, *study} else []
    options = iter([*own.values(), *method.values(), *study.values(), *engines, JSON])
    return command(called, options, _argument(name), verb.help)


def engine_named(said: str, workers: int, progress: Any) -> Any:
    """The engine that was asked for; opened only then, for most commands need none but processes."""
    from recombine.store.cluster import engine_named

    return engine_named(said, workers, progress)


def _need_run(words: Sequence[str]) -> None:
    """Refuse words that name neither a benchmark nor a folder, before their options are."""
    what = next((word for word in words if not word.startswith("-")), None)
    if what is not None and not Path(what).exists():
        known = ", ".join(benchmarks.names())
        raise UserError(f"there is no benchmark and no folder '{what}'; choose {known}, or a run")


def _argument(name: str) -> Parameter | None:
    if name in ("demo", "explore", "store"):
        return None
    optional = name in ("list", "check")  # of these, check can also be about a folder
    default = None if optional else Parameter.empty
    said = typer.Argument(help=ABOUT.get(name, "A benchmark, such as curi."), metavar="WHAT")
    one: Any = str | None if optional else str
    kind = Annotated[one, said]
    return Parameter("what", Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)


def _own_command(run: Callable[..., Any], help: str) -> Callable[..., Any]:
    """A command that one benchmark brings."""
    options = options_of(run, words=True)

    def called(given: dict[str, Any]) -> None:
        as_json = given.pop("json")
        values = {name: options[name].value(value) if name in options else value for name, value in given.items()}
        with _bars() as bars:
            answer = run(**values, progress=bars)
        _say(answer, as_json)

    return command(called, iter([*options.values(), JSON]), None, help)


def _benchmark_in(words: Sequence[str]) -> benchmarks.Benchmark | None:
    """The benchmark that a command names: the first word that is one, or else the first that is no option."""
    first = [word.partition("/")[0] for word in words]
    found = next((word for word in first if word in benchmarks.names()), None)
    return benchmarks.get(found) if found else None


def _opener(
    what: str | None, benchmark: benchmarks.Benchmark | None, made: Mapping[str, Any], bars: Any
) -> Callable[..., Any]:
    """Opens the study that was asked for."""

    def opened(named: str | None = None, **instead: Any) -> Any:
        if what in SUBJECTS and benchmark is None:
            return subject(str(what))(progress=bars)
        known = benchmark if benchmark and not named else benchmarks.get(named or str(what).partition("/")[0])
        given = {name: value for name, value in {**made, **instead}.items() if value not in (None, (), {})}
        return known.study(**given, progress=bars)

    return opened


def _say(answer: Answer, as_json: bool) -> None:
    if as_json:
        print(json.dumps(answer.data, indent=1))
    else:
        for one in answer.shown:
            out_console.print(Text(one) if isinstance(one, str) else one, soft_wrap=isinstance(one, str))
    for note in answer.notes:
        note_console.print(Text(note), soft_wrap=True)
    if answer.code:
        raise typer.Exit(answer.code)


@contextmanager
def _bars() -> Iterator[Any]:
    from recombine.store.progress import Bars

    with Bars(note_console) as bars:
        yield bars


INTERRUPTED = 130
OUT_OF_MEMORY = re.compile("MemoryError|can't allocate memory|out of memory")
ADVICE = {errno.ENOSPC: "free some room", errno.EACCES: "mend the permissions", errno.EPERM: "mend the permissions"}


def main() -> None:
    """Run the command line: 0 done, 1 a check failed, 2 bad input, 130 interrupted."""
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        code = _code()
    finally:
        signal.signal(signal.SIGTERM, before)
    if code == INTERRUPTED:
        note_console.print("Stopped; the same command goes on from here.")
    sys.exit(code)


def _stop(number: int, frame: object) -> None:
    """Who is asked to end does so as after Ctrl-C: in good order, and the workers too."""
    raise KeyboardInterrupt


def _code() -> int:
    """Run a command and tell how it ended."""
    try:
        if sys.argv[1:2] == ["eval"] and _benchmark_in(sys.argv[2:]) is None:
            _need_run(sys.argv[2:])
        return app_for(sys.argv[1:])(standalone_mode=False) or 0
    except UserError as error:
        return _fail(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        advice = ADVICE.get(error.errno or 0, "choose another path")
        return _fail(f"{error.strerror or error}{where}; {advice}, then run it again")
    except (KeyboardInterrupt, typer.Abort) as stop:
        if isinstance(stop.__cause__, EOFError):  # Typer takes the end of any file for the end of what a user types
            raise stop.__cause__ from None
        return INTERRUPTED
    except Exception as error:
        said = _in_words(error)
        if said is None:
            raise
        return _fail(said) if said else 0


def _in_words(error: Exception) -> str | None:
    """What a user can do about an error; nothing for a bug of ours."""
    if isinstance(error, MemoryError | RuntimeError) and OUT_OF_MEMORY.search(f"{type(error).__name__} {error}"):
        return "there is not enough memory for this; use fewer --workers, or a smaller --scale, --batch or --size"
    # Typer's own complaints about the words of a command know how to say themselves.
    say = getattr(error, "format_message", None)
    return say() if say else None


def _fail(message: str) -> int:
    said = one_line(shortened(message, LONGEST))
    note_console.print(f"Error: {said}", style="red", markup=False, highlight=False, soft_wrap=True)
    return 2
