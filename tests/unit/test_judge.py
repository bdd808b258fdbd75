"""Judging outcomes: what a wrong byte, a refusal, a crash and a violation are called, and where they are."""

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from matrix.cases.case import Case
from matrix.cases.layout import Binding, Layout, Run
from matrix.cases.placement import QUICK, beyond_placements
from matrix.model.catalog import Catalog
from matrix.model.interface import Interface, Operation, load_interface
from matrix.run import verdict as vd
from matrix.run.judge import judge
from matrix.run.symbols import Symbols
from matrix.run.verdict import Failure
from matrix.worker import outcome as oc
from matrix.worker.protocol import NO_SENDER, NOTHING, STACK, SignalReply, Violation

if TYPE_CHECKING:
    from tests.unit.conftest import MakeElf, Tree

CODE = 0x10000
SIGILL, SIGSEGV, SIGTERM = 4, 11, 15
INPUTS: dict[str, bytes | int] = {"key": bytes(32), "counter": 1, "data": bytes(range(100))}
RIGHT = bytes(range(100, 200))


@pytest.fixture(scope="module")
def symbols(make_elf: "MakeElf") -> Symbols:
    return Symbols(make_elf(b"\x90\x0f\x0b\xc3", {"cipher_xor_c": (0, 3)}), "x86_64")


def _case(expected: dict[str, bytes] | None) -> Case:
    return Case("a", "cipher", "xor", INPUTS, "RFC 0", "smoke", expected)


class Bench:
    """One operation bound to function 5, in the first placement."""

    def __init__(self, interface: Interface, symbols: Symbols, expected: dict[str, bytes] | None) -> None:
        self.operation: Operation = interface.operations["xor"]
        self.case = _case(expected)
        run = Layout(interface, self.operation, Binding({"xor": 5}, {}, 8), QUICK[0]).run(self.case)
        assert run is not None
        self.run: Run = run
        self.symbols = symbols

    def judge(self, outcome: oc.Outcome) -> Failure | None:
        return judge(self.operation, self.case, self.run, outcome, self.symbols)

    def answer(self, out: bytes, returned: tuple[int, ...] = (0,)) -> Failure | None:
        payload = struct.pack(f"<HH{len(returned)}Q", len(returned), 1, *returned) + struct.pack("<HHI", 5, 0, 1) + out
        return self.judge(oc.Answer(payload))

    def failure(self, outcome: oc.Outcome) -> Failure:
        failure = self.judge(outcome)
        assert failure is not None
        return failure

    def buffer(self, name: str) -> int:
        return next(index for index, buffer in enumerate(self.run.buffers) if buffer.name == name)


@pytest.fixture
def bench(small: Catalog, symbols: Symbols) -> Bench:
    return Bench(small.provider("kernels").interfaces["cipher"], symbols, {"out": RIGHT})


@pytest.fixture
def refusing(tree: "Tree") -> Interface:
    """The cipher as an operation that may refuse: it returns 1, or 0 and zeros."""
    keys = 'returns = "ok|reject"\non_reject = "out all zero"\nsteps '
    path: Path = tree.change("kernels/cipher/cipher.toml", "steps ", keys)
    tree.change("kernels/cipher/cipher.toml", 'steps  = ["xor*"]', 'steps  = ["xor"]')
    tree.change("kernels/cipher/cipher.toml", 'split  = "data/64"', "")
    return load_interface(path)


def test_the_right_answer_is_no_failure(bench: Bench) -> None:
    assert bench.answer(RIGHT) is None


