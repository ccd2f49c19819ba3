"""Running the program, and reading what it prints."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from .results import Finding

Source = Union[str, "os.PathLike[str]"]
Defines = Mapping[str, Union[str, int]]

#: Seconds that the program may take beyond the time that it was given, to say what it knows.
GRACE = 30.0


class FabiusError(Exception):
    """The model cannot be read, or the program cannot be run or has failed."""

    def __init__(self, message: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings: List[Finding] = list(findings)


def find(program: Optional[Source]) -> str:
    """The program: as given, as the variable FABIUS says, or on the PATH."""
    chosen = os.fspath(program) if program is not None else os.environ.get("FABIUS") or shutil.which("fabius")
    if not chosen:
        raise FabiusError("fabius was not found: put it on the PATH, or name it in the variable FABIUS")
    return chosen


def limits(timeout: Optional[float], max_states: Optional[int], max_memory: Optional[int]) -> List[str]:
    """Flags for what the program may use."""
    flags: List[str] = []
    if timeout is not None:
        flags += ["--timeout", f"{max(1, round(timeout * 1000))}ms"]
    if max_states is not None:
        flags += ["--max-states", str(max_states)]
    if max_memory is not None:
        flags += ["--max-memory", str(max_memory)]
    return flags


def model(file: Optional[Source], text: Optional[str], defines: Optional[Defines]) -> List[str]:
    """Arguments that name a model: a file, or `-` for a text on standard input."""
    if (file is None) == (text is None):
        raise ValueError("give either a file or text=")
    name = "-" if file is None else os.fspath(file)
    # A name that begins with a dash is not to be taken for a flag.
    name = os.path.join(".", name) if name.startswith("-") and name != "-" else name
    return [name] + [f"-D{key}={value}" for key, value in (defines or {}).items()]


def run(
    arguments: Sequence[str], program: Optional[Source], text: Optional[str], timeout: Optional[float]
) -> "subprocess.CompletedProcess[str]":
    """Runs the program; it gets `text` on standard input."""
    command = [find(program), *arguments]
    wait = None if timeout is None else timeout + GRACE
    try:
        return subprocess.run(
            command, input=text or "", capture_output=True, encoding="utf-8", errors="replace", timeout=wait, check=False
        )
    except subprocess.TimeoutExpired:
        raise FabiusError(f"{command[0]} did not end {GRACE:.0f} s after its time") from None
    except OSError as error:
        raise FabiusError(f"{command[0]} cannot be run: {error}") from None


def document(done: "subprocess.CompletedProcess[str]") -> Dict[str, Any]:
    """The JSON document that the program printed."""
    try:
        read = json.loads(done.stdout)
    except ValueError:
        read = None
    said = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
    if not isinstance(read, dict):
        raise FabiusError(said)
    if read.get("internal_error"):
        raise FabiusError(str(read["internal_error"]))
    if read.get("verdict") == "faulty":
        findings = [Finding.of(one) for one in read.get("findings", [])]
        errors = [one for one in findings if one.severity == "error"]
        raise FabiusError("; ".join(str(one) for one in errors) or said, findings)
    if done.returncode >= 3:
        raise FabiusError(said)
    return read
