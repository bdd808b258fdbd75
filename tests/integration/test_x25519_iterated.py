"""RFC 7748 5.2, iterated: each result is the next scalar, each scalar the next point. One RUN is the whole chain."""

from collections.abc import Iterator

import pytest

from matrix.build.probe import probe_abilities
from matrix.model.catalog import load_catalog
from matrix.model.plan import find, plan
from matrix.run.session import Session, Settings
from matrix.sandbox.choose import choose_sandbox
from matrix.sandbox.locks import cache_root
from matrix.worker.outcome import Answer
from matrix.worker.protocol import Buffer, Op, Role, Step, Word, decode_run, encode_run

from . import support

NINE = (9).to_bytes(32, "little")
AFTER = {
    1: "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079",
    1000: "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51",
}
"""The scalar after so many iterations."""
CELLS = (
    "arm32-noneon/hard/none/x25519-c32",
    "arm32-neon/hard/neon/x25519-neon",
    "x86_64/hard/none/x25519-c64",
    "x86_64/hard/bmi2+adx/x25519-adx",
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    """One session for all variants, on the host sandbox."""
    catalog = load_catalog(support.REPOSITORY)
    session = Session(catalog, choose_sandbox("host"), Settings(deadline=60.0), cache_root() / "corpora")
    yield session
    session.close()


def chain(function: int, iterations: int) -> tuple[bytes, int]:
    """A RUN payload of ``iterations`` calls over three buffers of 32 bytes, and which of them is the last scalar.

    A result goes to the buffer that is free; the old point's buffer is the next free one.
    """
    names = ("first", "second", "third")
    buffers = [Buffer(name, Role.INOUT, 32, NINE) for name in names]
    scalar, point, free = 0, 1, 2
    steps = []
    for _ in range(iterations):
        words = (Word(0, free), Word(0, scalar, read_only=True), Word(0, point, read_only=True))
        steps.append(Step(function, words))
        scalar, point, free = free, scalar, point
    return encode_run(buffers, steps), scalar


@pytest.mark.parametrize("cell_id", CELLS)
def test_iterated(session: Session, cell_id: str) -> None:
    target = session.catalog.targets.get(cell_id.partition("/")[0])
    cell = find(plan(session.catalog, probe_abilities(session.sandbox, session.catalog, [target])), cell_id)
    assert cell is not None
    function = session.built(cell.target, cell.provider).function(f"x25519.scalarmult.{cell.variant}")
    assert function is not None
    for iterations, expected in AFTER.items():
        payload, last = chain(function, iterations)
        outcome = session.guest(cell).one(Op.RUN, payload)
        assert isinstance(outcome, Answer)
        reply = decode_run(outcome.payload, [32] * 3)
        assert reply.outputs[last].hex() == expected
        assert reply.entered == {function: iterations}
