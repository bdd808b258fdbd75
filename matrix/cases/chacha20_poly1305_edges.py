"""Hard inputs of ChaCha20-Poly1305: messages that must be accepted at every length class, and tags wrong by one bit."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Inputs, Tier
from matrix.cases.edges import BEYOND_16_BITS
from matrix.cases.material import distinct, stream
from matrix.model.interface import Interface
from matrix.oracles.registry import oracle

_ORIGIN = "chacha20_poly1305 edges"
_LENGTHS = (
    0,
    1,
    15,
    16,
    17,
    31,
    32,
    63,
    64,
    65,
    127,
    128,
    129,
    191,
    192,
    193,
    255,
    256,
    257,
    511,
    512,
    513,
    1024,
    4097,
)
_AAD_LENGTHS = (0, 1, 12, 13, 15, 16, 17, 32, 33)
_SMOKE_LENGTHS = {0, 1, 64, 65, 193, 513}
_SMALL = 20
"""Every pair of additional data and text lengths below this is tried."""
_TAG_BITS = 128


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of both constructions; sealed messages come from the oracle."""
    for suffix in ("", "_old"):
        yield from _accepted(interface, suffix)
        yield from _beyond_16_bits(interface, suffix)
        yield from _refused(interface, suffix)
        yield from _small(interface, suffix)


def _sealed(interface: Interface, suffix: str, label: str, aad: int, text: int) -> Inputs:
    """Inputs of an ``open`` that must be accepted."""
    inputs: dict[str, bytes] = {
        "key": distinct(f"{label}.key", 32),
        "nonce": distinct(f"{label}.nonce", 8 if suffix else 12),
        "aad": stream(f"{label}.aad", aad),
    }
    sealed = oracle(interface, f"seal{suffix}")(data=stream(f"{label}.data", text), **inputs)
    assert sealed is not None, "a seal has no refusal"
    return {**inputs, "data": sealed["out"], "tag": sealed["tag"]}


def _accepted(interface: Interface, suffix: str) -> Iterator[Draft]:
    for turn, length in enumerate(_LENGTHS):
        aad = _AAD_LENGTHS[turn % len(_AAD_LENGTHS)]
        name = f"open{suffix}-accept-{length:04d}"
        tier: Tier = "smoke" if length in _SMOKE_LENGTHS else "boundary"
        yield Draft(name, f"open{suffix}", _sealed(interface, suffix, name, aad, length), _ORIGIN, tier)


def _beyond_16_bits(interface: Interface, suffix: str) -> Iterator[Draft]:
    """Messages to accept of which one input has more bytes than 16 bits count."""
    for role, aad, text in (("aad", BEYOND_16_BITS, 40), ("data", 13, BEYOND_16_BITS)):
        name = f"open{suffix}-accept-long-{role}"
        yield Draft(name, f"open{suffix}", _sealed(interface, suffix, name, aad, text), _ORIGIN, "full")


def _refused(interface: Interface, suffix: str) -> Iterator[Draft]:
    """One right message with each bit of the tag flipped, with its last byte missing, and with other data."""
    right = _sealed(interface, suffix, f"open{suffix}-refuse", 13, 77)
    tag, data, aad = right["tag"], right["data"], right["aad"]
    assert isinstance(tag, bytes)
    assert isinstance(data, bytes)
    assert isinstance(aad, bytes)
    for bit in range(_TAG_BITS):
        wrong = (int.from_bytes(tag, "little") ^ 1 << bit).to_bytes(16, "little")
        tier: Tier = "smoke" if bit in (0, 127) else "boundary" if bit % 8 == 0 else "full"
        yield Draft(f"open{suffix}-tag-bit-{bit:03d}", f"open{suffix}", {**right, "tag": wrong}, _ORIGIN, tier)
    changed: dict[str, Inputs] = {
        "short-text": {**right, "data": data[:-1]},
        "short-aad": {**right, "aad": aad[:-1]},
        "moved-byte": {**right, "aad": aad + data[:1], "data": data[1:]},
        "last-byte": {**right, "data": data[:-1] + bytes([data[-1] ^ 0x80])},
    }
    for what, inputs in changed.items():
        yield Draft(f"open{suffix}-{what}", f"open{suffix}", inputs, _ORIGIN, "boundary")


def _small(interface: Interface, suffix: str) -> Iterator[Draft]:
    """Every pair of short lengths: the paddings of both parts meet in every way."""
    for aad in range(_SMALL):
        for text in range(_SMALL):
            name = f"open{suffix}-a{aad:02d}-t{text:02d}"
            yield Draft(name, f"open{suffix}", _sealed(interface, suffix, name, aad, text), _ORIGIN, "full")
