"""Which placements a case gets: a few that find the most in a quick run, all that make sense in a full one."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from matrix.cases.case import Case
from matrix.cases.placement import CUTS_OF_QUICK, QUICK, Placement, named, rotating

UNALIGNED = "all-offset-1"
"""Every buffer behind an odd address, states at no more than their alignment: what the smaller tiers get."""
_ROTATING = 2
"""How many further placements a case of the full tier gets in turn; those of the boundary tier get all."""


@dataclass(frozen=True)
class Choice:
    """The placements of every case of one operation in one cell; ``every`` are all that the operation has there.

    ``only`` is the name of the one that is to run, '' for a choice. ``full`` are full placements; ``by_name`` is a
    cell that runs a variant by its name, where full placements are all of them; ``smoke`` is one that has smoke cases
    alone, and of those no more than what its mask makes worth while.
    """

    every: tuple[Placement, ...]
    only: str = ""
    full: bool = False
    by_name: bool = False
    smoke: bool = False

    def of(self, case: Case, turn: int) -> Iterator[Placement]:
        """The placements of ``case``, the ``turn``-th of its operation. A case of many calls gets one."""
        if self.only:
            if found := named(self.only, self._by_name):
                yield found
        elif not case.plain:
            yield QUICK[0]
        elif self.full:
            yield from QUICK
            yield from self._further(case, turn)
            yield from self._extra(case)
        else:
            yield from self._sides(case)
            if not self.smoke:
                yield from self._named(UNALIGNED if self._closely(case) else "")
                yield from self._extra(case)

    @cached_property
    def _by_name(self) -> dict[str, Placement]:
        return {placement.name: placement for placement in self.every}

    @cached_property
    def _others(self) -> tuple[Placement, ...]:
        others = (placement for placement in self.every if placement not in QUICK and not placement.beyond)
        return tuple(p for p in others if self.by_name or p.alias or not p.offsets)

    def _named(self, name: str) -> tuple[Placement, ...]:
        found = self._by_name.get(name)
        return (found,) if found else ()

    def _extra(self, case: Case) -> Iterator[Placement]:
        for name in case.extra:
            if found := named(name, self._by_name):
                yield found

    def _closely(self, case: Case) -> bool:
        return case.tier == "smoke" or (self.by_name and case.tier == "boundary")

    def _sides(self, case: Case) -> tuple[Placement, ...]:
        """One side of the guard pages for the whole message, the other for its pieces; of what is not cut both.

        What lies out of bounds depends on sizes, with few exceptions, which one case in two finds: so a case of the
        same sizes as one before gets no more. Of the others those that kernels are most likely to fail at have the
        whole message on both sides.
        """
        # The bits of the number, because those of a sweep go with its lengths: no length is always on one side.
        side = case.number.bit_count() % 2
        cut = self._named(CUTS_OF_QUICK[side].name)
        if case.before or (cut and (self.smoke or case.tier == "full")):
            return (QUICK[side], *cut)
        return (*QUICK, *cut)

    def _further(self, case: Case, turn: int) -> tuple[Placement, ...] | list[Placement]:
        if not self.by_name:
            return rotating(self._others, turn, 1)
        return self._others if case.tier != "full" else rotating(self._others, turn, _ROTATING)
