"""Check Promela models with Fabius, and see counterexamples in a notebook."""

from .api import check, executions, explain, schedule, simulate
from .program import FabiusError
from .results import (
    Blocked,
    Change,
    Executions,
    Finding,
    Property,
    Report,
    Run,
    Schedule,
    Step,
    Verdict,
    Violation,
)

__all__ = [
    "Blocked", "Change", "Executions", "FabiusError", "Finding", "Property", "Report", "Run", "Schedule", "Step",
    "Verdict", "Violation", "check", "executions", "explain", "schedule", "simulate",
]
