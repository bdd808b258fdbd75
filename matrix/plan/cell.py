"""A cell: one row of plan, ledger and journal, and the words that it is made of."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal

from matrix.model.catalog import OURS
from matrix.model.mask import Mask


class Enforcement(StrEnum):
    """How a guest is kept from the capabilities that the mask does not hold."""

    HARD = "hard"
    """The emulated CPU has exactly those of the mask; nothing is told to the worker."""
    SOFT = "soft"
    """The mask is told to the worker on the richest emulated CPU."""
    NATIVE = "native"
    """The mask is told to the worker on the machine's own CPU, without QEMU."""


EMULATED = (Enforcement.HARD, Enforcement.SOFT)
"""The enforcements that go through all masks; ``native`` is for variants by name only."""
NATIVE = "native"
"""In place of a CPU string: the worker runs on the machine's own CPU, without QEMU."""
CANNOT_EXPRESS = "qemu-cannot-express"
COMPILER_MISSING = "compiler-missing"
HOST_LACKS = "host-lacks-capability"
REASONS = {
    CANNOT_EXPRESS: "this QEMU has no CPU with exactly these capabilities, or does not enforce their absence",
    HOST_LACKS: "the machine's own CPU cannot run this target, or lacks a capability of the mask",
    COMPILER_MISSING: "the sandbox does not have the compiler of this profile",
    "other-contract": "the published case follows another contract than the interface",
}
"""Every reason code of a skip, with its meaning."""


Tier = Literal["smoke", "boundary", "full"]


@dataclass(frozen=True)
class Cell:
    """One row of plan, ledger and journal: one pytest node that runs many cases.

    ``kind`` is the name of the check that it is a cell of, and ``guess`` what one of those usually takes, in seconds.
    ``cpu`` is the string for ``-cpu``, ``further`` the name of a CPU that is not the mask's usual one; ``tier`` is the
    part of the corpus, ``lost`` the capability a trap takes away; ``reason`` is empty when the cell runs, else a code
    of REASONS with ``detail``.
    """

    target: str
    provider: str
    enforcement: Enforcement
    mask: Mask
    algorithm: str = ""
    variant: str = ""
    cpu: str = ""
    further: str = ""
    tier: Tier = "full"
    lost: str = ""
    reason: str = ""
    detail: str = ""
    kind: str = ""
    guess: float = field(default=0.0, compare=False, repr=False)

    @property
    def subject(self) -> str:
        """The algorithm, or the kind of a cell that is about all of them, and ``-<variant>`` for one by name; behind
        ``provider:`` when that is not ours."""
        name = self.algorithm or self.kind
        if self.variant:
            name = f"{name}-{self.variant}"
        return name if self.provider == OURS else f"{self.provider}:{name}"

    @property
    def id(self) -> str:
        """``target/enforcement/mask/subject``, and ``@name`` behind it on a further CPU."""
        further = f"@{self.further}" if self.further else ""
        return f"{self.target}/{self.enforcement}/{self.mask}/{self.subject}{further}"

    @property
    def guest(self) -> tuple[str, str, str]:
        """What needs a guest of its own: (target, provider, CPU string)."""
        return (self.target, self.provider, self.cpu)

    def recorded(self) -> dict[str, Any]:
        """What failure files keep of it."""
        fields = asdict(self)
        del fields["guess"]
        return {**fields, "mask": str(self.mask), "id": self.id}
