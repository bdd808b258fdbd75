"""``list`` and ``explain``: the plan in numbers and in words."""

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table

from matrix.checks import all_checks, check_of
from matrix.checks.trap import trapping, why_no_trap
from matrix.model.choice import length_classes
from matrix.model.instructions import InstructionTable
from matrix.model.kernel import Variant
from matrix.plan.cell import NATIVE, REASONS, Cell, Enforcement
from matrix.plan.plan import find
from matrix.report.console import styled
from matrix.run.state import RunState


def plan_as_json(state: RunState) -> dict[str, Any]:
    """The plan as JSON values: per target its lattice, masks and variants; and every selected cell."""
    catalog = state.catalog
    targets = []
    for name in dict.fromkeys(cell.target for cell in state.selected):
        target = catalog.targets.get(name)
        table = catalog.capabilities[target.arch]
        providers = {}
        for provider in catalog.providers:
            masks = catalog.masks(target, provider)
            providers[provider.name] = {
                "lattice": list(provider.lattice(target, table)),
                "masks": [str(mask) for mask in masks],
                "mask_count": len(masks),
                "variants": {
                    f"{v.algorithm}-{v.name}": {
                        "requires": list(v.requires),
                        "provides": list(v.provides),
                        "no_trap": why_no_trap(v, catalog.instructions[target.arch]),
                    }
                    for v in provider.for_target(target, table)
                },
            }
        targets.append({"name": name, "arch": target.arch, "description": target.description, "providers": providers})
    return {
        "probed": state.abilities is not None,
        "targets": targets,
        "cells": [cell_as_json(c) for c in state.selected],
    }


def cell_as_json(cell: Cell) -> dict[str, Any]:
    """One cell as JSON values."""
    return {
        "id": cell.id,
        "kind": cell.kind,
        "decision": "skip" if cell.reason else "run",
        "reason": cell.reason,
        "detail": cell.detail,
        "cpu": cell.cpu,
        "corpus": cell.tier,
        "lost": cell.lost,
    }


def print_plan(state: RunState, console: Console) -> None:
    """The plan in numbers: masks, cells of each kind, skips by reason; then the cells' ids."""
    table = Table(title="plan", title_justify="left")
    kinds = [check.name for check in all_checks()]
    head = "skipped" if state.abilities else "skipped*"
    for name in ("target", "masks", "variants", *kinds, head):
        table.add_column(name, justify="left" if name == "target" else "right")
    catalog = state.catalog
    for name in dict.fromkeys(cell.target for cell in state.selected):
        target = catalog.targets.get(name)
        cells = [cell for cell in state.selected if cell.target == name]
        counts = Counter(cell.kind for cell in cells)
        masks = sum(len(catalog.masks(target, provider)) for provider in catalog.providers)
        variants = sum(len(p.for_target(target, catalog.capabilities[target.arch])) for p in catalog.providers)
        skipped = sum(bool(cell.reason) for cell in cells)
        row = [masks, variants, *(counts[kind] for kind in kinds), skipped]
        table.add_row(name, *map(str, row))
    console.print(table)
    if not state.abilities:
        console.print("* skips that only --probe finds are not counted", highlight=False, soft_wrap=True)
    for line in _without_traps(state):
        console.print(line, highlight=False, soft_wrap=True)
    lines = [cell.id + (f"  skip {cell.reason}" if cell.reason else "") for cell in state.selected]
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
    reasons = Counter(cell.reason for cell in state.selected if cell.reason)
    for reason, count in reasons.most_common():
        console.print(f"{count} skipped: {reason} - {REASONS[reason]}", highlight=False, soft_wrap=True)
    if state.abilities is None:
        console.print("not probed: which cells this QEMU can express is not known (`--probe` tries)", highlight=False)
    console.print(f"{len(state.selected)} cells", highlight=False)


def _without_traps(state: RunState) -> list[str]:
    """Per reason: the variants of the selected cells that have no trap cell, so that none is missed in silence."""
    variants = {(cell.target, cell.provider, cell.algorithm, cell.variant) for cell in state.selected if cell.variant}
    names: dict[str, set[str]] = {}
    for target in (target for target in state.catalog.targets.targets if any(t == target.name for t, *_ in variants)):
        table = state.catalog.capabilities[target.arch]
        for provider in state.catalog.providers:
            for variant in provider.for_target(target, table):
                chosen = (target.name, provider.name, variant.algorithm, variant.name) in variants
                if chosen and (why := why_no_trap(variant, state.catalog.instructions[target.arch])):
                    names.setdefault(why, set()).add(f"{variant.algorithm}-{variant.name}")
    return [f"no trap cells for {_some(sorted(found))}: {why}" for why, found in names.items()]


def _trap_cells(variant: Variant, instructions: InstructionTable) -> str:
    shown = trapping(variant, instructions)
    parts = [f"one for each of {' '.join(shown)}" if shown else "", why_no_trap(variant, instructions)]
    return "; ".join(part for part in parts if part)


_MOST_NAMED = 3


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return " ".join(names[:_MOST_NAMED]) + (f" and {more} more (`explain` says it of each)" if more > 0 else "")


def explain(state: RunState, cell_id: str, console: Console) -> None:
    """One cell of the state in words."""
    cell = find(state.cells, cell_id)
    assert cell is not None, "the caller has looked for it"
    console.print(styled((cell.id, "bold")), soft_wrap=True)
    for line in _explanation(state, cell):
        console.print(line, highlight=False, soft_wrap=True)


_HOW = {
    Enforcement.HARD: "the emulated CPU has exactly these capabilities and nothing is told to the worker",
    Enforcement.SOFT: "the mask is told to the worker on the richest emulated CPU",
    Enforcement.NATIVE: "the mask is told to the worker on the machine's own CPU, without QEMU",
}


def _decision(state: RunState, cell: Cell) -> str:
    """``run`` is only said of what was probed: the plan alone does not know what this QEMU can express."""
    if cell.reason:
        return f"skip {cell.reason}: {cell.detail}"
    return "run" if state.abilities else "planned; not probed (`--probe` asks the emulator whether it can run)"


def _explanation(state: RunState, cell: Cell) -> list[str]:
    target = state.catalog.targets.get(cell.target)
    guest = "the worker itself" if cell.cpu == NATIVE else f"{target.qemu} -cpu {cell.cpu or '(none)'}"
    lines = [
        f"  check      {cell.kind}: {check_of(cell).what.format(lost=cell.lost)}",
        f"  target     {target.description}; {target.compiler}",
        f"  mask       {cell.mask} (a CPU with it has {' '.join(sorted(cell.mask.closed)) or 'no capability'})",
        f"  {cell.enforcement:<10} {_HOW[cell.enforcement]}",
        f"  guest      {guest}",
        f"  decision   {_decision(state, cell)}",
    ]
    if cell.algorithm:
        provider = state.catalog.provider(cell.provider)
        interface = provider.interfaces[cell.algorithm]
        table = state.catalog.capabilities[target.arch]
        variants = provider.for_target(target, table)
        own = [v for v in variants if v.algorithm == cell.algorithm]
        for operation in interface.operations.values():
            bounds = ", ".join(map(str, length_classes(operation, own)))
            lines.append(
                f"  operation  {operation.name}: {' '.join(s.call for s in operation.steps)}; lengths cut at {bounds}"
            )
        lines.append(f"  corpus     {cell.tier}")
        lines += [
            f"  trap cell  {_trap_cells(variant, state.catalog.instructions[target.arch])}"
            for variant in own
            if variant.name == cell.variant
        ]
    lines.append(f"  run it     capmatrix run {cell.id}")
    return lines
