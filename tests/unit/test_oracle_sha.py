"""The models of the hashes: FIPS 180-4 transcribed against hashlib, and the two models of hash and HMAC."""

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.model.interface import load_interface
from matrix.oracles import pyca_sha, spec_sha
from matrix.oracles.registry import models

ROOT = Path(__file__).parents[2]
Blocks = Callable[[bytes, bytes], dict[str, bytes]]
HASHES: dict[str, tuple[Blocks, str, int, tuple[int, ...]]] = {
    "sha1": (spec_sha.sha1_blocks, "5I", 64, spec_sha.SHA1_START),
    "sha256": (spec_sha.sha256_blocks, "8I", 64, spec_sha.SHA256_START),
    "sha512": (spec_sha.sha512_blocks, "8Q", 128, spec_sha.SHA512_START),
}


def _digest(name: str, data: bytes) -> bytes:
    """The digest by the transcription: padded, compressed in one call, words turned around."""
    blocks, form, block, start = HASHES[name]
    value = blocks(struct.pack(f"<{form}", *start), spec_sha.padded(data, block))["h"]
    return struct.pack(f">{form}", *struct.unpack(f"<{form}", value))


@pytest.mark.parametrize("name", HASHES)
def test_the_transcription_hashes_messages_of_every_length_up_to_three_blocks(name: str) -> None:
    message = hashlib.shake_128(name.encode()).digest(3 * 128 + 1)
    for length in range(3 * HASHES[name][2] + 2):
        assert _digest(name, message[:length]) == hashlib.new(name, message[:length]).digest(), length


@pytest.mark.parametrize("name", HASHES)
@settings(max_examples=25, deadline=None)
@given(parts=st.lists(st.sampled_from([b"\x00", b"\xff", b"\x80", b"\x7f\x01"]), max_size=60), times=st.integers(1, 7))
def test_the_transcription_hashes_extreme_messages(name: str, parts: list[bytes], times: int) -> None:
    data = b"".join(parts) * times
    assert _digest(name, data) == hashlib.new(name, data).digest()


@pytest.mark.parametrize("name", HASHES)
def test_blocks_go_on_from_any_chaining_value(name: str) -> None:
    blocks, form, block, _ = HASHES[name]
    h = hashlib.shake_128(b"h").digest(struct.calcsize(form))
    data = hashlib.shake_128(b"data").digest(5 * block)
    whole = blocks(h, data)["h"]
    assert blocks(blocks(h, data[:block])["h"], data[block:])["h"] == whole
    assert blocks(h, b"")["h"] == h
    assert blocks(h, data[block:] + data[:block])["h"] != whole


@settings(max_examples=40, deadline=None)
@given(key=st.binary(max_size=300), data=st.binary(max_size=300))
def test_both_models_agree(key: bytes, data: bytes) -> None:
    for name in HASHES:
        assert getattr(pyca_sha, f"{name}_hash")(data) == getattr(spec_sha, f"{name}_hash")(data)
        assert getattr(pyca_sha, f"hmac_{name}")(key, data) == getattr(spec_sha, f"hmac_{name}")(key, data)


def test_every_operation_has_its_models() -> None:
    for algorithm in (*HASHES, "hmac"):
        interface = load_interface(ROOT / f"kernels/{algorithm}/{algorithm}.toml")
        for operation in interface.operations:
            assert len(models(interface, operation)) == (1 if operation == "blocks" else 2)
