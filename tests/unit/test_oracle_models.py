"""Oracles: the two models agree wherever both answer, and the registry refuses functions with other names."""

from pathlib import Path
from types import ModuleType

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from hypothesis import given, settings
from hypothesis import strategies as st

from matrix.errors import OracleError
from matrix.model.interface import Interface, load_interface
from matrix.oracles import pyca, spec_chacha20, spec_chacha20_poly1305, spec_poly1305
from matrix.oracles.registry import model_modules, models, oracle

ROOT = Path(__file__).parents[2]
NEAR_WRAP = st.integers(0, 6).map(lambda blocks: (1 << 32) - 1 - blocks)
COUNTERS = st.integers(0, (1 << 32) - 1) | NEAR_WRAP | st.just(0)
KEYS = st.binary(min_size=32, max_size=32)
NONCES = st.binary(min_size=12, max_size=12)
EXTREME = st.lists(st.sampled_from([b"\x00" * 4, b"\xff" * 4, b"\x80\x00\x00\x00", b"\x01\x00\x00\x00"])).map(b"".join)
AEAD = """
[call.seal]
args = ["out:out", "tag:out", "data:in", "len(data)"]
[call.open]
args = ["out:out", "tag:in", "data:in", "len(data)"]
[op.seal]
in = { key = "32", nonce = "12", aad = "0..", data = "0.." }
out = { out = "len(data)", tag = "16" }
steps = ["seal"]
[op.open]
in = { key = "32", nonce = "12", aad = "0..", data = "0..", tag = "16" }
out = { out = "len(data)" }
steps = ["open"]
returns = "ok|reject"
"""


def _chacha20() -> Interface:
    return load_interface(ROOT / "kernels/chacha20/chacha20.toml")


def _module(source: str, name: str = "pyca_planted") -> tuple[ModuleType, ...]:
    module = ModuleType(name)
    exec(source, module.__dict__)
    return (module,)


@settings(max_examples=40, deadline=None)
@given(key=KEYS, nonce=NONCES, counter=COUNTERS, data=st.binary(max_size=400))
def test_chacha20_models_agree_also_across_the_wrap(key: bytes, nonce: bytes, counter: int, data: bytes) -> None:
    assert pyca.chacha20_xor(key, nonce, counter, data) == spec_chacha20.chacha20_xor(key, nonce, counter, data)


def test_cryptography_refuses_what_the_oracle_computes_across_the_wrap() -> None:
    key, nonce = bytes(range(32)), b"\xff" * 12
    refused = Cipher(algorithms.ChaCha20(key, b"\xfe\xff\xff\xff" + nonce), mode=None).encryptor()
    with pytest.raises(ValueError, match="overflow"):
        refused.update(bytes(129))
    out = pyca.chacha20_xor(key, nonce, 0xFFFFFFFE, bytes(320))["out"]
    blocks = [spec_chacha20.block(key, counter, nonce) for counter in (0xFFFFFFFE, 0xFFFFFFFF, 0, 1, 2)]
    assert out == b"".join(blocks)


@settings(max_examples=60, deadline=None)
@given(key=KEYS | EXTREME.map(lambda b: (b + bytes(32))[:32]), data=st.binary(max_size=200) | EXTREME)
def test_poly1305_models_agree(key: bytes, data: bytes) -> None:
    assert pyca.poly1305_mac(key, data) == spec_poly1305.poly1305_mac(key, data)


@settings(max_examples=40, deadline=None)
@given(key=KEYS, nonce=NONCES, aad=st.binary(max_size=40), data=st.binary(max_size=150), flip=st.integers(0, 127))
def test_aead_models_agree_and_refuse_a_changed_tag(
    key: bytes, nonce: bytes, aad: bytes, data: bytes, flip: int
) -> None:
    sealed = pyca.chacha20_poly1305_seal(key, nonce, aad, data)
    assert sealed == spec_chacha20_poly1305.chacha20_poly1305_seal(key, nonce, aad, data)
    wrong = (int.from_bytes(sealed["tag"], "little") ^ (1 << flip)).to_bytes(16, "little")
    for model in (pyca, spec_chacha20_poly1305):
        assert model.chacha20_poly1305_open(key, nonce, aad, sealed["out"], sealed["tag"]) == {"out": data}
        assert model.chacha20_poly1305_open(key, nonce, aad, sealed["out"], wrong) is None


def test_the_registry_finds_two_models_of_every_operation(tmp_path: Path) -> None:
    path = tmp_path / "chacha20_poly1305.toml"
    path.write_text(AEAD)
    interfaces = [_chacha20(), load_interface(ROOT / "kernels/poly1305/poly1305.toml"), load_interface(path)]
    for interface in interfaces:
        for operation in interface.operations:
            assert len(models(interface, operation)) == 2
    assert model_modules()[0] is pyca
    opened = oracle(interfaces[2], "open")(key=bytes(32), nonce=bytes(12), aad=b"", data=b"x", tag=bytes(16))
    assert opened is None


def test_a_missing_oracle_is_an_error() -> None:
    with pytest.raises(OracleError, match="operation xor has no oracle"):
        oracle(_chacha20(), "xor", _module("def chacha20_block(): return {}"))


def test_wrong_parameter_names_are_an_error() -> None:
    with pytest.raises(OracleError, match=r"parameters counter, iv, key, text.*inputs of chacha20.toml counter, data"):
        oracle(_chacha20(), "xor", _module("def chacha20_xor(key, iv, counter, text): return {'out': text}"))


@pytest.mark.parametrize("returned", ["{'text': data}", "{'out': data, 'tag': data}", "{}"])
def test_wrong_output_names_are_an_error(returned: str) -> None:
    function = oracle(_chacha20(), "xor", _module(f"def chacha20_xor(key, nonce, counter, data): return {returned}"))
    with pytest.raises(OracleError, match="returns other outputs"):
        function(key=bytes(32), nonce=bytes(12), counter=0, data=b"")


def test_a_refusal_where_none_is_possible_is_an_error() -> None:
    function = oracle(_chacha20(), "xor", _module("def chacha20_xor(key, nonce, counter, data): return None"))
    with pytest.raises(OracleError, match="refuses where the operation cannot"):
        function(key=bytes(32), nonce=bytes(12), counter=0, data=b"")


def test_a_function_that_a_module_only_imports_does_not_answer() -> None:
    imported = "from matrix.oracles.spec_chacha20 import chacha20_xor"
    with pytest.raises(OracleError, match="has no oracle"):
        oracle(_chacha20(), "xor", _module(imported))
