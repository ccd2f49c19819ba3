"""What the program says, as typed data. `data` of a result is the JSON that it was made of."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from . import html

Json = Dict[str, Any]


class Verdict(str, enum.Enum):
    """What is known of a property."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Finding:
    """Something about the text of a model."""

    code: str
    severity: str
    message: str
    file: str
    line: int
    column: int
    help: List[str]

    @classmethod
    def of(cls, data: Json) -> "Finding":
        return cls(
            code=data["code"], severity=data["severity"], message=data["message"], file=data["file"], line=data["line"],
            column=data["column"], help=list(data["help"]),
        )

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        return f"{place}{self.code}: {self.message}"


@dataclass(frozen=True)
class Change:
    """A variable or channel that a step changed."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class Step:
    """A step of a run."""

    number: int
    process: str
    pid: int
    file: str
    line: int
    column: int
    text: str
    changes: List[Change]
    data: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Json) -> "Step":
        changes = [Change(one["name"], one["old"], one["new"]) for one in data["changes"]]
        return cls(
            number=data["step"], process=data["process"], pid=data["pid"], file=data["file"], line=data["line"],
            column=data["column"], text=data["text"], changes=changes, data=data,
        )


@dataclass(frozen=True)
class Blocked:
    """A process that waits at the end of a run, and why."""

    process: str
    pid: int
    line: int
    reasons: List[str]

    @classmethod
    def of(cls, data: Json) -> "Blocked":
        reasons = [f"{one['text']}: {one['reason']}" for one in data["waiting"]]
        return cls(data["process"], data["pid"], data["line"], reasons)


@dataclass(frozen=True)
class Violation:
    """A way in which a property is violated, with a run that shows it."""

    kind: str
    message: str
    file: str
    line: int
    column: int
    trace: List[Step]
    loop_start: Optional[int]
    blocked: List[Blocked]
    explanation: List[Any]
    advice: Optional[str]
    data: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Json) -> "Violation":
        return cls(
            kind=data["kind"], message=data["message"], file=data["file"], line=data["line"], column=data["column"],
            trace=[Step.of(one) for one in data["trace"]], loop_start=data.get("loop_start"),
            blocked=[Blocked.of(one) for one in data["blocked"]], explanation=list(data["explanation"]),
            advice=data["advice"], data=data,
        )

    def _repr_html_(self) -> str:
        return html.violation(self)


@dataclass(frozen=True)
class Property:
    """A property, and what is known of it."""

    name: str
    kind: str
    verdict: Verdict
    exhaustive: bool
    reason: str
    states: int
    seconds: float
    violations: List[Violation]
    data: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Json) -> "Property":
        return cls(
            name=data["name"], kind=data["kind"], verdict=Verdict(data["verdict"]), exhaustive=data["exhaustive"],
            reason=data["reason"], states=data["states"], seconds=data["seconds"],
            violations=[Violation.of(one) for one in data["violations"]], data=data,
        )


@dataclass(frozen=True)
class Report:
    """What a check says of a model."""

    file: str
    verdict: Verdict
    exhaustive: bool
    reason: str
    properties: List[Property]
    findings: List[Finding]
    data: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Json) -> "Report":
        return cls(
            file=data["file"], verdict=Verdict(data["verdict"]), exhaustive=data["exhaustive"], reason=data["reason"],
            properties=[Property.of(one) for one in data["properties"]],
            findings=[Finding.of(one) for one in data["findings"]], data=data,
        )

    @property
    def violations(self) -> List[Violation]:
        """The violations of all properties."""
        return [violation for one in self.properties for violation in one.violations]

    def __bool__(self) -> bool:
        """Whether every property holds."""
        return self.verdict is Verdict.HOLDS

    def _repr_html_(self) -> str:
        return html.report(self)


@dataclass(frozen=True)
class Schedule:
    """Whether a scheduler can avoid the errors of a model, and how."""

    verdict: str
    reason: str
    waits: List[str]
    data: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Json) -> "Schedule":
        waits = [one["text"] for one in data.get("waits", [])]
        return cls(data["verdict"], data["reason"], waits, data)

    def _repr_html_(self) -> str:
        return html.schedule(self)


@dataclass(frozen=True)
class Run:
    """A run of a model; ``ends`` says how: ``ok``, ``stuck``, ``cut`` and the like."""

    ends: str
    failed: bool
    steps: List[Step]
    data: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Json) -> "Run":
        return cls(data["ends"], data["failed"], [Step.of(one) for one in data["steps"]], data)

    def _repr_html_(self) -> str:
        return html.run(self)


@dataclass(frozen=True)
class Executions:
    """How many executions a model has up to the order of independent steps; ``None`` is not known."""

    total: Optional[int]
    failing: Optional[int]
    stuck: Optional[int]
    exhaustive: bool
    reason: str
    runs: List[Run]
    data: Json = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Json) -> "Executions":
        # They are texts in the document, since they can be greater than JSON's numbers.
        number = {key: None if data[key] is None else int(data[key]) for key in ("executions", "failing", "stuck")}
        runs = [Run.of(one) for one in data["list"] if "steps" in one]
        return cls(
            number["executions"], number["failing"], number["stuck"], data["exhaustive"], data.get("reason", ""), runs, data
        )
