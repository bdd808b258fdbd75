"""What a default run does with every variant: states at entry, cuts, odd addresses, lengths beyond 16 and 32 bits."""

from collections import defaultdict

import pytest

from matrix.cases.case import Case, Draft
from matrix.cases.choosing import UNALIGNED, Choice
from matrix.cases.corpus import build_corpus, input_problem
from matrix.cases.edges import beyond_16_bits, many_pieces
from matrix.cases.entry import ENTRY_STATES, describe_entry
from matrix.cases.layout import Binding, Layout
from matrix.cases.material import byte_count, open_roles
from matrix.cases.numbering import numbered
from matrix.cases.placement import CUTS_OF_QUICK, QUICK, all_placements, beyond_placements, named
from matrix.cases.x25519_edges import RADICES, results_near_p
from matrix.model.catalog import Catalog
from matrix.model.interface import Operation
from matrix.model.kernel import State
from matrix.oracles.registry import models
from matrix.oracles.spec_x25519 import P
from matrix.worker.protocol import (
    ADDRESS_FIXED,
    ADDRESS_KEPT,
    BUFFER_LAYOUT,
    RUN_LAYOUT,
    STEP_LAYOUT,
    WORD_LAYOUT,
    Role,
)

ALGORITHMS = (
    *("aes", "aes_gcm", "chacha20", "chacha20_poly1305", "ghash", "hmac", "poly1305"),
    *("sha1", "sha256", "sha3", "sha512", "x25519"),
)


