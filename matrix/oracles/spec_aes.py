"""The second model of AES: FIPS 197 step by step on lists of bytes, tables computed from their definitions."""

from functools import lru_cache
from operator import itemgetter

_POLYNOMIAL = 0x11B
"""m(x) of FIPS 197 (4.2)."""


def multiply(a: int, b: int) -> int:
    """The product in GF(2^8) (FIPS 197 4.2)."""
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= _POLYNOMIAL << (bit - 8)
    return product


def _s_box() -> bytes:
    """SubBytes (FIPS 197 5.1.1): the inverse in GF(2^8), then the affine map with the constant 0x63."""
    box = bytearray()
    for value in range(256):
        inverse = next((other for other in range(256) if multiply(value, other) == 1), 0)
        doubled = inverse << 8 | inverse
        box.append(0x63 ^ inverse ^ (doubled >> 4 ^ doubled >> 5 ^ doubled >> 6 ^ doubled >> 7) & 0xFF)
    return bytes(box)


S_BOX = _s_box()
INVERSE_S_BOX = bytes(S_BOX.index(value) for value in range(256))
_PRODUCTS = {factor: bytes(multiply(factor, value) for value in range(256)) for factor in (1, 2, 3, 9, 11, 13, 14)}
_MIX = (2, 3, 1, 1)
_INVERSE_MIX = (14, 11, 13, 9)
_SHIFTED = {by: itemgetter(*(4 * ((c + by * r) % 4) + r for c in range(4) for r in range(4))) for by in (1, -1)}
_TURNED = [itemgetter(*(4 * c + (r + k) % 4 for c in range(4) for r in range(4))) for k in range(4)]
"""Pick the bytes of a state: byte 4 c + r is row r of column c."""


@lru_cache(maxsize=64)
def round_keys(key: bytes) -> tuple[bytes, ...]:
    """Key expansion (FIPS 197 5.2): the 11, 13 or 15 round keys of 16 bytes each, in order of encryption."""
    nk = len(key) // 4
    words = [key[4 * i : 4 * i + 4] for i in range(nk)]
    constant = 1
    for i in range(nk, 4 * (nk + 7)):
        word = words[-1]
        if i % nk == 0:
            word = bytes(S_BOX[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = multiply(constant, 2)
        elif nk > 6 and i % nk == 4:
            word = bytes(S_BOX[byte] for byte in word)
        words.append(_xor(word, words[i - nk]))
    return tuple(b"".join(words[i : i + 4]) for i in range(0, len(words), 4))


def _xor(a: bytes, b: bytes) -> bytes:
    """Of two texts of one length."""
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).to_bytes(len(a), "big")


def _shift_rows(state: bytes, by: int) -> bytes:
    """Row r moves left by ``by`` times r columns (FIPS 197 5.1.2, 5.3.1)."""
    return bytes(_SHIFTED[by](state))


def _mix_columns(state: bytes, factors: tuple[int, ...]) -> bytes:
    """Each column times the circulant matrix whose first row is ``factors`` (FIPS 197 5.1.3, 5.3.3): the sum of the
    columns, turned by k, times factor k."""
    mixed = bytes(16)
    for turned, factor in zip(_TURNED, factors, strict=True):
        mixed = _xor(mixed, bytes(turned(state)).translate(_PRODUCTS[factor]))
    return mixed


def cipher(key: bytes, block: bytes) -> bytes:
    """The cipher (FIPS 197 5.1)."""
    first, *middle, last = round_keys(key)
    state = _xor(block, first)
    for round_key in middle:
        state = _shift_rows(state.translate(S_BOX), 1)
        state = _xor(_mix_columns(state, _MIX), round_key)
    return _xor(_shift_rows(state.translate(S_BOX), 1), last)


def inverse_cipher(key: bytes, block: bytes) -> bytes:
    """The inverse cipher (FIPS 197 5.3), not the equivalent one."""
    first, *middle, last = round_keys(key)
    state = _xor(block, last)
    for round_key in reversed(middle):
        state = _shift_rows(state, -1).translate(INVERSE_S_BOX)
        state = _mix_columns(_xor(state, round_key), _INVERSE_MIX)
    return _xor(_shift_rows(state, -1).translate(INVERSE_S_BOX), first)


def aes_encrypt_block(key: bytes, block: bytes) -> dict[str, bytes]:
    """One block[16]; key of 16, 24 or 32 bytes."""
    return {"out": cipher(key, block)}


def aes_decrypt_block(key: bytes, block: bytes) -> dict[str, bytes]:
    """One block[16]; key of 16, 24 or 32 bytes."""
    return {"out": inverse_cipher(key, block)}


def aes_cbc_encrypt(key: bytes, iv: bytes, data: bytes) -> dict[str, bytes]:
    """CBC encryption (SP 800-38A 6.2) of whole blocks; iv comes back as the last block of ciphertext."""
    out = bytearray()
    for start in range(0, len(data), 16):
        iv = cipher(key, _xor(data[start : start + 16], iv))
        out += iv
    return {"out": bytes(out), "iv": iv}


def aes_cbc_decrypt(key: bytes, iv: bytes, data: bytes) -> dict[str, bytes]:
    """CBC decryption (SP 800-38A 6.2) of whole blocks; iv comes back as the last block of ciphertext."""
    out = bytearray()
    for start in range(0, len(data), 16):
        block = data[start : start + 16]
        out += _xor(inverse_cipher(key, block), iv)
        iv = block
    return {"out": bytes(out), "iv": iv}


def aes_ctr(key: bytes, iv: bytes, data: bytes) -> dict[str, bytes]:
    """CTR (SP 800-38A 6.5) whose counter is the last four bytes, big-endian, modulo 2^32."""
    prefix, counter = iv[:12], int.from_bytes(iv[12:], "big")
    out = bytearray()
    for start in range(0, len(data), 16):
        piece = data[start : start + 16]
        out += _xor(piece, cipher(key, prefix + counter.to_bytes(4, "big"))[: len(piece)])
        counter = (counter + 1) % (1 << 32)
    return {"out": bytes(out), "iv": prefix + counter.to_bytes(4, "big")}
