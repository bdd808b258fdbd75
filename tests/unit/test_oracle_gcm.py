"""GHASH and AES-GCM: the models against each other, and the hard inputs that are solved for."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.cases.aes_gcm_edges import iv_to
from matrix.cases.formats import parse_cavp
from matrix.errors import VectorError
from matrix.model.interface import load_interface
from matrix.oracles import pyca_aes_gcm, spec_aes_gcm, spec_ghash
from matrix.oracles.registry import models

ROOT = Path(__file__).parents[2]
ELEMENTS = st.integers(0, (1 << 128) - 1) | st.integers(0, 127).map(lambda bit: 1 << bit)
KEYS = st.sampled_from([16, 24, 32]).flatmap(lambda size: st.binary(min_size=size, max_size=size))
BLOCKS = st.binary(max_size=100).map(lambda data: data[: len(data) // 16 * 16])
IVS = st.binary(min_size=8, max_size=128) | st.binary(min_size=12, max_size=12)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


@settings(max_examples=40, deadline=None)
@given(x=ELEMENTS, y=ELEMENTS, z=ELEMENTS)
def test_multiplication_is_that_of_a_field(x: int, y: int, z: int) -> None:
    product = spec_ghash.multiply(x, y)
    assert product == spec_ghash.multiply(y, x)
    assert spec_ghash.multiply(x, y ^ z) == product ^ spec_ghash.multiply(x, z)
    assert spec_ghash.multiply(x, spec_ghash.ONE) == x
    if x:
        assert spec_ghash.multiply(x, spec_ghash.inverse(x)) == spec_ghash.ONE


@settings(max_examples=40, deadline=None)
@given(h=ELEMENTS, y=ELEMENTS, block=ELEMENTS)
def test_the_tables_multiply_as_bit_by_bit(h: int, y: int, block: int) -> None:
    expected = spec_ghash.multiply(y ^ block, h).to_bytes(16, "big")
    key, start, data = (n.to_bytes(16, "big") for n in (h, y, block))
    assert spec_ghash.ghash_hash(key, start, data) == {"y": expected}


@settings(max_examples=40, deadline=None)
@given(key=KEYS, iv=st.binary(min_size=12, max_size=12), data=BLOCKS)
def test_ghash_is_what_the_tag_of_another_implementation_hides(key: bytes, iv: bytes, data: bytes) -> None:
    tag = AESGCM(key).encrypt(iv, b"", data)
    mask = spec_aes_gcm.encrypt_blocks(key, iv + b"\x00\x00\x00\x01")
    lengths = (8 * len(data)).to_bytes(8, "big") + bytes(8)
    assert _xor(tag, mask) == spec_ghash.ghash(spec_aes_gcm.hash_key(key), data + lengths)


@settings(max_examples=60, deadline=None)
@given(key=KEYS, iv=IVS, aad=st.binary(max_size=40), data=st.binary(max_size=150), flip=st.integers(0, 127))
def test_gcm_models_agree_and_refuse_a_changed_tag(key: bytes, iv: bytes, aad: bytes, data: bytes, flip: int) -> None:
    sealed = pyca_aes_gcm.aes_gcm_seal(key, data, iv, aad)
    assert sealed == spec_aes_gcm.aes_gcm_seal(key, data, iv, aad)
    out = sealed["out"]
    wrong = out[:-16] + (int.from_bytes(out[-16:], "big") ^ 1 << flip).to_bytes(16, "big")
    for model in (pyca_aes_gcm, spec_aes_gcm):
        assert model.aes_gcm_open(key, out, iv, aad) == {"out": data}
        assert model.aes_gcm_open(key, wrong, iv, aad) is None


def test_gcm_has_two_models_and_ghash_one() -> None:
    gcm = load_interface(ROOT / "kernels/aes_gcm/aes_gcm.toml")
    ghash = load_interface(ROOT / "kernels/ghash/ghash.toml")
    assert [len(models(gcm, name)) for name in gcm.operations] == [2, 2]
    assert len(models(ghash, "hash")) == 1


@pytest.mark.parametrize("size", [16, 24, 32])
def test_solved_ivs_give_the_counter_that_was_asked_for(size: int) -> None:
    key, j0 = bytes(range(size)), bytes(range(12)) + b"\xff\xff\xff\xfe"
    iv = iv_to(j0, key)
    assert spec_aes_gcm.first_counter(spec_aes_gcm.hash_key(key), iv) == j0
    text = bytes(288)
    assert AESGCM(key).encrypt(iv, text, None)[16:32] == spec_aes_gcm.encrypt_blocks(key, j0[:12] + bytes(4))


GROUPS = """# comment
[Keylen = 128]
[Taglen = 96]

Count = 0
Key = 00
Tag =

Count = 1
Key = 01
FAIL

[Keylen = 256]

Count = 0
Key = 02
"""


def test_groups_and_failures_of_nist_files_are_read() -> None:
    first, failed, last = parse_cavp(GROUPS, "planted")
    assert (first.label, first.fields, first.result) == ("001.0", {"Key": "00", "Tag": ""}, "valid")
    assert first.group == {"Keylen": 128, "Taglen": 96}
    assert (failed.label, failed.fields, failed.result) == ("001.1", {"Key": "01"}, "invalid")
    assert (last.label, last.group) == ("002.0", {"Keylen": 256})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Key = 00\n", "outside an entry"),
        ("Count = 0\nKey = 00\nKey = 01\n", "twice"),
        ("Count = 0\nPASS\n", "without a value"),
        ("FAIL\n", "without a value"),
        ("[Keylen = x]\n", "without a value"),
    ],
)
def test_a_damaged_nist_file_is_refused(text: str, why: str) -> None:
    with pytest.raises(VectorError, match=why):
        parse_cavp(text, "planted")
