"""Check ``mask``: every algorithm through the dispatcher at every mask."""

from collections.abc import Iterator
from dataclasses import replace

from matrix.model.choice import choose, chosen_for, length_classes
from matrix.model.interface import Interface
from matrix.model.mask import Mask
from matrix.plan.cell import EMULATED, Cell
from matrix.plan.planner import Planner
from matrix.run import verdict as vd
from matrix.run.entered import names, own_and_inner
from matrix.run.jobs import jobs
from matrix.run.session import Bench
from matrix.run.stream import Collector, Subject, run_jobs
from matrix.run.verdict import CellResult, Failure


class MaskCheck:
    """Through the dispatcher: exactly the variants that the mask and length give may be entered."""

    name = "mask"
    guess = 0.2
    what = "runs the algorithm through the dispatcher at this mask; exactly the planned variants may be entered"
    ends_guests = False
    takes_one_case = True

    def column(self, cell: Cell) -> str:
        """How the mask is told."""
        return f"{cell.enforcement} masks"

    def cells(self, planner: Planner) -> Iterator[Cell]:
        """Every algorithm at every mask; the first of each distinct set of chosen variants runs the boundary corpus,
        the others smoke. Sanitizers look at variants by name alone."""
        if planner.target.sanitize:
            return
        choices = _Choices(planner)
        for algorithm in (name for name in planner.provider.interfaces if planner.variants_of(name)):
            chosen = {mask: choices.of(algorithm, mask) for mask in planner.masks}
            for enforcement in EMULATED:
                seen: set[object] = set()
                for mask in planner.masks:
                    cell = planner.placed(planner.cell(enforcement, mask, algorithm))
                    yield replace(cell, tier="smoke" if chosen[mask] in seen else "boundary")
                    if not cell.reason:
                        seen.add(chosen[mask])

    def run(self, bench: Bench, result: CellResult) -> None:
        """Through the dispatcher: exactly the variants that the mask and length give may be entered."""
        cell = bench.cell

        def check(about: Subject, length: int, entered: dict[int, int], whole: bool) -> Failure | None:
            algorithm = about.interface.algorithm
            functions = [bench.built.functions[index] for index in entered]
            foreign = [f.name for f in functions if f.variant and not cell.mask.closed.issuperset(f.variant.requires)]
            if foreign:
                return Failure(vd.WRONG_VARIANT, f"{names(foreign)} needs more than the mask {cell.mask}")
            if not whole:
                return None  # each piece has a length of its own, and takes what that length gives
            variants = bench.variants(about.interface)
            chosen = chosen_for(about.operation, about.interface, variants, cell.mask.closed, length)
            wanted = {f"{algorithm}.{call}.{variant.name}" for call, variant in chosen if variant}
            own, inner = own_and_inner(about, functions)
            if own != wanted:
                return Failure(vd.WRONG_VARIANT, f"entered {names(own)}, planned {names(wanted)}")
            planned = {name for f in inner for name in _planned(bench, about.interface, f.call.name)}
            if odd := [f.name for f in inner if f.name not in planned]:
                return Failure(vd.WRONG_VARIANT, f"entered {names(odd)}, planned inside is {names(planned)}")
            return None

        run_jobs(bench, Collector(result), jobs(bench, bench.bind_dispatch, result), check)


class _Choices:
    """What the dispatcher takes at each mask, of one provider on one target."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._own: dict[tuple[str, frozenset[str]], object] = {}

    def of(self, algorithm: str, mask: Mask) -> object:
        """What is taken at ``mask`` for every call and length class, in the parts of compositions too."""
        parts = {part for variant in self._planner.variants_of(algorithm) for part in variant.composes}
        return (self._of(algorithm, mask), *(self.of(part, mask) for part in sorted(parts)))

    def _of(self, algorithm: str, mask: Mask) -> object:
        """As ``of``, without the parts; masks that differ in what no variant of the algorithm asks for are one."""
        interface = self._planner.provider.interfaces[algorithm]
        variants = self._planner.variants_of(algorithm)
        asked = mask.closed.intersection(name for variant in variants for name in variant.requires)
        if (algorithm, asked) not in self._own:
            self._own[algorithm, asked] = tuple(
                (length, call, taken.name if taken else None)
                for operation in interface.operations.values()
                for length in length_classes(operation, variants)
                for call, taken in chosen_for(operation, interface, variants, asked, length)
            )
        return self._own[algorithm, asked]


def _planned(bench: Bench, interface: Interface, call: str) -> set[str]:
    """The variants' functions that the dispatcher may take for ``call`` at the cell's mask, at whatever length."""
    variants, mask = bench.variants(interface), bench.cell.mask.closed
    taken = {choose(variants, call, mask, bound) for bound in {0, *(v.min_bytes.get(call, 0) for v in variants)}}
    return {f"{interface.algorithm}.{call}.{variant.name}" for variant in taken if variant}


CHECK = MaskCheck()