def test_a_wrong_byte_is_described_by_place_and_block(bench: Bench) -> None:
    got = bytearray(RIGHT)
    got[70] ^= 0xFF
    failure = bench.answer(bytes(got))
    assert failure is not None
    assert failure.kind == vd.WRONG_ANSWER
    assert failure.summary == (
        "out: 1 of 100 bytes are wrong, the first at 70 (block of 64: 1, of 16: 4, counted from 0): "
        "expected aaabacadaeafb0b1, got 55abacadaeafb0b1"
    )
    assert failure.details["first_wrong_byte"] == 70
    assert failure.details["output"] == "out"
    assert bytes.fromhex(failure.details["expected"]) == RIGHT
    assert bytes.fromhex(failure.details["got"]) == got


def test_all_wrong_bytes_are_counted_and_the_first_is_named(bench: Bench) -> None:
    failure = bench.answer(RIGHT[:3] + bytes(96) + RIGHT[-1:])
    assert failure is not None
    assert "96 of 100 bytes are wrong, the first at 3 " in failure.summary


@pytest.mark.parametrize(
    "payload", [b"", b"\1\0", struct.pack("<HHQ", 1, 0, 0), struct.pack("<HHQ", 1, 0, 0) + bytes(99)]
)
def test_an_answer_of_another_size_is_a_protocol_failure(bench: Bench, payload: bytes) -> None:
    assert bench.failure(oc.Answer(payload)).kind == vd.PROTOCOL


def test_an_answer_with_other_steps_is_a_protocol_failure(bench: Bench, refusing: Interface) -> None:
    for returned in ((), (0, 0)):
        failure = bench.answer(RIGHT, returned)
        assert failure is not None
        assert failure.kind == vd.PROTOCOL
        failure = Bench(refusing, bench.symbols, {"out": RIGHT}).answer(RIGHT, returned)
        assert failure is not None
        assert failure.kind == vd.PROTOCOL


def test_accepting_and_refusing(refusing: Interface, symbols: Symbols) -> None:
    to_accept, to_refuse = Bench(refusing, symbols, {"out": RIGHT}), Bench(refusing, symbols, None)
    assert to_accept.answer(RIGHT, (1,)) is None
    assert to_accept.answer(RIGHT, (0xDEADBEEF_00000001,)) is None, "the upper half of an int means nothing"
    assert to_refuse.answer(bytes(100), (0,)) is None
    refused = to_accept.answer(bytes(100), (0,))
    accepted = to_refuse.answer(RIGHT, (1,))
    leaked = to_refuse.answer(bytes(99) + b"\1", (0,))
    assert refused
    assert accepted
    assert leaked
    assert (refused.kind, accepted.kind, leaked.kind) == (vd.WRONG_ANSWER, vd.WRONG_ANSWER, vd.VIOLATION)
    assert "RFC 0" in refused.summary
    assert "must be refused" in accepted.summary
    assert "out" in leaked.summary


@pytest.mark.parametrize("returned", [2, 0xFFFFFFFF, 0x100])
def test_a_refusal_is_zero_and_nothing_else(refusing: Interface, symbols: Symbols, returned: int) -> None:
    """A caller that asks for true would take it for right."""
    for expected in ({"out": RIGHT}, None):
        failure = Bench(refusing, symbols, expected).answer(bytes(100), (returned,))
        assert failure
        assert failure.summary == f"returned {returned:#x}, neither 1 (right) nor 0 (refused)"


def _signal(number: int, pc: int, buffer: int = NOTHING, offset: int = 0) -> oc.Crashed:
    return oc.Crashed(SignalReply(number, 1, 0x5000, pc, 0, buffer, offset, 100))


def test_an_illegal_instruction_is_shown_with_its_symbol(bench: Bench) -> None:
    failure = bench.failure(_signal(SIGILL, CODE + 1))
    assert failure.kind == vd.CRASH
    assert failure.summary == "SIGILL in cipher_xor_c+0x1, pc 0x10001, instruction `ud2`"
    assert failure.details["symbol"] == "cipher_xor_c+0x1"
    assert failure.details["signal"] == "SIGILL"


