"""Chains and repeated messages: answers against published ones, how they are laid out, what is refused."""

import hashlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from matrix.cases.case import Case, Chain, Draft
from matrix.cases.chain import LINK_ROUNDS, chain_problem, first_wrong_round, layout_of, links, round_case, run_chain
from matrix.cases.corpus import answered, parts
from matrix.cases.layout import Binding, repeat_problem
from matrix.cases.manifest import read_manifest
from matrix.cases.nist_monte import parse_monte, parse_shake128_monte
from matrix.cases.placement import QUICK
from matrix.cases.typed import read_typed
from matrix.errors import VectorError
from matrix.model.catalog import load_catalog
from matrix.model.interface import Interface, load_interface
from matrix.model.kernel import State
from matrix.oracles.registry import models, oracle
from matrix.worker import protocol as pr

KERNELS = Path(__file__).parents[2] / "kernels"
NINE = (9).to_bytes(32, "little")
ITERATED = Chain(("point", "scalar"), 3)


@pytest.fixture(scope="module")
def x25519() -> Interface:
    return load_interface(KERNELS / "x25519" / "x25519.toml")


@pytest.fixture(scope="module")
def sha256() -> Interface:
    return load_interface(KERNELS / "sha256" / "sha256.toml")


def test_one_round_is_the_operation_itself(x25519: Interface) -> None:
    """RFC 7748 5.2, after one iteration; the old scalar is the next point."""
    answer, after = run_chain(
        oracle(x25519, "scalarmult"), {"scalar": NINE, "point": NINE}, Chain(("point", "scalar"), 1)
    )
    assert answer["out"].hex() == "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"
    assert after == {"scalar": answer["out"], "point": NINE}


def test_a_window_of_three_answers_is_shavs(sha256: Interface) -> None:
    """SHAVS 6.4, the first three rounds written out with hashlib."""
    seed = bytes(range(32))
    one = hashlib.sha256(3 * seed).digest()
    two = hashlib.sha256(seed + seed + one).digest()
    three = hashlib.sha256(seed + one + two).digest()
    answer, after = run_chain(oracle(sha256, "hash"), {"data": 3 * seed}, Chain(("data",), 3))
    assert answer == {"digest": three}
    assert after == {"data": one + two + three}


def test_links_of_a_long_chain_join(sha256: Interface) -> None:
    """Whoever follows the links comes to the answer of the whole, and only the last one is published."""
    hashes = oracle(sha256, "hash")
    whole = Chain(("data",), 2 * LINK_ROUNDS + 7)
    end, _ = run_chain(hashes, {"data": b"\1" * 32}, whole)
    draft = Draft("long", "hash", {"data": b"\1" * 32}, "here", "long", end, chain=whole)
    cut = list(links(draft, hashes))
    assert [link.chain.rounds for link in cut if link.chain] == [LINK_ROUNDS, LINK_ROUNDS, 7]
    assert [link.name for link in cut] == ["long-from-0", "long-from-1000", "long"]
    assert [link.published for link in cut] == [None, None, end]
    for link, following in pairwise(cut):
        assert link.known is not None
        assert following.inputs == {"data": link.known["digest"]}
    answers = {"hash": models(sha256, "hash")}
    assert answered(cut[-1], sha256, answers).expected == end
    with pytest.raises(VectorError, match="contradicts the oracle"):
        answered(replace(cut[-1], known={"digest": bytes(32)}), sha256, answers)


@pytest.mark.parametrize("wrong", [0, 1, 6])
def test_the_first_wrong_round_is_found_and_stands_alone(sha256: Interface, wrong: int) -> None:
    """After a wrong answer the kernel goes on with it, so that every later one differs as well."""
    chain, seed = Chain(("data",), 7), 3 * bytes(range(32))
    tape = seed
    for turn in range(chain.rounds):
        digest = hashlib.sha256(tape[-96:]).digest()
        tape += digest if turn != wrong else digest[::-1]
    case = Case("c", "sha256", "hash", {"data": seed}, "there", "full", {}, chain=chain)
    hashes = oracle(sha256, "hash")
    assert first_wrong_round(case, chain, hashes, tape) == wrong
    alone = round_case(case, chain, hashes, wrong)
    message = tape[32 * wrong : 32 * wrong + 96]
    assert alone.plain
    assert (alone.name, alone.origin) == (f"c-round-{wrong + 1}", f"there, round {wrong + 1} of 7")
    assert (alone.inputs, alone.expected) == ({"data": message}, {"digest": hashlib.sha256(message).digest()})


