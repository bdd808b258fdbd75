"""Generated cases: which lengths, counters and accumulators they hold, and that nothing in them repeats."""

from collections.abc import Callable
from pathlib import Path

import pytest

from matrix.cases import chacha20_edges, poly1305_edges
from matrix.cases.case import Draft
from matrix.cases.edges import COUNTERS, MAX_BLOCKS, generic_edges
from matrix.cases.lengths import BULK_END, LONGEST, drawn_lengths
from matrix.cases.material import DISTINCT_LIMIT, distinct, draw, stream
from matrix.cases.randomized import DEFAULT_COUNT, random_cases, structured_bytes
from matrix.model.interface import Interface, load_interface
from matrix.oracles.spec_chacha20 import block
from matrix.oracles.spec_poly1305 import CLAMP, P, accumulate, block_number

ROOT = Path(__file__).parents[2]
MIN_BYTES = (0, 129, 4000)
STRADDLED = "0 1 15 16 17 31 32 33 47 48 49 63 64 65 95 96 97 127 128 129 191 192 193 255 256 257 383 384 385"
STRADDLED += " 511 512 513 767 768 769 1023 1024 1025 24575 24576 24577"

MANY_INPUTS = """
[call.work]
args = ["out:out", "data:in", "len(data)", "aad:in", "len(aad)", "key:in", "len(key)", "tweak:u32"]
[op.work]
in = { key = "16|24|32", tweak = "u32", aad = "0..40", data = "0..", more = "len(data)+4" }
out = { out = "len(data)" }
steps = ["work"]
[call.small]
args = ["out:out", "data:in", "key:in", "len(key)"]
[op.fixed]
in = { key = "16|24|32", data = "8", aad = "1|2" }
out = { out = "len(data)" }
steps = ["small"]
"""


def _interface(algorithm: str) -> Interface:
    return load_interface(ROOT / "kernels" / algorithm / f"{algorithm}.toml")


def _lengths(drafts: list[Draft], role: str, start: str = "len-") -> list[int]:
    return [len(value) for d in drafts if d.name.startswith(start) and isinstance(value := d.inputs[role], bytes)]


@pytest.fixture(scope="module")
def chacha20() -> list[Draft]:
    return list(generic_edges(_interface("chacha20"), MIN_BYTES, exhaustive=False))


def test_every_length_to_2100_and_bulk_lengths_to_64_kib(chacha20: list[Draft]) -> None:
    lengths = _lengths(chacha20, "data")
    assert len(lengths) == len(set(lengths))
    assert set(range(2101)) <= set(lengths)
    assert {4095, 4096, 4097, 24575, 24576, 24577, 32768, 65535, 65536} <= set(lengths)
    assert {3936, 3999, 4000, 4001, 4064} <= set(lengths)
    assert max(lengths) == 65536


def test_boundary_tier_straddles_the_lengths_where_kernels_change_path(chacha20: list[Draft]) -> None:
    lengths = _lengths([d for d in chacha20 if d.tier != "full"], "data")
    assert set(map(int, STRADDLED.split())) <= set(lengths)
    assert {65, 128, 129, 130, 193, 3936, 3999, 4000, 4001, 4064} <= set(lengths)


def test_smoke_tier_has_a_few_lengths_of_each_class(chacha20: list[Draft]) -> None:
    lengths = _lengths([d for d in chacha20 if d.tier == "smoke"], "data")
    assert {0, 1, 63, 64, 65, 128, 129, 130, 3999, 4000, 4001} <= set(lengths)
    assert any(130 < length < 3999 for length in lengths)
    assert 10 <= sum(d.tier == "smoke" for d in chacha20) <= 40


