"""AES: the two models agree, published vectors verify, and the reader of NIST sections refuses what is unknown."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.cases.corpus import answered
from matrix.cases.nist_sections import parse_nist_sections
from matrix.cases.vectors import published
from matrix.errors import VectorError
from matrix.model.interface import load_interface
from matrix.oracles import pyca_aes, spec_aes
from matrix.oracles.registry import models

ROOT = Path(__file__).parents[2]
KEYS = st.sampled_from((16, 24, 32)).flatmap(lambda size: st.binary(min_size=size, max_size=size))
BLOCKS = st.binary(min_size=16, max_size=16)
COUNTERS = st.integers(0, 5).map(lambda blocks: (1 << 32) - 1 - blocks) | st.integers(0, (1 << 32) - 1)
WHOLE = st.integers(0, 5).flatmap(lambda blocks: st.binary(min_size=16 * blocks, max_size=16 * blocks))
ENTRY = "COUNT = 0\nKEY = 00\nPLAINTEXT = 01\nCIPHERTEXT = 02\n"


@settings(max_examples=60, deadline=None)
@given(key=KEYS, block=BLOCKS)
def test_models_agree_on_blocks_in_both_directions(key: bytes, block: bytes) -> None:
    encrypted = spec_aes.aes_encrypt_block(key, block)
    assert encrypted == pyca_aes.aes_encrypt_block(key, block)
    assert spec_aes.aes_decrypt_block(key, encrypted["out"]) == {"out": block}
    assert spec_aes.aes_decrypt_block(key, block) == pyca_aes.aes_decrypt_block(key, block)


@settings(max_examples=40, deadline=None)
@given(key=KEYS, iv=BLOCKS, data=WHOLE)
def test_models_agree_on_cbc(key: bytes, iv: bytes, data: bytes) -> None:
    assert spec_aes.aes_cbc_encrypt(key, iv, data) == pyca_aes.aes_cbc_encrypt(key, iv, data)
    assert spec_aes.aes_cbc_decrypt(key, iv, data) == pyca_aes.aes_cbc_decrypt(key, iv, data)


@settings(max_examples=60, deadline=None)
@given(key=KEYS, prefix=st.binary(min_size=12, max_size=12), counter=COUNTERS, data=st.binary(max_size=100))
def test_models_agree_on_ctr_also_across_the_wrap(key: bytes, prefix: bytes, counter: int, data: bytes) -> None:
    iv = prefix + counter.to_bytes(4, "big")
    assert spec_aes.aes_ctr(key, iv, data) == pyca_aes.aes_ctr(key, iv, data)


def test_a_counter_that_wraps_does_not_carry_and_comes_back_advanced() -> None:
    iv = b"\x11" * 12 + b"\xff" * 4
    answer = pyca_aes.aes_ctr(bytes(16), iv, bytes(33))
    second = pyca_aes.aes_ctr(bytes(16), b"\x11" * 12 + bytes(4), bytes(17))
    assert answer["out"][16:] == second["out"]
    assert answer["iv"] == b"\x11" * 12 + b"\x00\x00\x00\x02" == second["iv"]


def test_published_vectors_verify() -> None:
    """One in 16; `tests/vectors` has all of them."""
    interface = load_interface(ROOT / "kernels/aes/aes.toml")
    answers = {name: models(interface, name) for name in interface.operations}
    drafts = list(published("aes", ROOT / "vectors"))
    assert len(drafts) == 4269
    cases = [answered(draft, interface, answers) for draft in drafts[::16]]
    assert not any(case.skip for case in cases)


def test_sections_become_labels_and_results() -> None:
    entries = parse_nist_sections(f"# head\n[ENCRYPT]\n\n{ENTRY}\n[DECRYPT]\n\n{ENTRY}", "f.rsp")
    assert [(entry.label, entry.result) for entry in entries] == [("encrypt-0", "encrypt"), ("decrypt-0", "decrypt")]
    assert entries[0].fields == {"KEY": "00", "PLAINTEXT": "01", "CIPHERTEXT": "02"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"[MCT]\n{ENTRY}", "wrong section.*line 1.*MCT"),
        (f"[ENCRYPT]\n{ENTRY}[ENCRYPT]\n{ENTRY}", "wrong section.*line 6"),
        (f"{ENTRY}[ENCRYPT]\n{ENTRY}", "does not start with a section"),
        (f"[ENCRYPT]\n{ENTRY}junk\n", "line 6"),
    ],
)
def test_wrong_sections_are_errors(text: str, words: str) -> None:
    with pytest.raises(VectorError) as caught:
        parse_nist_sections(text, "f.rsp")
    assert re.search(words, str(caught.value).replace("\n", " "))