def test_an_illegal_instruction_says_what_the_cpu_lacks_and_other_signals_do_not(bench: Bench) -> None:
    words = "a CPU with ssse3 and without avx2"
    for number, said in ((SIGILL, True), (SIGSEGV, False)):
        outcome = _signal(number, CODE + 1)
        for seen in (outcome, oc.Unrepeated(outcome)):
            failure = judge(bench.operation, bench.case, bench.run, seen, bench.symbols, words)
            assert failure
            assert (f"`ud2`, on {words}" in failure.summary) is said


def test_a_bad_access_is_shown_from_the_nearest_buffer(bench: Bench) -> None:
    text = bench.failure(_signal(SIGSEGV, CODE, bench.buffer("data"), 103)).summary
    assert text.endswith("address 4 bytes past the end of data")
    text = bench.failure(_signal(SIGSEGV, CODE, bench.buffer("out"), -1)).summary
    assert text.endswith("address 1 byte before the start of out")
    text = bench.failure(_signal(SIGSEGV, CODE, bench.buffer("key"), 31)).summary
    assert text.endswith("address byte 31 of key, which is read-only in this call")


def test_a_bad_access_far_from_everything_names_no_buffer(bench: Bench) -> None:
    assert bench.failure(_signal(SIGSEGV, CODE)).summary.endswith(", address 0x5000, near no buffer")
    null = oc.Crashed(SignalReply(SIGSEGV, 1, 8, CODE, 0, NOTHING, 0, 0))
    assert bench.failure(null).summary.endswith(", address 0x8, a null pointer")
    misaligned = oc.Crashed(SignalReply(SIGSEGV, 128, 0, CODE, 0, NOTHING, 0, 0))
    assert bench.failure(misaligned).summary.endswith(", no address given: misaligned for this instruction?")
    assert "far from every buffer" in bench.failure(_signal(SIGSEGV, CODE, 11, 0)).summary


def test_an_exhausted_stack_is_said_so(bench: Bench) -> None:
    deep = oc.Crashed(SignalReply(SIGSEGV, 2, 0x5000, CODE, 0, STACK, -4096, 256 << 10))
    words = ", address 4096 bytes below the kernel's stack: the stack is exhausted, it has 256 KiB"
    assert bench.failure(deep).summary.endswith(words)


def test_a_sanitizers_report_is_the_crash(bench: Bench) -> None:
    failure = bench.failure(oc.Died(1, "sources/0a/cipher_c.c:3:9: runtime error: shift exponent 40 is too large\n"))
    assert failure.kind == vd.CRASH
    assert failure.summary == "a sanitizer has ended the guest: shift exponent 40 is too large at cipher_c.c:3:9"


def test_a_pc_outside_the_program_is_said_so(bench: Bench) -> None:
    text = bench.failure(_signal(SIGSEGV, 0x666)).summary
    assert "no known symbol" in text
    assert "outside the program" in text


def test_violations(bench: Bench) -> None:
    wrote = bench.failure(oc.Violated("canary", Violation(bench.buffer("out"), 0, 100)))
    changed = bench.failure(oc.Violated("input", Violation(bench.buffer("key"), 0, 5)))
    clobbered = bench.failure(oc.RegisterClobbered(0, "r4 d8"))
    assert {wrote.kind, changed.kind, clobbered.kind} == {vd.VIOLATION}
    assert wrote.summary == "wrote 1 byte past the end of out"
    assert changed.summary == "changed a read-only input at byte 5 of key"
    assert "r4 d8" in clobbered.summary
    assert [f.details["check"] for f in (wrote, changed, clobbered)] == ["canary", "input", "register"]


