"""Results as HTML for a notebook: everything that comes from a model is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, List, Optional

if TYPE_CHECKING:
    from .results import Property, Report, Run, Schedule, Step, Violation

_COLOURS = {"holds": "#2e7d32", "violated": "#c62828", "undecided": "#b26a00"}


def _verdict(verdict: str) -> str:
    return f'<b style="color:{_COLOURS.get(verdict, "inherit")}">{escape(verdict)}</b>'


def _table(head: List[str], rows: List[List[str]]) -> str:
    cells = "".join(f'<th style="text-align:left">{escape(one)}</th>' for one in head)
    lines = "".join("<tr>" + "".join(f'<td style="text-align:left">{one}</td>' for one in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def steps(trace: List["Step"], loop_start: Optional[int] = None) -> str:
    """A run as a table with a column for each process."""
    lanes = list(dict.fromkeys((one.pid, one.process) for one in trace))
    head = ["#", "line", *(f"{process} {pid}" for pid, process in lanes), "changes"]
    rows = []
    for one in trace:
        mark = "↻ " if one.number == loop_start else ""
        changes = ", ".join(f"{escape(c.name)}: {escape(c.old)} → {escape(c.new)}" for c in one.changes)
        text = f"<code>{escape(one.text)}</code>"
        lane = [text if (one.pid, one.process) == this else "" for this in lanes]
        rows.append([mark + str(one.number), str(one.line), *lane, changes])
    return _table(head, rows)


def violation(one: "Violation") -> str:
    """A violation with its run and who waits at the end."""
    loop = "" if one.loop_start is None else f"<p>The loop begins at step {one.loop_start}.</p>"
    waiting = [
        f"<li>{escape(b.process)} {b.pid} waits at line {b.line}: {escape('; '.join(b.reasons))}</li>" for b in one.blocked
    ]
    blocked = f"<ul>{''.join(waiting)}</ul>" if waiting else ""
    advice = f"<p>{escape(one.advice)}</p>" if one.advice else ""
    place = f"{escape(one.file)}:{one.line}"
    return f"<p><b>{escape(one.message)}</b> ({place})</p>{steps(one.trace, one.loop_start)}{loop}{blocked}{advice}"


def _property(one: "Property") -> str:
    return "".join(f"<details><summary>{escape(v.message)}</summary>{violation(v)}</details>" for v in one.violations)


def report(one: "Report") -> str:
    """All properties with their verdicts, and what violates them."""
    rows = [[escape(p.name), _verdict(p.verdict.value), escape(p.reason), f"{p.states:,}"] for p in one.properties]
    table = _table(["property", "verdict", "why", "states"], rows)
    return f"<p>{escape(one.file)}: {_verdict(one.verdict.value)}</p>{table}{''.join(map(_property, one.properties))}"


def schedule(one: "Schedule") -> str:
    """Whether errors can be avoided, and by which waits."""
    waits = "".join(f"<li>{escape(wait)}</li>" for wait in one.waits)
    return f"<p><b>{escape(one.verdict)}</b>: {escape(one.reason)}</p><ul>{waits}</ul>"


def run(one: "Run") -> str:
    """A run and how it ends."""
    failed = ", with an error" if one.failed else ""
    return f"{steps(one.steps)}<p>ends: {escape(one.ends)}{failed}</p>"
