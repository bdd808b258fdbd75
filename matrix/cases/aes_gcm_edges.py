"""Hard inputs of AES-GCM: counters that wrap, IVs of every size, paddings, and messages to accept and to refuse."""

from collections.abc import Iterator

from matrix.cases.case import Draft, Inputs, Tier
from matrix.cases.edges import BEYOND_16_BITS
from matrix.cases.material import distinct, stream
from matrix.model.interface import Interface
from matrix.oracles.pyca_aes_gcm import aes_gcm_seal
from matrix.oracles.spec_aes_gcm import hash_key
from matrix.oracles.spec_ghash import inverse, multiply

_ORIGIN = "aes_gcm edges"
_KEY_BYTES = (16, 24, 32)
_USUAL_IV = 12
_TAG = 16

_ENDINGS = ("ffffffff", "fffffffe", "fffffff8", "fffffff0", "7fffffff", "7ffffff9", "000000f8", "0000fffe", "00fffffd")
_J0 = {
    "ones": b"\xff" * 16,
    **{ending: distinct(f"aes_gcm.j0.{ending}", 12) + bytes.fromhex(ending) for ending in _ENDINGS},
}
"""First counter blocks by name; the text's counters pass the limit early, in the middle and late in an unrolling."""
_WRAPPED_LENGTHS = (288, 16, 65, 1031)

_AROUND = (1, *range(16, 129, 16), 144, 160, 192, 208, 224, 240, 256, 288, 320, 384, 512, 768, 1024, 2048, 4096)
_LENGTHS = (*sorted({length + step for length in _AROUND for step in (-1, 0, 1)}), 8193, 16384, 24577)
_SMOKE_LENGTHS = {0, 1, 16, 65, 129, 257, 513, 4097}
_AAD_LENGTHS = (0, 1, 13, 15, 16, 17, 20, 32, 33, 128, 129, 200)
_IV_LENGTHS = (*range(1, 65), 127, 128, 129, 257)
_IV_BOUNDARY = {1, 8, 11, 12, 13, 15, 16, 17, 31, 32, 33, 48, 60, 64, 128}
_SMALL = 64
"""Every pair of additional data and text lengths up to this one is tried."""


def edges(interface: Interface) -> Iterator[Draft]:
    """Drafts of the operations ``seal`` and ``open``; sealed messages come from the oracle."""
    yield from _wrapped_counters()
    yield from _iv_lengths()
    yield from _accepted()
    yield from _beyond_16_bits()
    yield from _refused()
    yield from _small()


def iv_to(j0: bytes, key: bytes) -> bytes:
    """The IV of 16 bytes whose first counter block is ``j0``: J0 = (IV H + lengths) H (SP 800-38D 7.1 step 2)."""
    back = inverse(int.from_bytes(hash_key(key), "big"))
    lengths = 8 * 16
    return multiply(multiply(int.from_bytes(j0, "big"), back) ^ lengths, back).to_bytes(16, "big")


def _key(label: str, turn: int) -> bytes:
    return distinct(f"{label}.key", _KEY_BYTES[turn % len(_KEY_BYTES)])


def sealed(key: bytes, iv: bytes, aad: bytes, text: bytes) -> Inputs:
    """Inputs of an ``open`` that must be accepted."""
    return {"key": key, "data": aes_gcm_seal(key, text, iv, aad)["out"], "iv": iv, "aad": aad}


def _both(name: str, key: bytes, iv: bytes, aad: bytes, text: bytes, tier: Tier) -> Iterator[Draft]:
    """The sealing and the opening of one message."""
    yield Draft(f"seal-{name}", "seal", {"key": key, "data": text, "iv": iv, "aad": aad}, _ORIGIN, tier)
    yield Draft(f"open-{name}", "open", sealed(key, iv, aad, text), _ORIGIN, tier)


def _wrapped_counters() -> Iterator[Draft]:
    for which, (ending, j0) in enumerate(_J0.items()):
        for place, length in enumerate(_WRAPPED_LENGTHS):
            for size in range(len(_KEY_BYTES)):
                name = f"j0-{ending}-t{length:04d}-k{8 * _KEY_BYTES[size]}"
                key = _key(f"aes_gcm.{name}", size)
                tier: Tier = "full" if place else "boundary" if size == which % 3 else "full"
                if (ending, place, size) in (("ones", 0, 0), ("fffffffe", 0, 1), ("fffffff8", 0, 2)):
                    tier = "smoke"
                aad = stream(f"{name}.aad", 13 * place)
                yield from _both(name, key, iv_to(j0, key), aad, stream(f"{name}.text", length), tier)


def _iv_lengths() -> Iterator[Draft]:
    for turn, length in enumerate(_IV_LENGTHS):
        name = f"iv-{length:03d}"
        iv = distinct(f"aes_gcm.{name}", length)
        tier: Tier = "boundary" if length in _IV_BOUNDARY else "full"
        key, aad = _key(f"aes_gcm.{name}", turn), stream(f"{name}.aad", turn % 20)
        yield from _both(name, key, iv, aad, stream(name, 40), tier)