def test_every_counter_meets_every_block_count_and_all_endings(chacha20: list[Draft]) -> None:
    cases = [d for d in chacha20 if d.name.startswith("ctr-")]
    seen = {(d.inputs["counter"], -(-len(value) // 64)) for d in cases if isinstance(value := d.inputs["data"], bytes)}
    assert seen == {(counter, blocks) for counter in COUNTERS for blocks in range(1, MAX_BLOCKS + 1)}
    assert {0, 1, 0x7FFFFFF8, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF} <= set(COUNTERS)
    assert {counter & 0xFF for counter in COUNTERS if 1 < counter < 0x7F000000} == set(range(0xF0, 0x100))
    endings = {length % 64 for length in _lengths(cases, "data", "ctr-")}
    assert {0, 1, 63} < endings
    assert len(endings) > 30


def test_exhaustive_gives_each_counter_case_four_endings(chacha20: list[Draft]) -> None:
    exhaustive = list(generic_edges(_interface("chacha20"), MIN_BYTES, exhaustive=True))
    assert sum(d.name.startswith("ctr-") for d in exhaustive) == 4 * len(COUNTERS) * MAX_BLOCKS
    assert {d.name for d in chacha20} < {d.name for d in exhaustive}


def test_data_is_not_periodic_and_small_inputs_have_distinct_bytes() -> None:
    data = stream("label", 65536)
    assert len({data[at : at + 16] for at in range(0, len(data), 16)}) == 4096
    assert all(len(set(distinct(f"label{n}", n))) == n for n in range(DISTINCT_LIMIT + 1))
    assert len(distinct("label", 200)) == 200
    assert stream("a", 32) != stream("b", 32)
    assert {draw(str(n), 3) for n in range(50)} == {0, 1, 2}


def test_generic_edges_follow_any_interface(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text(MANY_INPUTS)
    drafts = list(generic_edges(load_interface(path), (), exhaustive=False))
    work = [d for d in drafts if d.operation == "work"]
    fixed = [d for d in drafts if d.operation == "fixed"]
    assert len({d.name for d in drafts}) == len(drafts)
    assert {len(bytes(d.inputs["key"])) for d in work} == {16, 24, 32}
    assert all(len(bytes(d.inputs["more"])) == len(bytes(d.inputs["data"])) + 4 for d in work)
    assert set(_lengths(drafts, "aad", "work-len-aad-")) | set(_lengths(drafts, "aad", "work-len-0")) == set(range(41))
    assert {d.inputs["tweak"] for d in work if d.name.startswith("work-tweak-")} == set(COUNTERS)
    assert {(len(bytes(d.inputs["key"])), len(bytes(d.inputs["aad"]))) for d in fixed if d.tier == "smoke"} >= {(16, 1)}
    assert len({(len(bytes(d.inputs["key"])), len(bytes(d.inputs["aad"]))) for d in fixed}) == 6


def test_random_cases_depend_on_the_seed_only() -> None:
    interface = _interface("chacha20")
    first, again, other = (list(random_cases(interface, seed, exhaustive=False)) for seed in (1, 1, 2))
    assert first == again
    assert sum(d.name.startswith("rand-") for d in first) == DEFAULT_COUNT
    assert [d.inputs for d in first] != [d.inputs for d in other]
    assert first[0].origin == "random seed=1"
    assert len(set(_lengths(first, "data", "rand-"))) > 50


def test_long_messages_are_drawn_with_all_kinds_of_tails() -> None:
    drafts = [d for d in random_cases(_interface("chacha20"), 1, exhaustive=False) if d.name.startswith("bulk-")]
    lengths = _lengths(drafts, "data", "bulk-")
    assert {d.tier for d in drafts} == {"full"}
    assert all(4096 <= length <= LONGEST for length in lengths)
    assert [sum(low <= length < 2 * low for length in lengths) for low in (4096, 8192, 16384, 32768)] == [6, 6, 6, 6]
    assert sum(length > BULK_END for length in lengths) == 3
    for modulus in (64, 256):
        assert {length % modulus * 8 // modulus for length in lengths} == set(range(8))
    assert any(length >= 8448 and 2 <= length % 64 <= 62 for length in lengths)


@pytest.mark.parametrize("seed", range(50))
def test_drawn_lengths_fit_a_slot_and_differ_by_seed(seed: int) -> None:
    lengths = drawn_lengths(f"{seed}")
    assert len(set(lengths)) == len(lengths)
    assert max(lengths) <= LONGEST
    assert lengths != drawn_lengths(f"{seed}.other")


def test_long_inputs_follow_any_interface(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    text = MANY_INPUTS.replace('data = "0..", more', 'other = "0..", data = "0../48", more')
    path.write_text(text.replace('"len(key)", "tweak:u32"', '"tweak:u32", "other:in"'))
    drafts = [d for d in random_cases(load_interface(path), 1, exhaustive=False) if "bulk-" in d.name]
    assert {d.operation for d in drafts} == {"work"}  # the other has no open input
    assert not [d for d in drafts if "aad" in d.name]  # it ends at 40 bytes
    other = _lengths(drafts, "other", "work-bulk-other-")
    message = _lengths([d for d in drafts if "bulk-other-" not in d.name], "data", "work-bulk-")
    assert (len(message), len(other)) == (27, 3)
    assert max(message) > BULK_END
    assert min(*message, *other) >= 4096 - 48
    assert not any(length % 48 for length in message)


def test_structured_bytes_hold_runs_of_zeros_and_ones() -> None:
    data = structured_bytes("label", 4096)
    assert len(data) == 4096
    assert bytes(8) in data
    assert b"\xff" * 8 in data
    assert structured_bytes("label", 0) == b""


def test_the_zero_word_of_chacha20_is_zero() -> None:
    zero = block(chacha20_edges.ZERO_WORD_KEY, chacha20_edges.ZERO_WORD_COUNTER, chacha20_edges.ZERO_WORD_NONCE)
    assert zero[48:52] == bytes(4)
    lanes = [d for d in chacha20_edges.edges(_interface("chacha20")) if d.name.startswith("zero-word-")]
    offsets = {
        chacha20_edges.ZERO_WORD_COUNTER - d.inputs["counter"] for d in lanes if isinstance(d.inputs["counter"], int)
    }
    assert offsets == set(range(8))


def test_counters_of_chacha20_cross_every_byte_and_end_beyond_it() -> None:
    carries = [d for d in chacha20_edges.edges(_interface("chacha20")) if d.name.startswith("byte-carry-")]
    for bits in (8, 16, 24):
        crossed = set()
        for draft in carries:
            start = draft.inputs["counter"]
            assert isinstance(start, int)
            last = start + (len(bytes(draft.inputs["data"])) - 1) // 64
            if start >> bits != last >> bits:
                crossed.add((start >> bits, -start % (1 << bits)))
        assert {(0, left) for left in (1, 2, 3, 4, 5, 8, 15)} <= crossed
        assert any(upper for upper, _ in crossed)


@pytest.mark.parametrize("edges", [chacha20_edges.edges, poly1305_edges.edges])
def test_own_edges_have_unique_names(edges: Callable[[Interface], list[Draft]]) -> None:
    algorithm = edges.__module__.rpartition(".")[2].removesuffix("_edges")
    names = [d.name for d in edges(_interface(algorithm))]
    assert len(names) == len(set(names))


def test_poly1305_targets_cover_every_limb_limit() -> None:
    targets = set(poly1305_edges.targets().values())
    assert {0, 1, 4, 5, P - 1, P - 5, (1 << 128) - 1, 1 << 128, (1 << 128) + 5} <= targets
    for exponent in (26, 52, 78, 104, 44, 88, 32, 64, 96):
        assert {(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1} <= targets
    assert all(0 <= target < P for target in targets)


def test_poly1305_accumulators_are_reached_at_the_end_and_before_it() -> None:
    targets = poly1305_edges.targets()
    places = {"end": 0, "last1": 16, "last4": 64}
    checked = 0
    for draft in poly1305_edges.edges(_interface("poly1305")):
        kind, _, rest = draft.name.partition("-")
        if kind != "acc":
            continue
        name, place, _ = rest.split("-")
        key, data = bytes(draft.inputs["key"]), bytes(draft.inputs["data"])
        r = int.from_bytes(key[:16], "little")
        cut = len(data) - places.get(place, len(data) % 16)
        assert r & CLAMP == r
        assert accumulate(r, data[:cut]) == targets[name], draft.name
        checked += 1
    assert checked == 4 * len(targets)


def test_poly1305_last_reductions_end_just_above_the_prime() -> None:
    drafts = [d for d in poly1305_edges.edges(_interface("poly1305")) if d.name.startswith("last-")]
    ends = [accumulate(int.from_bytes(bytes(d.inputs["key"])[:16], "little"), bytes(d.inputs["data"])) for d in drafts]
    assert set(ends) == set(range(6))
    assert {d.tier for d in drafts} == {"smoke", "boundary", "full"}


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_poly1305_lanes_hold_the_target_at_once(lanes: int) -> None:
    target, r = P - 1, CLAMP
    data = poly1305_edges.lanes_to(target, r, lanes, "label")
    blocks = [data[at : at + 16] for at in range(0, len(data), 16)]
    for lane in range(lanes):
        accumulator = 0
        for piece in blocks[lane::lanes]:
            accumulator = (accumulator + block_number(piece)) * pow(r, lanes, P) % P
        assert accumulator == target


def test_limbs_are_zero_ones_or_random() -> None:
    number = [poly1305_edges.limbs(f"label{n}", 26) for n in range(40)]
    limbs = {(value >> at) & ((1 << 26) - 1) for value in number for at in range(0, 104, 26)}
    assert {0, (1 << 26) - 1} < limbs
    assert max(number) < 1 << 128
