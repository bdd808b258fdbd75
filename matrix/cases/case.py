"""A case is one operation with its inputs and its right answer; a corpus is all cases of one algorithm."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Tier = Literal["smoke", "boundary", "full", "long"]
TIERS: tuple[Tier, ...] = ("smoke", "boundary", "full", "long")
"""From the smallest selection to the largest; each contains the ones before it. `long` is what takes minutes: it exists
in exhaustive runs only, for variants by name."""

Inputs = dict[str, bytes | int]
Outputs = dict[str, bytes]

OTHER_CONTRACT = "other-contract"
"""Skip code: the published case has another contract than the operation (64-bit counter, refused wrap)."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Chain:
    """``rounds`` of one operation, in which each answer becomes part of the next input (RFC 7748 5.2, SHAVS 6.4).

    The case's inputs named in ``feed``, one behind the other, are the window of the first round. Every round puts its
    answer behind the window, which then moves on by as many bytes. The case's answer is that of the last round.
    """

    feed: tuple[str, ...]
    rounds: int


@dataclass(frozen=True, slots=True)
class Case:
    """One operation with its inputs.

    ``name`` is unique in its corpus and safe as a file name. ``expected`` None means that the operation must
    refuse. ``skip`` is '' or the reason code why the case does not run; such a case has no expected answer.
    With ``chain`` the operation is done many times. With ``total`` the message is that input, repeated until it has
    so many bytes. ``target`` is the only target that runs the case, '' for all. ``extra`` are placements, by name, that
    every run tries it in beside the usual ones.
    ``number`` is its place among the cases of its operation, smaller tiers first: it decides the state in which
    kernels are entered. ``before`` is how many of those before it have inputs of the same sizes.
    """

    name: str
    algorithm: str
    operation: str
    inputs: Inputs
    origin: str
    tier: Tier
    expected: Outputs | None
    skip: str = ""
    chain: Chain | None = None
    total: int = 0
    target: str = ""
    extra: tuple[str, ...] = ()
    number: int = 0
    before: int = 0

    @property
    def plain(self) -> bool:
        """Whether the case is its operation done once, on inputs as they stand here."""
        return self.chain is None and not self.total

    @property
    def seconds(self) -> float:
        """How long a guest may take for it under the slowest emulation, 0 for the usual deadline."""
        return 0.0 if self.plain else 60.0 + self.total / (1 << 20)


@dataclass(frozen=True, slots=True)
class Draft:
    """A case before the oracle has answered.

    ``published`` is the answer that the case's source gives: outputs, 'refuse', or None when it gives none.
    ``where`` names file and entry of a published case, for messages. ``known`` is the oracle's answer where it was
    computed already. The rest is as in a case.
    """

    name: str
    operation: str
    inputs: Inputs
    origin: str
    tier: Tier
    published: Outputs | Literal["refuse"] | None = None
    where: str = ""
    known: Outputs | None = None
    skip: str = ""
    chain: Chain | None = None
    total: int = 0
    target: str = ""
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Corpus:
    """All cases of one algorithm in a fixed order. ``digest`` is a hex digest over all of them."""

    algorithm: str
    digest: str
    cases: tuple[Case, ...]

    def select(self, tier: Tier) -> tuple[Case, ...]:
        """The cases of ``tier`` and of every smaller tier, in corpus order."""
        admitted = TIERS[: TIERS.index(tier) + 1]
        return tuple(case for case in self.cases if case.tier in admitted)


def name_problem(names: Iterable[str]) -> str:
    """Why ``names`` cannot be the case names of one corpus, or ''."""
    seen: set[str] = set()
    for name in names:
        if not _NAME.fullmatch(name):
            return f"case name {name!r} is not made of letters, digits, '.', '_' and '-'"
        if name in seen:
            return f"case name {name!r} is used twice"
        seen.add(name)
    return ""
