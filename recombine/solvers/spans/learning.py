"""Learning by counting, as a run: a step is a round over all questions, and after each there is a checkpoint."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from time import monotonic, process_time

from recombine.solvers.spans.span_parser import Rounds, SpanParser
from recombine.solvers.training import checkpoint
from recombine.solvers.training.interrupts import deferred
from recombine.solvers.training.loop import Progress, Watch
from recombine.solvers.training.run import Run
from recombine.solvers.training.settings import Training, ValidationState

Validate = Callable[[SpanParser], Mapping[str, float]]


def learn(rounds: Rounds, training: Training, run: Run, validate: Validate, watch: Watch) -> None:
    """Count to the end, from the last checkpoint of the run if it has one."""
    parser, steps = rounds.parser, training.steps or 1
    with run.alone():
        step, validated = 0, ValidationState()
        run.need_room(sum(buffer.nbytes for buffer in parser.buffers()))
        if run.last.exists():
            state = checkpoint.load(run.last, run.identity)
            with checkpoint.sound(run.last):
                parser.load_state_dict(state["network"])
                step, validated = state["step"], ValidationState(**state["standing"])
        run.begin(step)
        if step >= steps:
            return
        run.write_sitting({"device": "cpu", "threads": 1, "precision": "float64"})
        spent, began, first = run.spent(), (monotonic(), process_time()), step
        with deferred() as asked:
            while step < steps and not asked:
                lost = rounds.count(first=step == 0)
                step += 1
                found = dict(validate(parser))
                validated = validated.after(found, step, training)
                state = {"network": parser.state_dict(), "standing": asdict(validated)}
                wall, cpu = spent[0] + monotonic() - began[0], spent[1] + process_time() - began[1]
                measured = {"loss": lost, **{f"validation/{name}": value for name, value in found.items()}}
                run.measure(step, step - 1, wall, cpu, measured)
                if validated.best_step == step:
                    checkpoint.save(run.best, state, run.identity)
                run.write_metrics()
                run.write_spent(step, wall, cpu)
                checkpoint.save(run.last, {**state, "step": step}, run.identity)
                each = (monotonic() - began[0]) / (step - first)
                watch(Progress(step, steps, step - 1, lost, found, each))
