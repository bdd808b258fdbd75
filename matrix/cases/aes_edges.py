"""Hard inputs of AES: every key size at every block count, counters around their wraps, keys and blocks that are
special to the key schedule and the S-box."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Inputs, Tier
from matrix.cases.edges import COUNTERS, MAX_BLOCKS
from matrix.cases.material import distinct, stream
from matrix.model.interface import Interface
from matrix.oracles.spec_aes import INVERSE_S_BOX

_ORIGIN = "aes edges"
_BLOCK = 16
_KEY_SIZES = (16, 24, 32)

_CTR_LENGTHS = (*(0, 1, 15, 16, 17, 31, 33, 47, 49, 63, 64, 65, 79, 81, 95, 97, 111, 113, 127, 128, 129), 143, 145)
_BULK_CTR_LENGTHS = (191, 192, 193, 255, 256, 257, 272, 383, 385, 511, 512, 513, 640, 769, 1023, 1024, 1025, 4097)
_BOUNDARY_CTR_LENGTHS = {1, 16, 65, 97, 113, 129, 257, 1025}
_BULK_BLOCKS = (48, 63, 64, 65, 96, 127, 128, 129, 257)
_BOUNDARY_BLOCKS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 33}
_SMOKE_BLOCKS = {5, 9, 17}

_SMOKE_COUNTERS = {(0xFFFFFFFE, 5), (0xFFFFFFFF, 2), (0xFFFFFFF8, 17), (0x00C0FEFE, 4), (0xFFFFFFFD, 33)}
_BOUNDARY_COUNTERS = {0, (1 << 31) - 3, 0x5A00FFFF, *((1 << 32) - k for k in (1, 2, 3, 5, 7, 8))}
_WRAPS = ((1, 2), (2, 3), (3, 8), (4, 6), (5, 9), (6, 33), (7, 12), (9, 16), (17, 33))
"""(blocks before the wrap, blocks in all): the wrap at each place of a wide step, and between two of them."""

_LINES = tuple(bytes(range(start, start + _BLOCK)) for start in range(0, 256, _BLOCK))
"""Sixteen blocks that hold every byte once."""


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of all five operations (key[16, 24 or 32]; block[16], or iv[16] and data)."""
    yield from _counters()
    yield from _prefixes()
    yield from _key_sizes_ctr()
    yield from _key_sizes_cbc()
    yield from _special_keys()
    yield from _every_byte()
    yield from _chains()


def _draft(name: str, operation: str, inputs: Inputs, tier: Tier) -> Draft:
    return Draft(name, operation, inputs, _ORIGIN, tier)


def _ctr(name: str, key: bytes, iv: bytes, length: int, tier: Tier) -> Draft:
    return _draft(name, "ctr", {"key": key, "iv": iv, "data": stream(f"{name}.data", length)}, tier)


def _iv(prefix: bytes, counter: int) -> bytes:
    return prefix + counter.to_bytes(4, "big")


