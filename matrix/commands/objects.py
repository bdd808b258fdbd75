"""``objects``: what the object of each variant uses and offers, function by function. A report, no judgement."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from matrix.build.inspection import findings
from matrix.build.profile import profiles
from matrix.build.worker import build_worker
from matrix.model.catalog import Catalog
from matrix.sandbox.base import Sandbox

_COLUMNS = ("target", "variant", "requires", "instructions of", "function", "unwinding", "landing pad", "note")


def object_rows(sandbox: Sandbox, catalog: Catalog, targets: Iterable[str]) -> list[dict[str, Any]]:
    """One row for each function that a variant of ``targets`` exports, as JSON values. Builds what is missing.

    Raises ToolError, BuildError, SelectionError.
    """
    rows = []
    for name in targets:
        target = catalog.targets.get(name)
        table = catalog.instructions[target.arch]
        for provider in catalog.providers:
            built = build_worker(sandbox, catalog, target, provider)
            read = sandbox.read_all(built.objects.values())
            for variant in built.variants:
                label = f"{variant.algorithm}-{variant.name}"
                elf = read[built.objects[label]]
                uses = [name for name in findings(elf, table).uses.needed() if not table.granted(name, frozenset())]
                for profile in profiles(elf, target.arch):
                    row = {
                        "target": name,
                        "variant": label,
                        "requires": list(variant.requires),
                        "uses": sorted(uses),
                        "function": profile.function,
                        "unwinding": profile.unwind,
                        "landing_pad": profile.pad,
                        "note": list(profile.claims),
                    }
                    rows.append(row)
            rows += [{"target": name, "variant": label, "failed": log} for label, log in built.failed.items()]
    return rows


def print_objects(rows: Iterable[dict[str, Any]], console: Console) -> None:
    """The rows as a table; a variant that does not build has only that in its row."""
    table = Table(title="exported functions", title_justify="left")
    for name in _COLUMNS:
        table.add_column(name, overflow="fold")
    for row in rows:
        if "failed" in row:
            table.add_row(row["target"], row["variant"], "does not build")
            continue
        texts = [" ".join(row[key]) for key in ("requires", "uses")]
        ends = [row["function"], row["unwinding"] or "none", row["landing_pad"] or "none", " ".join(row["note"])]
        table.add_row(row["target"], row["variant"], *texts, *ends)
    console.print(table)
