"""The functions: each runs the program once."""

from __future__ import annotations

from typing import List, Optional, Sequence, Union

from . import program as _program
from .program import Defines, FabiusError, Source
from .results import Executions, Report, Run, Schedule


def check(
    file: Optional[Source] = None,
    *,
    text: Optional[str] = None,
    defines: Optional[Defines] = None,
    ltl: Union[str, Sequence[str]] = (),
    properties: Sequence[str] = (),
    fairness: Optional[str] = None,
    timeout: Optional[float] = None,
    max_states: Optional[int] = None,
    max_memory: Optional[int] = None,
    flags: Sequence[str] = (),
    program: Optional[Source] = None,
) -> Report:
    """Checks a model: assertions, deadlocks, runtime errors, infinite runs, formulas.

    ``ltl`` are further formulas, ``properties`` names or kinds to check instead of all, ``fairness`` is ``"none"``,
    ``"weak"`` or ``"strong"``, and ``flags`` are passed on to ``fabius check`` as they are.
    """
    arguments = ["check", *_program.model(file, text, defines), "--json"]
    for formula in [ltl] if isinstance(ltl, str) else ltl:
        arguments += ["--ltl", formula]
    for name in properties:
        arguments += ["--property", name]
    if fairness is not None:
        arguments += ["--fairness", fairness]
    arguments += _program.limits(timeout, max_states, max_memory) + list(flags)
    return Report.of(_program.document(_program.run(arguments, program, text, timeout)))


def schedule(
    file: Optional[Source] = None,
    *,
    text: Optional[str] = None,
    defines: Optional[Defines] = None,
    waits: Optional[int] = None,
    timeout: Optional[float] = None,
    max_states: Optional[int] = None,
    max_memory: Optional[int] = None,
    program: Optional[Source] = None,
) -> Schedule:
    """Looks for a schedule under which a model is safe: the fewest waits that avoid its errors and deadlocks."""
    arguments = ["schedule", *_program.model(file, text, defines), "--json"]
    arguments += [] if waits is None else ["--waits", str(waits)]
    arguments += _program.limits(timeout, max_states, max_memory)
    return Schedule.of(_program.document(_program.run(arguments, program, text, timeout)))


def executions(
    file: Optional[Source] = None,
    *,
    text: Optional[str] = None,
    defines: Optional[Defines] = None,
    listed: int = 0,
    within: Optional[int] = None,
    timeout: Optional[float] = None,
    max_states: Optional[int] = None,
    max_memory: Optional[int] = None,
    program: Optional[Source] = None,
) -> Executions:
    """Counts the executions of a model up to the order of independent steps, and lists the first ``listed``.

    ``within`` is the number of steps after which executions are cut off, for models that go on for ever.
    """
    arguments = ["executions", *_program.model(file, text, defines), "--json"]
    arguments += ["--list", str(listed)] if listed else []
    arguments += [] if within is None else ["--within", str(within)]
    arguments += _program.limits(timeout, max_states, max_memory)
    return Executions.of(_program.document(_program.run(arguments, program, text, timeout)))


def simulate(
    file: Optional[Source] = None,
    *,
    text: Optional[str] = None,
    defines: Optional[Defines] = None,
    steps: int = 50,
    seed: int = 0,
    timeout: Optional[float] = None,
    max_memory: Optional[int] = None,
    program: Optional[Source] = None,
) -> Run:
    """Draws one run of at most ``steps`` steps; the same seed gives the same run."""
    arguments = ["executions", *_program.model(file, text, defines), "--json"]
    arguments += ["--within", str(steps), "--sample", "1", "--seed", str(seed)]
    arguments += _program.limits(timeout, None, max_memory)
    drawn = Executions.of(_program.document(_program.run(arguments, program, text, timeout)))
    if not drawn.runs:
        raise FabiusError(f"no run was drawn: {drawn.reason}")
    return drawn.runs[0]


def explain(code: str, *, program: Optional[Source] = None) -> str:
    """What a code such as F0602 means, as a text with an example."""
    arguments: List[str] = ["explain", code]
    done = _program.run(arguments, program, None, None)
    if done.returncode != 0:
        raise FabiusError(done.stderr.strip())
    return done.stdout
