"""Replies that name what there is not: always a failure with words, never a traceback."""

import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matrix.errors import GuestError
from matrix.model.catalog import Catalog
from matrix.run import verdict as vd
from matrix.run.plausible import plausible, unknown_function
from matrix.run.symbols import Symbols
from matrix.worker import outcome as oc
from matrix.worker import protocol as pr
from matrix.worker.protocol import NOTHING, Frame, SignalReply, Violation

from .test_judge import RIGHT, Bench, symbols  # noqa: F401  # a fixture

U16 = st.integers(0, 0xFFFF)


@pytest.fixture
def bench(small: Catalog, symbols: Symbols) -> Bench:  # noqa: F811
    return Bench(small.provider("kernels").interfaces["cipher"], symbols, {"out": RIGHT})


def _signal(step: int, buffer: int) -> SignalReply:
    return SignalReply(11, 1, 0x5000, 0x10000, step, buffer, 4, 64)


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (oc.Violated("canary", Violation(0, 1, 5)), "step 1, and there are 1"),
        (oc.Violated("input", Violation(9, 0, 5)), "buffer 9, and there are 3"),
        (oc.Violated(oc.PROCESS, Violation(NOTHING, 7, 0)), "step 7, and there are 1"),
        (oc.RegisterClobbered(0xFFFF, "r4"), "step 65535"),
        (oc.Crashed(_signal(3, 0)), "step 3"),
        (oc.Crashed(_signal(0, 200)), "buffer 200"),
        (oc.TimedOut(10, _signal(3, 0)), "step 3"),
        (oc.Unrepeated(oc.Crashed(_signal(3, 0))), "step 3"),
    ],
)
def test_what_there_is_not_is_garbage(bench: Bench, outcome: oc.Outcome, why: str) -> None:
    found = plausible(outcome, bench.run)
    inner = found.death if isinstance(found, oc.Unrepeated) else found
    assert isinstance(inner, oc.Garbage)
    assert why in inner.why
    assert bench.failure(found).kind == vd.PROTOCOL


def test_what_there_is_stays_as_it_is(bench: Bench) -> None:
    for outcome in (
        oc.Violated("canary", Violation(2, 0, -5)),
        oc.Violated(oc.PROCESS, Violation(NOTHING, 0, 0)),
        oc.RegisterClobbered(0, "r4"),
        oc.Crashed(_signal(NOTHING, NOTHING)),
        oc.TimedOut(10),
        oc.Unrepeated(oc.Died(-9, "")),
    ):
        assert plausible(outcome, bench.run) is outcome


def test_a_function_beyond_the_table_is_named() -> None:
    assert unknown_function([0, 4], 5) == ""
    assert unknown_function([0, 5], 5) == "it names function 5, and there are 5"


def _reply(status: int, payload: bytes) -> oc.Outcome:
    """What a guest makes of a reply, as in matrix.worker.process."""
    try:
        if status == pr.Status.SIGNAL:
            return oc.Crashed(pr.decode_signal(payload))
        return oc.of_reply(Frame(1, pr.Op.RUN, status, payload))
    except (GuestError, ValueError) as problem:
        return oc.Garbage(str(problem))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=st.integers(0, 12), fields=st.tuples(U16, U16, st.integers(-(1 << 63), (1 << 63) - 1)), data=st.data())
def test_no_reply_at_all_raises(bench: Bench, status: int, fields: tuple[int, int, int], data: st.DataObject) -> None:
    """Whatever bytes come, of a right size or not, the verdict is a failure in words."""
    sound = struct.pack("<HHq", *fields)
    payload = data.draw(st.one_of(st.binary(max_size=200), st.just(sound), st.binary(min_size=48, max_size=48)))
    outcome = plausible(_reply(status, payload), bench.run)
    failure = bench.judge(outcome)
    assert failure is not None
    assert failure.kind in vd.KINDS
    assert failure.summary
    assert failure.details.get("step", 0) < bench.run.steps