def test_a_right_tape_has_no_wrong_round(sha256: Interface) -> None:
    seed = bytes(96)
    tape = seed + hashlib.sha256(seed).digest()
    case = Case("c", "sha256", "hash", {"data": seed}, "there", "full", {}, chain=Chain(("data",), 1))
    assert first_wrong_round(case, Chain(("data",), 1), oracle(sha256, "hash"), tape) is None


def test_a_chain_moves_along_its_tape(x25519: Interface) -> None:
    """Each call reads point and scalar 32 bytes farther on, and writes behind them."""
    operation = x25519.operations["scalarmult"]
    case = Case("c", "x25519", "scalarmult", {"scalar": b"s" * 32, "point": b"p" * 32}, "", "full", {}, chain=ITERATED)
    run = layout_of(x25519, operation, Binding({"scalarmult": 5}, {}, 8), QUICK[0], ITERATED).run(case)
    assert run is not None
    assert run.steps == 3
    assert run.returned_lengths == [64 + 3 * 32]
    assert run.expected() is None, "the tape is not compared as a whole"
    assert b"p" * 32 + b"s" * 32 in run.payload
    addresses = [
        pr.WORD_LAYOUT.unpack_from(run.payload, at)[4]
        for step in range(3)
        for at in (len(run.payload) - (3 - step) * (4 + 3 * 16) + 4 + 16 * word for word in range(3))
    ]
    assert addresses == [64, 32, 0, 96, 64, 32, 128, 96, 64]
    assert run.outputs((bytes(128) + b"last" * 8,)) == {"out": b"last" * 8}


def test_a_repeated_message_lies_in_memory_once(sha256: Interface) -> None:
    """Its pieces have the same address, and their lengths add up."""
    operation = sha256.operations["hash"]
    case = Case("c", "sha256", "hash", {"data": b"x" * 100}, "", "long", {"digest": bytes(32)}, total=250)
    binding = Binding({"init": 1, "update": 2, "final": 3}, {"ctx": State(128, 16, "composed")}, 8)
    run = layout_of(sha256, operation, binding, QUICK[0], None).run(case)
    assert run is not None
    assert run.steps == 5
    step = 4 + 3 * 16
    updates = run.payload[len(run.payload) - 3 * step - (4 + 2 * 16) : -(4 + 2 * 16)]
    words = [[pr.WORD_LAYOUT.unpack_from(updates, step * n + 4 + 16 * w)[4] for w in range(3)] for n in range(3)]
    assert [(data, length) for _, data, length in words] == [(0, 100), (0, 100), (0, 50)]


def test_the_oracle_answers_the_whole_message(sha256: Interface) -> None:
    draft = Draft("d", "hash", {"data": b"abc"}, "", "long", total=100)
    case = answered(draft, sha256, {"hash": models(sha256, "hash")})
    assert case.expected == {"digest": hashlib.sha256((b"abc" * 34)[:100]).digest()}
    assert (case.total, case.plain) == (100, False)


@pytest.mark.parametrize(
    ("algorithm", "operation", "chain", "words"),
    [
        ("sha256", "hash", Chain(("digest",), 3), "does not name inputs"),
        ("sha256", "hash", Chain((), 3), "does not name inputs"),
        ("sha256", "hash", Chain(("data", "data"), 3), "does not name inputs"),
        ("sha256", "hash", Chain(("data",), 0), "do not fit"),
        ("sha3", "shake128", Chain(("data",), 3), "one output of fixed size"),
        ("chacha20_poly1305", "open", Chain(("data",), 3), "one output of fixed size"),
        ("chacha20", "xor", Chain(("data",), 3), "one output of fixed size"),
    ],
)
def test_what_cannot_be_chained_is_refused(algorithm: str, operation: str, chain: Chain, words: str) -> None:
    interface = load_interface(KERNELS / algorithm / f"{algorithm}.toml")
    assert words in chain_problem(interface, interface.operations[operation], chain)