def test_the_end_of_a_guest(bench: Bench) -> None:
    timeout = bench.failure(oc.TimedOut(10))
    stopped = bench.failure(oc.TimedOut(10, SignalReply(SIGTERM, 0, 0, CODE + 1, 0, NOTHING, 0, 0)))
    died = bench.failure(oc.Died(134, "assertion failed\n"))
    assert (timeout.kind, stopped.kind, died.kind) == (vd.TIMEOUT, vd.TIMEOUT, vd.CRASH)
    assert timeout.summary == "no answer within 10 s; asked where it hangs, the guest did not answer"
    assert bench.failure(oc.TimedOut(1.5)).summary.startswith("no answer within 1.5 s;")
    asleep = bench.failure(oc.TimedOut(10, stopped=True))
    assert asleep.summary == "no answer within 10 s: the guest was stopped, as by SIGSTOP"
    assert [failure.slow for failure in (timeout, stopped, asleep, died)] == [True, True, True, False]
    assert "cipher_xor_c+0x1" in stopped.summary
    assert "134" in died.summary
    assert "assertion failed" in died.summary


def test_what_is_no_answer_is_a_protocol_failure(bench: Bench) -> None:
    garbage, refused = bench.failure(oc.Garbage("a frame of 0 bytes")), bench.failure(oc.Refused(2, "buffer 3"))
    assert {garbage.kind, refused.kind} == {vd.PROTOCOL}
    assert "a frame of 0 bytes" in garbage.summary
    assert "buffer 3" in refused.summary


def test_signal_names() -> None:
    assert [oc.signal_name(number) for number in (4, 7, 8, 11, 99)] == [
        "SIGILL",
        "SIGBUS",
        "SIGFPE",
        "SIGSEGV",
        "signal 99",
    ]


def _beyond(small: Catalog, symbols: Symbols) -> Bench:
    """A call that is told 2^32 bytes of data more than there are."""
    bench = Bench(small.provider("kernels").interfaces["cipher"], symbols, {"out": RIGHT})
    interface = small.provider("kernels").interfaces["cipher"]
    (placement,) = beyond_placements(interface, bench.operation)
    run = Layout(interface, bench.operation, Binding({"xor": 5}, {}, 8), placement).run(bench.case)
    assert run
    bench.run = run
    return bench


def test_a_length_beyond_32_bits_must_end_at_the_page_behind(small: Catalog, symbols: Symbols) -> None:
    bench = _beyond(small, symbols)
    assert bench.run.expected() is None

    def fault(buffer: str, offset: int) -> oc.Faulted:
        return oc.Faulted(SignalReply(SIGSEGV, 1, 0x5000, CODE, 0, bench.buffer(buffer), offset, 100, NO_SENDER))

    assert bench.judge(fault("data", 100)) is None
    assert bench.judge(fault("out", 163)) is None
    failure = bench.failure(fault("key", 32))
    assert failure.kind == vd.CRASH
    assert "data or out should have been read or written to its end, and beyond it" in failure.summary
    assert bench.failure(fault("data", 3)).kind == vd.CRASH, "not even what is there"
    returned = bench.answer(RIGHT)
    assert returned
    assert returned.kind == vd.WRONG_ANSWER
    assert "returned, although data has 2^32 bytes more than there are" in returned.summary


@pytest.mark.parametrize(
    ("death", "words"),
    [
        (oc.Died(-9, ""), "the guest was ended by SIGKILL;"),
        (oc.Died(-9, "", known="its container ran out of memory"), "SIGKILL (its container ran out of memory);"),
        (oc.TimedOut(10), "asked where it hangs, the guest did not answer;"),
        (oc.TimedOut(10, stopped=True), "stopped, as by SIGSTOP;"),
        (oc.Crashed(SignalReply(SIGTERM, 0, 0, CODE, 0, NOTHING, 0, 0, 77)), "sent by process 77;"),
    ],
)
def test_an_end_that_nobody_explains_is_a_kind_of_its_own(bench: Bench, death: oc.Outcome, words: str) -> None:
    failure = bench.failure(oc.Unrepeated(death))
    assert failure.kind == vd.UNRELIABLE
    assert failure.needs_cell
    assert f"{words} it did not repeat when the case ran alone: the kernel may have done it" in failure.summary