@pytest.fixture(scope="module")
def poly1305(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> tuple[Case, ...]:
    interface = catalog.provider("kernels").interfaces["poly1305"]
    return build_corpus(interface, [0], 1, False, tmp_path_factory.mktemp("corpus")).cases


def _choice(catalog: Catalog, by_name: bool = False, smoke: bool = False) -> Choice:
    interface = catalog.provider("kernels").interfaces["poly1305"]
    return Choice(
        all_placements(interface, interface.operations["mac"], dispatched=False), by_name=by_name, smoke=smoke
    )


def _names(choice: Choice, case: Case) -> list[str]:
    return [placement.name for placement in choice.of(case, 0)]


def test_thirty_two_numbers_in_a_row_are_all_states() -> None:
    told = [describe_entry(number) for number in range(2 * ENTRY_STATES)]
    assert len(set(told)) == ENTRY_STATES
    assert told[:ENTRY_STATES] == told[ENTRY_STATES:]
    assert len({text.split(",")[0] for text in told[:4]}) == len({text.split(",")[2] for text in told[:4]}) == 4


def test_every_usual_placement_meets_every_state(catalog: Catalog, poly1305: tuple[Case, ...]) -> None:
    interface = catalog.provider("kernels").interfaces["poly1305"]
    binding = Binding(dict.fromkeys(interface.calls, 0), {"ctx": State(128, 16)}, 8)
    choice = _choice(catalog, by_name=True)
    seen: defaultdict[str, set[int]] = defaultdict(set)
    for case in poly1305:
        for placement in choice.of(case, 0):
            seen[placement.name].add(Layout(interface, interface.operations["mac"], binding, placement).entry(case))
    for placement in (*QUICK, *CUTS_OF_QUICK):
        assert len(seen[placement.name]) == ENTRY_STATES, placement.name


def test_numbers_count_smaller_tiers_first(poly1305: tuple[Case, ...]) -> None:
    numbers = {tier: sorted(c.number for c in poly1305 if c.tier == tier) for tier in ("smoke", "boundary", "full")}
    assert numbers["smoke"] + numbers["boundary"] + numbers["full"] == list(range(len(poly1305)))


@pytest.mark.parametrize("smoke", [False, True])
def test_every_message_is_whole_on_one_side_and_in_pieces_on_the_other(
    catalog: Catalog, poly1305: tuple[Case, ...], smoke: bool
) -> None:
    choice = _choice(catalog, smoke=smoke)
    for case in poly1305:
        names = _names(choice, case)
        cuts = [name for name in names if name.startswith("cut-random")]
        other = "before" if cuts == ["cut-random"] else "after"
        assert len(cuts) == 1
        assert {"cut-random": "before", "cut-random-before": "after"}[cuts[0]] == other
        assert other in names
        pieces = named(cuts[0], {p.name: p for p in CUTS_OF_QUICK})
        assert pieces
        assert byte_count(case.inputs["data"]) == 0 or pieces.pieces(case, byte_count(case.inputs["data"]), 1)


def test_no_length_of_a_sweep_is_always_on_one_side(catalog: Catalog, poly1305: tuple[Case, ...]) -> None:
    choice = _choice(catalog)
    sides: defaultdict[int, set[str]] = defaultdict(set)
    for case in poly1305:
        sides[byte_count(case.inputs["data"]) % 64] |= set(_names(choice, case)) & {"after", "before"}
    assert all(found == {"after", "before"} for found in sides.values())


def test_the_first_case_of_its_sizes_that_is_no_full_one_has_both_sides(
    catalog: Catalog, poly1305: tuple[Case, ...]
) -> None:
    choice = _choice(catalog)
    for case in poly1305:
        both = {"after", "before"} <= set(_names(choice, case))
        assert both == (case.before == 0 and case.tier != "full")


def test_small_tiers_lie_behind_odd_addresses(catalog: Catalog, poly1305: tuple[Case, ...]) -> None:
    by_name, through = _choice(catalog, by_name=True), _choice(catalog)
    smoke_cell = _choice(catalog, smoke=True)
    for case in poly1305:
        assert (UNALIGNED in _names(by_name, case)) == (case.tier != "full")
        assert (UNALIGNED in _names(through, case)) == (case.tier == "smoke")
        assert UNALIGNED not in _names(smoke_cell, case)


def test_poly1305_is_cut_behind_every_number_of_blocks(catalog: Catalog, poly1305: tuple[Case, ...]) -> None:
    choice = _choice(catalog)
    lengths = {tuple(p.pieces(c, byte_count(c.inputs["data"]), 1) or ()) for c in poly1305 for p in choice.of(c, 0)}
    assert {(16 * blocks, 32) for blocks in range(1, 17)} <= lengths, "208 bytes as 176 and 32, and all the others"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_open_input_is_once_longer_than_16_bits_count(catalog: Catalog, algorithm: str) -> None:
    interface = catalog.provider("kernels").interfaces[algorithm]
    for operation in interface.operations.values():
        drafts = list(beyond_16_bits(interface, operation, ""))
        longest = {role: max(byte_count(draft.inputs[role]) for draft in drafts) for role in open_roles(operation)}
        assert all(length % (1 << 16) and length > 1 << 16 for length in longest.values()), (operation.name, longest)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_message_in_pieces_is_once_in_more_than_a_byte_counts(catalog: Catalog, algorithm: str) -> None:
    interface = catalog.provider("kernels").interfaces[algorithm]
    for operation in interface.operations.values():
        drafts = list(many_pieces(interface, operation, ""))
        assert len(drafts) == bool(operation.splits)
        for draft in drafts:
            _require_single_pieces(operation, draft)


def _require_single_pieces(operation: Operation, draft: Draft) -> None:
    (placement,) = (named(extra, {}) for extra in draft.extra)
    assert placement
    case = Case(draft.name, "", operation.name, draft.inputs, "", "full", None)
    for role, unit in operation.splits:
        pieces = placement.pieces(case, byte_count(draft.inputs[role]), unit)
        assert pieces
        assert len(pieces) > 256
        assert set(pieces) == {unit}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_length_that_a_call_is_told_is_told_too_long(catalog: Catalog, algorithm: str) -> None:
    interface = catalog.provider("kernels").interfaces[algorithm]
    cases = []
    for operation in interface.operations.values():
        sizes = {role: size.choices[0] if size.choices else 128 for role, size in operation.inputs.items()}
        inputs: dict[str, bytes | int] = {
            role: 0 if operation.inputs[role].word else bytes(size) for role, size in sizes.items()
        }
        cases += [Case(f"{operation.name}-{k}", algorithm, operation.name, inputs, "", "full", {}) for k in "ab"]
    first, second = (numbered(interface, cases)[k::2] for k in (0, 1))
    assert not any(case.extra for case in second)
    told = {case.operation: set(case.extra) for case in first}
    assert told == {
        name: {placement.name for placement in beyond_placements(interface, operation)}
        for name, operation in interface.operations.items()
    }
    open_inputs = {name: set(open_roles(operation)) for name, operation in interface.operations.items()}
    for name, roles in open_inputs.items():
        assert {f"beyond-{'out' if role == 'want' else role}" for role in roles} == told[name]


def _addresses(payload: bytes) -> list[int]:
    """The flags of every address of a RUN, in order."""
    buffers, steps, *_ = RUN_LAYOUT.unpack_from(payload)
    at, found = RUN_LAYOUT.size, []
    for _ in range(buffers):
        role, *_, length = BUFFER_LAYOUT.unpack_from(payload, at)
        at += BUFFER_LAYOUT.size + (length if role in (Role.IN, Role.INOUT) else 0)
    for _ in range(steps):
        _, words = STEP_LAYOUT.unpack_from(payload, at)
        at += STEP_LAYOUT.size
        for _ in range(words):
            kind, flags, *_ = WORD_LAYOUT.unpack_from(payload, at)
            found += [flags] * kind
            at += WORD_LAYOUT.size
    return found


@pytest.mark.parametrize(("own_address", "flag"), [(False, ADDRESS_FIXED), (True, ADDRESS_KEPT)])
def test_a_state_that_is_taken_as_const_cannot_be_written(catalog: Catalog, own_address: bool, flag: int) -> None:
    interface = catalog.provider("kernels").interfaces["ghash"]
    binding = Binding({"init": 0, "update": 1}, {"htable": State(64, 16, "", own_address)}, 8)
    inputs: dict[str, bytes | int] = {"h": bytes(16), "y": bytes(16), "data": bytes(32)}
    case = Case("a", "ghash", "hash", inputs, "", "full", {"y": bytes(16)})
    run = Layout(interface, interface.operations["hash"], binding, QUICK[0]).run(case)
    assert run
    assert _addresses(run.payload) == [0, 0, 0, flag, 0], "init: h, htable; update: y, htable, data"


@pytest.mark.parametrize("length", range(16))
def test_a_message_shorter_than_a_tag_is_refused(catalog: Catalog, length: int) -> None:
    interface = catalog.provider("kernels").interfaces["aes_gcm"]
    inputs: dict[str, bytes | int] = {"key": bytes(16), "data": bytes(length), "iv": bytes(12), "aad": b""}
    assert not input_problem(interface.operations["open"], inputs)
    assert [model(**inputs) for model in models(interface, "open")] == [None, None]


def test_results_of_x25519_lack_one_limb_only(catalog: Catalog) -> None:
    interface = catalog.provider("kernels").interfaces["x25519"]
    (scalarmult, *_) = models(interface, "scalarmult")
    drafts = {draft.name: draft for draft in results_near_p(["r64"])}
    assert len(drafts) == 3 * len(RADICES["r64"])
    for name, draft in drafts.items():
        answer = scalarmult(**draft.inputs)
        assert answer
        result = int.from_bytes(answer["out"], "little")
        limb = int(name.split("-")[3])
        assert P - result > 0
        assert ((1 << 255) - 1 - result) >> (64 * limb) << (64 * limb) == (1 << 255) - 1 - result, (
            "those below are full"
        )
        assert ((1 << 255) - 1 - result) >> (64 * (limb + 1)) == 0, "those above are full"
