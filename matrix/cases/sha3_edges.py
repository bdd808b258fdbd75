"""Hard inputs of SHA-3 and SHAKE: ends of message and output around every rate, single hot lanes, extreme blocks."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Tier
from matrix.cases.material import distinct, stream
from matrix.model.interface import Interface, Operation

_ORIGIN = "sha3 edges"
RATES = (72, 104, 136, 144, 168)
"""Rates in bytes of all functions of FIPS 202: a wrong one shows around each."""
_MULTIPLES = (1, 2, 3, 4, 16)
_AROUND = (-8, -1, 0, 1, 8)
_LANE = 8


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of all operations: inputs data and, for SHAKE, want, whose length is the output's."""
    for operation in interface.operations.values():
        yield from _message_ends(operation)
        yield from _blocks(operation)
        if "want" in operation.inputs:
            yield from _output_ends(operation)


def _draft(operation: Operation, name: str, data: bytes, tier: Tier, want: int = 32) -> Draft:
    inputs: dict[str, bytes | int] = {"data": data}
    if "want" in operation.inputs:
        inputs["want"] = bytes(want)
    return Draft(f"{operation.name}-{name}", operation.name, inputs, _ORIGIN, tier)


def _message_ends(operation: Operation) -> Iterator[Draft]:
    """Messages that end around multiples of every rate, of ordinary bytes and of all ones."""
    own = operation.constants["rate"]
    lengths = sorted({rate * k + step for rate in RATES for k in _MULTIPLES for step in _AROUND})
    for length in lengths:
        near = length % own in (0, 1, own - 1)
        tier: Tier = "smoke" if length in (own - 1, own, own + 1) else "boundary" if near else "full"
        label = f"sha3.{operation.name}.end-{length}"
        yield _draft(operation, f"end-{length:04d}", stream(label, length), tier)
        yield _draft(operation, f"ones-{length:04d}", b"\xff" * length, "boundary" if near else "full")


def _blocks(operation: Operation) -> Iterator[Draft]:
    """Whole blocks of zeros, of ones, with one lane or one bit set, and messages that end like their own padding."""
    rate, suffix = operation.constants["rate"], operation.constants["suffix"]
    for lane in range(2 * rate // _LANE):
        hot = distinct(f"sha3.{operation.name}.lane-{lane}", _LANE)
        data = (bytes(_LANE * lane) + hot).ljust(2 * rate, b"\0")
        yield _draft(operation, f"lane-{lane:02d}", data, "boundary")
    for bit in range(64):
        data = (1 << bit).to_bytes(_LANE, "little").ljust(rate, b"\0")
        yield _draft(operation, f"bit-{bit:02d}", data, "full")
    for count in (1, 2, 3):
        yield _draft(operation, f"zeros-{count}", bytes(rate * count), "boundary")
    for room in (1, 2, _LANE, rate):
        padding = bytearray(room)
        padding[0] ^= suffix
        padding[-1] ^= 0x80
        data = stream(f"sha3.{operation.name}.padded-{room}", rate - room) + bytes(padding)
        yield _draft(operation, f"padded-{room:03d}", data, "boundary")


def _output_ends(operation: Operation) -> Iterator[Draft]:
    """Outputs that end around multiples of every rate, after messages that end around the operation's own."""
    own = operation.constants["rate"]
    wants = sorted({0, 1, *(rate * k + step for rate in RATES for k in (1, 2, 5) for step in _AROUND)})
    for want in wants:
        for length in (0, own - 1, own, own + 1):
            near = want < 2 or want % own in (0, 1, own - 1)
            tier: Tier = "smoke" if want in (0, own, own + 1) and length == own else "boundary" if near else "full"
            name = f"want-{want:04d}-{length:03d}"
            yield _draft(operation, name, stream(f"sha3.{operation.name}.{name}", length), tier, want)
    yield _draft(operation, "bulk", stream(f"sha3.{operation.name}.bulk", own + 3), "boundary", 24 * 1024 + own + 1)