def _accepted() -> Iterator[Draft]:
    """Messages to accept at every length class: random ones are all refused."""
    for turn, length in enumerate(_LENGTHS):
        name = f"accept-{length:05d}"
        aad = stream(f"aes_gcm.{name}.aad", _AAD_LENGTHS[turn % len(_AAD_LENGTHS)])
        iv = distinct(f"aes_gcm.{name}.iv", _USUAL_IV if turn % 4 else 16)
        text = stream(f"aes_gcm.{name}", length)
        tier: Tier = "smoke" if length in _SMOKE_LENGTHS else "boundary"
        yield Draft(f"open-{name}", "open", sealed(_key(f"aes_gcm.{name}", turn), iv, aad, text), _ORIGIN, tier)


def _beyond_16_bits() -> Iterator[Draft]:
    """Messages to accept of which one input has more bytes than 16 bits count."""
    for turn, role in enumerate(("aad", "iv", "text")):
        lengths = {"aad": 13, "iv": _USUAL_IV, "text": 40, role: BEYOND_16_BITS}
        aad, iv, text = (stream(f"aes_gcm.long-{role}.{part}", length) for part, length in lengths.items())
        name = f"open-accept-long-{role}"
        yield Draft(name, "open", sealed(_key(f"aes_gcm.{name}", turn), iv, aad, text), _ORIGIN, "full")


def _refused() -> Iterator[Draft]:
    """A right message with each bit of the tag flipped, with bytes missing, and with bytes changed or moved."""
    key, iv, aad = _key("aes_gcm.refuse", 0), distinct("aes_gcm.refuse.iv", 12), stream("aes_gcm.refuse.aad", 21)
    right = sealed(key, iv, aad, stream("aes_gcm.refuse.text", 77))
    data = right["data"]
    assert isinstance(data, bytes)
    text, tag = data[:-_TAG], data[-_TAG:]
    for bit in range(8 * _TAG):
        wrong = (int.from_bytes(tag, "big") ^ 1 << bit).to_bytes(_TAG, "big")
        tier: Tier = "smoke" if bit in (0, 127) else "boundary" if bit % 8 == 3 else "full"
        yield Draft(f"open-tag-bit-{bit:03d}", "open", {**right, "data": text + wrong}, _ORIGIN, tier)
    changed: dict[str, Inputs] = {
        "tag-only": {**right, "data": tag},
        **{f"bytes-{length:02d}": {**right, "data": tag[:length]} for length in range(_TAG)},
        "tag-zero": {**right, "data": text + bytes(_TAG)},
        "tag-short": {**right, "data": data[:-1]},
        "tag-missing": {**right, "data": text},
        "text-short": {**right, "data": text[:-1] + tag},
        "text-block-short": {**right, "data": text[:-16] + tag},
        "text-long": {**right, "data": text + b"\x00" + tag},
        "text-first": {**right, "data": bytes([text[0] ^ 1]) + text[1:] + tag},
        "text-last": {**right, "data": text[:-1] + bytes([text[-1] ^ 0x80]) + tag},
        "text-blocks-exchanged": {**right, "data": text[16:32] + text[:16] + text[32:] + tag},
        "aad-short": {**right, "aad": aad[:-1]},
        "aad-long": {**right, "aad": aad + b"\x00"},
        "aad-to-text": {**right, "aad": aad[:16], "data": aad[16:] + text + tag},
        "iv-last": {**right, "iv": iv[:-1] + bytes([iv[-1] ^ 1])},
        "iv-long": {**right, "iv": iv + b"\x00\x00\x00\x01"},
    }
    for what, inputs in changed.items():
        yield Draft(f"open-{what}", "open", inputs, _ORIGIN, "boundary")
    for length in _LENGTHS:
        name = f"open-refuse-{length:05d}"
        wrong_inputs = sealed(key, iv, aad, stream(name, length))
        whole = wrong_inputs["data"]
        assert isinstance(whole, bytes)
        at = length // 2 if length else 0
        wrong_data = whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :]
        yield Draft(name, "open", {**wrong_inputs, "data": wrong_data}, _ORIGIN, "full")


def _small() -> Iterator[Draft]:
    """Every pair of short lengths: the paddings of both parts meet in every way."""
    iv = distinct("aes_gcm.small.iv", _USUAL_IV)
    for aad in range(_SMALL + 1):
        for text in range(_SMALL + 1):
            name = f"open-a{aad:02d}-t{text:02d}"
            key = _key("aes_gcm.small", aad + text)
            yield Draft(name, "open", sealed(key, iv, stream("a", aad), stream("t", text)), _ORIGIN, "full")
