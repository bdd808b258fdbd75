"""The frames of one recorded case, for a worker that runs without a peer: gdb, and counting what the harness costs."""

from dataclasses import dataclass
from pathlib import Path

from matrix.cases.chain import layout_of
from matrix.cases.placement import named
from matrix.errors import ReproError
from matrix.plan.cell import Cell
from matrix.run.repro import Recorded, find_cell
from matrix.run.session import Bench, Session
from matrix.worker import protocol as pr
from matrix.worker.protocol import Op


@dataclass(frozen=True)
class Replay:
    """What `worker --replay FILE` needs: the frames and the functions that the case calls (C symbols); ``sources`` is
    the folder that paths in the debug information begin at."""

    cell: Cell
    worker: str
    frames: bytes
    symbols: tuple[str, ...]
    sources: Path


def replay_of(session: Session, recorded: Recorded) -> Replay:
    """The frames of a recorded case: the mask if it is a soft one, then the run. Builds what is needed.

    Raises ReproError when the failure has no case (a build, a mask, the dispatcher's choice).
    """
    case = recorded.case
    if case is None:
        why = f"a {recorded.kind} failure of the whole cell"
        step = "`repro` without --gdb runs the cell again and shows it"
        raise ReproError("there is no case to stop at", where=recorded.cell_id, why=why, step=step)
    cell = find_cell(session.catalog, recorded)
    bench = Bench(session, cell, (case, recorded.placement))
    provider = session.catalog.provider(cell.provider)
    interface = provider.interfaces[case.algorithm]
    operation = interface.operations[case.operation]
    by_name = bench.bind_variant(interface, operation) if cell.variant else None
    binding = by_name or bench.bind_dispatch(interface, operation)
    if binding is None:
        why = f"the worker has no functions for {case.algorithm}.{case.operation}"
        raise ReproError("this failure cannot be replayed", where=recorded.cell_id, why=why)
    every = bench.every_placement(interface, operation, binding)
    placement = named(recorded.placement, {row.name: row for row in every})
    if placement is None:
        raise ReproError("the placement is gone", where=recorded.cell_id, why=recorded.placement)
    binding = bench.rebind(binding, interface, operation, placement)
    run = layout_of(interface, operation, binding, placement, case.chain).run(case)
    if run is None:
        raise ReproError("the placement does not apply to the case", where=recorded.cell_id, why=recorded.placement)
    frames = b""
    if cell.enforcement != "hard":
        table = session.catalog.capabilities[bench.built.target.arch]
        frames += pr.frame(1, Op.SET_MASK, pr.encode_mask(table.bits(cell.mask.closed)))
    frames += pr.frame(2, Op.RUN, run.payload)
    functions = bench.built.functions
    symbols = dict.fromkeys(functions[index].symbol for index in binding.functions.values())
    return Replay(cell, bench.built.worker, frames, tuple(symbols), session.catalog.root)
