"""What one QEMU was seen to do with each CPU string; filled by matrix.sandbox.abilities, read by the plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CpuAbility:
    """One CPU string tried: whether it starts without a warning, and which capabilities' probe instructions run."""

    starts: bool
    executes: frozenset[str] = frozenset()
    note: str = ""


@dataclass(frozen=True)
class Abilities:
    """What was probed, by (qemu program, CPU string) or (architecture, ``native``), and each qemu program's version."""

    cpus: Mapping[tuple[str, str], CpuAbility] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    """Targets of a profile whose own compiler is not there."""