def _counters() -> Iterator[Draft]:
    """Each counter with 1 to 33 blocks; key size and ending change from one case to the next, no byte is equal."""
    for turn, counter in enumerate(COUNTERS):
        for blocks in range(1, MAX_BLOCKS + 1):
            name = f"ctr-{counter:08x}-b{blocks:02d}"
            missing = (0, 1, _BLOCK - 1, (5 * turn + 7 * blocks) % _BLOCK)[(turn + blocks) % 4]
            key = distinct(f"{name}.key", _KEY_SIZES[(turn + blocks // 4) % 3])
            iv = _iv(distinct(f"{name}.iv", 12), counter)
            tier: Tier = "boundary" if counter in _BOUNDARY_COUNTERS and blocks in _BOUNDARY_BLOCKS else "full"
            tier = "smoke" if (counter, blocks) in _SMOKE_COUNTERS else tier
            yield _ctr(name, key, iv, blocks * _BLOCK - missing, tier)


def _prefixes() -> Iterator[Draft]:
    """Wrapping counters after prefixes of zeros and of ones: a carry out of the last four bytes changes the answer."""
    for before, blocks in _WRAPS:
        for size in _KEY_SIZES:
            for fill in (0x00, 0xFF):
                name = f"ctr-carry-m{before:02d}-b{blocks:02d}-k{size}-{fill:02x}"
                iv = _iv(bytes([fill]) * 12, (1 << 32) - before)
                yield _ctr(name, distinct(name, size), iv, blocks * _BLOCK - before % 4, "boundary")


def _key_sizes_ctr() -> Iterator[Draft]:
    for length in (*_CTR_LENGTHS, *_BULK_CTR_LENGTHS):
        for size in _KEY_SIZES:
            name = f"ctr-size-{length:04d}-k{size}"
            tier: Tier = "boundary" if length in _BOUNDARY_CTR_LENGTHS else "full"
            yield _ctr(name, distinct(f"{name}.key", size), distinct(f"{name}.iv", _BLOCK), length, tier)


def _key_sizes_cbc() -> Iterator[Draft]:
    """Every key size with 0 to 33 blocks and more, in both directions."""
    for operation in ("cbc_encrypt", "cbc_decrypt"):
        for blocks in (*range(MAX_BLOCKS + 1), *_BULK_BLOCKS):
            for size in _KEY_SIZES:
                name = f"{operation}-size-b{blocks:03d}-k{size}"
                tier: Tier = "boundary" if blocks in _BOUNDARY_BLOCKS else "full"
                tier = "smoke" if blocks in _SMOKE_BLOCKS and size != 16 else tier
                iv, data = distinct(f"{name}.iv", _BLOCK), stream(f"{name}.data", blocks * _BLOCK)
                yield _draft(name, operation, {"key": distinct(f"{name}.key", size), "iv": iv, "data": data}, tier)


def _keys(size: int) -> Iterator[tuple[str, bytes]]:
    """Keys by name: one repeated byte (0x52 has the S-box value 0, 0x63 is that of 0), single bits, bytes whose S-box
    values run through a line of the S-box, and equal words, so that whole words of the schedule vanish."""
    for byte in (0x00, 0x01, 0x52, 0x63, 0x80, 0xFF):
        yield f"all-{byte:02x}", bytes([byte]) * size
    for bit in (0, 7, 8 * size - 8, 8 * size - 1, 4 * size):
        yield f"bit-{bit:03d}", (1 << bit).to_bytes(size, "big")
    for line in (0, 5, 15):
        yield f"line-{line:02d}", (bytes(INVERSE_S_BOX[byte] for byte in _LINES[line]) * 2)[:size]
    yield "equal-words", distinct("aes.equal-words", 4) * (size // 4)
    yield "last-word-52", distinct("aes.last-word", size - 4) + b"\x52" * 4
    yield "middle-word-52", distinct("aes.middle-word", 12) + b"\x52" * 4 + distinct("aes.rest", size - 16)


def _special_keys() -> Iterator[Draft]:
    for size in _KEY_SIZES:
        for key_name, key in _keys(size):
            for fill_name, block in (
                ("00", bytes(_BLOCK)),
                ("ff", b"\xff" * _BLOCK),
                ("data", distinct(f"aes.{key_name}.{size}", _BLOCK)),
            ):
                for operation in ("encrypt_block", "decrypt_block"):
                    name = f"{operation}-key-{key_name}-k{size}-{fill_name}"
                    tier: Tier = "boundary" if fill_name == "data" else "full"
                    yield _draft(name, operation, {"key": key, "block": block}, tier)
            name = f"ctr-key-{key_name}-k{size}"
            yield _ctr(name, key, _iv(bytes(12), 0xFFFFFFFC), 9 * _BLOCK + 5, "boundary" if size == 24 else "full")


def _every_byte() -> Iterator[Draft]:
    """With a key of zeros the first S-box step sees the block itself: all 256 bytes, at each of the 16 places."""
    for size in _KEY_SIZES:
        for index, line in enumerate(_LINES):
            for operation in ("encrypt_block", "decrypt_block"):
                name = f"{operation}-line-{index:02d}-k{size}"
                tier: Tier = "boundary" if size == 16 else "full"
                yield _draft(name, operation, {"key": bytes(size), "block": line}, tier)
    for place in range(_BLOCK):
        data = b"".join(bytes([byte] * place + [byte ^ 0x5A] + [byte] * (15 - place)) for byte in range(256))
        name = f"cbc_decrypt-bytes-at-{place:02d}"
        inputs: Inputs = {"key": bytes(16), "iv": distinct(name, _BLOCK), "data": data}
        yield _draft(name, "cbc_decrypt", inputs, "boundary" if place in (0, 13) else "full")


def _chains() -> Iterator[Draft]:
    """Equal blocks, zeros and ones: only the chain and the iv make the blocks differ."""
    for operation in ("cbc_encrypt", "cbc_decrypt"):
        for turn, (fill_name, block) in enumerate(
            (("00", bytes(_BLOCK)), ("ff", b"\xff" * _BLOCK), ("equal", distinct("aes.equal", _BLOCK)))
        ):
            for blocks in (1, 2, 5, 8, 9, 17):
                name = f"{operation}-chain-{fill_name}-b{blocks:02d}"
                iv = (bytes(_BLOCK), b"\xff" * _BLOCK, distinct(f"{name}.iv", _BLOCK))[(turn + blocks) % 3]
                key = distinct(f"{name}.key", _KEY_SIZES[(turn + blocks) % 3])
                yield _draft(name, operation, {"key": key, "iv": iv, "data": block * blocks}, "boundary")
