"""Hard inputs of ChaCha20: a word that ends at zero, extreme keys and nonces, carries in the counter and none out."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Tier
from matrix.cases.material import distinct, stream
from matrix.model.interface import Interface

_ORIGIN = "chacha20 edges"

ZERO_WORD_KEY = bytes(range(32))
ZERO_WORD_NONCE = bytes.fromhex("00000000 01000000 00000000")
ZERO_WORD_COUNTER = 0x6625AA3E
"""With this key, nonce and counter, word 12 is zero after the feed-forward (keystream bytes 48 to 51)."""

_EXTREMES = {"00": b"\x00", "ff": b"\xff", "80": b"\x80"}
_EXTREME_LENGTHS = (64, 256, 575, 1024)
_WRAPS = (
    (0xFFFFFFFF, 2),
    (0xFFFFFFFE, 3),
    (0xFFFFFFFD, 8),
    (0xFFFFFFFC, 5),
    (0xFFFFFFF1, 33),
    (0xFFFFFFF8, 16),
)
_CARRIES = (8, 16, 24)
"""Bits of the counter below which all are ones when it starts to cross: the last one of a byte is lost alone."""
_UPPER = 0x5A3C_9600
"""What stands above those bits, apart from a single one."""
_BEFORE = ((1, 2), (2, 5), (3, 4), (4, 9), (5, 8), (8, 17), (15, 33))
"""Counts that are left before the carry, and the blocks of the message."""


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operation ``xor`` (key[32], nonce[12], counter, data)."""
    yield from _zero_word()
    yield from _extremes()
    yield from _nonce_carry()
    yield from _byte_carries()


def _draft(name: str, key: bytes, nonce: bytes, counter: int, data: bytes, tier: Tier) -> Draft:
    return Draft(name, "xor", {"key": key, "nonce": nonce, "counter": counter, "data": data}, _ORIGIN, tier)


def _zero_word() -> Iterator[Draft]:
    """The zero word in each of eight lanes; a feed-forward that carries across words differs by one bit."""
    for earlier in range(8):
        for length in sorted({64 * (earlier + 1), 512, 1024}):
            name = f"zero-word-l{earlier}-{length:04d}"
            tier: Tier = "smoke" if (earlier, length) == (3, 512) else "boundary" if length == 512 else "full"
            counter = ZERO_WORD_COUNTER - earlier
            yield _draft(name, ZERO_WORD_KEY, ZERO_WORD_NONCE, counter, stream(name, length), tier)


def _extremes() -> Iterator[Draft]:
    """Key, nonce and data of one repeated byte, and each of them alone."""
    for name, byte in _EXTREMES.items():
        for length in _EXTREME_LENGTHS:
            label = f"extreme-{name}-{length:04d}"
            tier: Tier = "boundary" if length == 256 else "full"
            key, nonce, data = (
                distinct(f"{label}.key", 32),
                distinct(f"{label}.nonce", 12),
                stream(label, length),
            )
            yield _draft(f"{label}-all", byte * 32, byte * 12, 0, byte * length, tier)
            yield _draft(f"{label}-key", byte * 32, nonce, 1, data, tier)
            yield _draft(f"{label}-nonce", key, byte * 12, 1, data, tier)
            yield _draft(f"{label}-data", key, nonce, 1, byte * length, tier)


def _nonce_carry() -> Iterator[Draft]:
    """Wrapping counters before nonces of zeros and of ones: a carry into the nonce changes the answer."""
    for counter, blocks in _WRAPS:
        for name, byte in (("00", b"\x00"), ("ff", b"\xff")):
            label = f"carry-{counter:08x}-b{blocks:02d}-{name}"
            yield _draft(label, distinct(label, 32), byte * 12, counter, stream(label, 64 * blocks - 3), "boundary")


def _byte_carries() -> Iterator[Draft]:
    """Counters that cross 2^8, 2^16 and 2^24, with zeros above and without, at every distance that lanes have."""
    for bits in _CARRIES:
        for target in (1 << bits, _UPPER >> bits << bits):
            for left, blocks in _BEFORE:
                label = f"byte-carry-{target - left:08x}-b{blocks:02d}"
                key, nonce = distinct(f"{label}.key", 32), distinct(f"{label}.nonce", 12)
                data = stream(label, 64 * blocks - blocks % 4)
                yield _draft(label, key, nonce, target - left, data, "boundary")