@pytest.mark.parametrize(
    ("algorithm", "operation", "inputs", "total", "words"),
    [
        ("sha256", "hash", {"data": b""}, 5, "no message"),
        ("x25519", "scalarmult", {"scalar": NINE, "point": NINE}, 64, "no message"),
        ("sha256", "blocks", {"h": bytes(32), "data": bytes(63)}, 640, "pieces of 64"),
        ("sha256", "hash", {"data": b"ab"}, 1, "do not fit"),
        ("sha256", "hash", {"data": b"a"}, 1_000_000, "do not fit"),
        ("chacha20", "xor", {"data": b"a"}, 10, "no message"),
        ("chacha20", "xor", {"data": bytes(64)}, 640, "an output is as long"),
        ("aes_gcm", "seal", {"plaintext": bytes(16)}, 160, "."),
    ],
)
def test_what_cannot_be_repeated_is_refused(
    algorithm: str, operation: str, inputs: dict[str, Any], total: int, words: str
) -> None:
    interface = load_interface(KERNELS / algorithm / f"{algorithm}.toml")
    problem = repeat_problem(interface, interface.operations[operation], inputs, total)
    assert problem
    assert words in problem or words == "."


def test_monte_carlo_entries_follow_from_each_other() -> None:
    text = "[L = 2]\nSeed = aabb\nCOUNT = 0\nMD = ccdd\nCOUNT = 1\nMD = eeff\n"
    entries = parse_monte(text, "here")
    assert [(e.label, e.fields["Seed"], e.fields["MD"], e.group) for e in entries] == [
        ("0", "aabb", "ccdd", {"L": "2"}),
        ("1", "ccdd", "eeff", {"L": "2"}),
    ]


HEAD = "[Minimum Output Length (bits) = 128]\n[Maximum Output Length (bits) = 1120]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("COUNT = 0\nMD = aa\n", "no start"),
        ("Seed = aabb\nCOUNT = 0\nMD = ccd\n", "lacks a field"),
        ("Seed = aabb\nCOUNT = 0\n", "lacks a field"),
        ("Seed = aabb\nCOUNT = 0\nMD = aa\nMD = aa\n", "twice"),
        ("Seed = aabb\nSeed = aabb\nCOUNT = 0\nMD = aa\n", "twice"),
        ("Seed = aabb\nnonsense\n", "strange line"),
    ],
)
def test_a_damaged_monte_carlo_file_is_refused(text: str, words: str) -> None:
    with pytest.raises(VectorError, match=words):
        parse_monte(text, "here")


@pytest.mark.parametrize("text", ["Msg = aa\nCOUNT = 0\nOutput = aa\n", HEAD + "Msg = xx\nCOUNT = 0\nOutput = aa\n"])
def test_a_monte_carlo_file_of_shake_with_a_wrong_head_is_refused(text: str) -> None:
    with pytest.raises(VectorError, match="wrong head"):
        parse_shake128_monte(text, "here")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('feed = ["data"]', "both feed and rounds"),
        ("rounds = 3", "both feed and rounds"),
        ("repeat = { other = 10 }", "cannot be repeated"),
        ("repeat = { data = 0 }", "cannot be repeated"),
    ],
)
def test_a_typed_vector_with_half_a_chain_is_refused(tmp_path: Path, more: str, words: str) -> None:
    path = tmp_path / "sha256.toml"
    head = '[[case]]\nname = "n"\norigin = "o"\noperation = "hash"\n'
    path.write_text(f'{head}{more}\n[case.in]\ndata = "61"\n[case.out]\ndigest = ""\n')
    with pytest.raises(VectorError, match=words):
        read_typed(path)


def test_cases_for_one_target_name_one_that_there_is() -> None:
    """A misspelt one would never run, and nothing would say so."""
    root = KERNELS.parent
    catalog = load_catalog(root)
    named = {
        draft.target
        for source in read_manifest(root / "vectors")
        if source.format == "typed"
        for draft in read_typed(root / "vectors" / source.file)
    }
    assert named - {""} <= {target.name for target in catalog.targets.targets}
    assert len(named) > 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"operation": "scalarmul"}, "unknown operation"),
        ({"chain": Chain(("point", "skalar"), 5000)}, "does not fit"),
        ({"inputs": {"scalar": NINE}}, "does not fit"),
    ],
)
def test_a_long_chain_that_does_not_fit_is_refused_before_it_is_run(
    x25519: Interface, change: dict[str, Any], words: str
) -> None:
    good = Draft("d", "scalarmult", {"scalar": NINE, "point": NINE}, "", "full", chain=Chain(("point", "scalar"), 5000))
    with pytest.raises(VectorError, match=words):
        list(parts(replace(good, **change), x25519, {"scalarmult": models(x25519, "scalarmult")}))
