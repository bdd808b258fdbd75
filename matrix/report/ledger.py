"""The ledger: planned = passed + failed + skipped(by reason), and it must add up."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from matrix.run.verdict import FAILED, NOT_RUN, PASSED, SKIPPED


@dataclass
class Entry:
    """What is known of one planned cell: verdict, skip reason or failure kinds, whether the run came to it, and the
    result's JSON form."""

    verdict: str
    reason: str = ""
    kinds: tuple[str, ...] = ()
    reached: bool = True
    result: dict[str, Any] = field(default_factory=dict)


@dataclass
class Ledger:
    """Planned cells in order, and an entry for each that has ended. ``shard`` is I/N when it is of a part of a run."""

    shard: str = ""
    planned: dict[str, None] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)

    def plan(self, cell_ids: list[str]) -> None:
        """Add planned cells; naming one twice (two xdist workers) changes nothing."""
        self.planned |= dict.fromkeys(cell_ids)

    def record(self, cell_id: str, entry: Entry) -> None:
        """Note the end of a cell. A failure is never overwritten by a later pass."""
        self.planned.setdefault(cell_id)
        old = self.entries.get(cell_id)
        if old is None or old.verdict != FAILED:
            self.entries[cell_id] = entry

    def close(self) -> list[str]:
        """Count every planned cell that has not ended as failed(not-run) and return their ids."""
        missing = [cell_id for cell_id in self.planned if cell_id not in self.entries]
        for cell_id in missing:
            self.entries[cell_id] = Entry(FAILED, kinds=(NOT_RUN,), reached=False)
        return missing

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by verdict."""
        counted = Counter(entry.verdict for entry in self.entries.values())
        return {verdict: counted[verdict] for verdict in (PASSED, FAILED, SKIPPED)}

    @property
    def reasons(self) -> dict[str, int]:
        """Number of skipped cells by reason code."""
        return dict(Counter(e.reason for e in self.entries.values() if e.verdict == SKIPPED).most_common())

    @property
    def kinds(self) -> dict[str, int]:
        """Number of failed cells by the kind of their first failure."""
        return dict(Counter(e.kinds[0] for e in self.entries.values() if e.verdict == FAILED and e.kinds).most_common())

    def line(self) -> str:
        """``ledger: planned 12 = 10 passed + 1 failed (crash 1) + 1 skipped (qemu-cannot-express 1)``; of a shard
        ``ledger: shard 1 of 3: planned ...``."""

        def some(counted: dict[str, int]) -> str:
            return f" ({', '.join(f'{name} {number}' for name, number in counted.items())})" if counted else ""

        counts = self.counts
        part = "shard {} of {}: ".format(*self.shard.split("/")) if self.shard else ""
        return (
            f"ledger: {part}planned {len(self.planned)} = {counts[PASSED]} passed"
            f" + {counts[FAILED]} failed{some(self.kinds)} + {counts[SKIPPED]} skipped{some(self.reasons)}"
        )

    @property
    def balanced(self) -> bool:
        """Whether planned = passed + failed + skipped."""
        return len(self.planned) == sum(self.counts.values())
