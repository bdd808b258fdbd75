"""Check ``variant``: every variant by name, on the CPU that has what it requires and nothing more."""

from collections.abc import Iterator
from dataclasses import replace

from matrix.model.kernel import Variant
from matrix.model.mask import make_mask
from matrix.plan.cell import Cell, Enforcement
from matrix.plan.planner import Planner
from matrix.run import verdict as vd
from matrix.run.entered import names
from matrix.run.jobs import jobs
from matrix.run.session import Bench
from matrix.run.stream import Collector, Subject, run_jobs
from matrix.run.verdict import CellResult, Failure
from matrix.run.wiping import check_wiping


class VariantCheck:
    """By name: the variant's own functions must be entered, and give the oracle's answers for the whole corpus."""

    name = "variant"
    guess = 1.0
    what = "runs this variant by name over the corpus, on the CPU that has what it requires and nothing more"
    ends_guests = False
    takes_one_case = True

    def column(self, cell: Cell) -> str:
        """What the machine's own CPU shows stands apart."""
        return "native" if cell.enforcement == Enforcement.NATIVE else "by name"

    def cells(self, planner: Planner) -> Iterator[Cell]:
        """Each variant on each of its CPUs."""
        if planner.target.sanitize:
            yield from self._sanitized(planner)
            return
        for variant in planner.variants:
            yield from map(planner.placed, self._by_name(planner, variant))

    def _sanitized(self, planner: Planner) -> Iterator[Cell]:
        """What sanitizers look at: C by name, on the machine's own CPU; under QEMU they are not dependable."""
        for variant in planner.variants:
            if not variant.assembly:
                mask = make_mask(planner.table, planner.lattice, variant.requires)
                yield planner.placed(planner.cell(Enforcement.NATIVE, mask, variant.algorithm, variant.name))

    def _by_name(self, planner: Planner, variant: Variant) -> Iterator[Cell]:
        """``variant`` on the CPU with what it requires and nothing more, and on every other CPU that may show what that
        one hides: the richest, the further ones, the machine's own. All but the first and last run the boundary corpus.
        """
        mask = make_mask(planner.table, planner.lattice, variant.requires)
        hard = planner.cell(Enforcement.HARD, mask, variant.algorithm, variant.name)
        soft = replace(hard, enforcement=Enforcement.SOFT)
        usual = planner.cpu(hard)
        # A variant by name needs no CPU that lacks the rest: where there is none, it runs on the richest.
        yield hard if usual else soft
        if usual and usual.strings != planner.soft.strings:
            yield replace(soft, tier="boundary")
        for name in planner.catalog.targets.further_cpus(planner.target, variant.requires):
            others = (replace(cell, further=name, tier="boundary") for cell in (hard, soft))
            yield from [cell for cell in others if planner.cpu(cell)][:1]
        if planner.target.native:
            yield replace(hard, enforcement=Enforcement.NATIVE)

    def run(self, bench: Bench, result: CellResult) -> None:
        """By name: the variant's own functions must be entered (compositions enter others too)."""
        cell = bench.cell

        def check(about: Subject, _length: int, entered: dict[int, int], _whole: bool) -> Failure | None:
            functions = [bench.built.functions[index] for index in entered]
            if any(f.interface is about.interface and f.variant and f.variant.name == cell.variant for f in functions):
                return None
            return Failure(vd.WRONG_VARIANT, f"{cell.variant} was not entered, but {names(f.name for f in functions)}")

        collector = Collector(result)
        run_jobs(bench, collector, jobs(bench, bench.bind_variant, result), check)
        if not result.failures:
            check_wiping(bench, collector)
            collector.name_cases()


CHECK = VariantCheck()
