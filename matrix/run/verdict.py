"""Verdicts: what became of a cell, and what is known of each of its failures."""

from dataclasses import dataclass, field
from typing import Any

from matrix.cases.case import Case
from matrix.plain import plain_line, plain_values

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
WRONG_ANSWER = "wrong-answer"
CRASH = "crash"
TIMEOUT = "timeout"
BUILD = "build"
WRONG_VARIANT = "wrong-variant"
MASK_INEFFECTIVE = "mask-ineffective"
VIOLATION = "violation"
NOT_TRAPPED = "not-trapped"
PROTOCOL = "protocol"
UNRELIABLE = "unreliable"
NOT_RUN = "not-run"
BY_THE_KERNEL = (WRONG_ANSWER, CRASH, TIMEOUT, VIOLATION)
"""What a kernel does in a run; the others are about builds, masks and plans."""
KINDS = (
    WRONG_ANSWER,
    CRASH,
    TIMEOUT,
    BUILD,
    WRONG_VARIANT,
    MASK_INEFFECTIVE,
    VIOLATION,
    NOT_TRAPPED,
    PROTOCOL,
    UNRELIABLE,
    NOT_RUN,
)
"""Kinds of failure. Every failed cell has one."""


@dataclass
class Failure:
    """One failure of a cell. ``case`` is empty when it concerns the cell as a whole.

    ``summary`` is one line for people; ``details`` holds more of it as JSON values; ``input`` is the case itself. With
    ``needs_cell`` the case alone does not fail: only the whole cell shows it again. With ``slow`` it took seconds.
    """

    kind: str
    summary: str
    case: str = ""
    placement: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    input: Case | None = None
    needs_cell: bool = False
    slow: bool = False

    def as_json(self) -> dict[str, Any]:
        """The form of journal, failure file and report, in which all text is safe to show."""
        return {
            "kind": self.kind,
            "case": self.case,
            "placement": self.placement,
            "summary": plain_line(self.summary),
            "details": plain_values(self.details),
        }


@dataclass
class CellResult:
    """What a cell did: how many cases ran (each in how many placements), how many were skipped by reason, failures.

    ``stopped`` says why the cell gave up early and how many cases it left out, '' when it came to its end.
    """

    id: str
    cases: int = 0
    runs: int = 0
    skipped_cases: dict[str, int] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    entered: dict[str, int] = field(default_factory=dict)
    detected: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    stopped: str = ""

    @property
    def verdict(self) -> str:
        """``passed`` or ``failed``. A cell that ran nothing has failed."""
        return FAILED if self.failures else PASSED

    def as_json(self) -> dict[str, Any]:
        """The journal's form, without the failures' inputs."""
        return {
            "id": self.id,
            "verdict": self.verdict,
            "cases": self.cases,
            "runs": self.runs,
            "skipped_cases": self.skipped_cases,
            "failures": [failure.as_json() for failure in self.failures],
            "entered": self.entered,
            "detected": self.detected,
            "facts": self.facts,
            "seconds": round(self.seconds, 4),
            "stopped": self.stopped,
        }
