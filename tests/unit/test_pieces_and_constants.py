"""Operations with constants and with more than one input that is cut: how they read, and the calls that they become."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from matrix.cases.case import Case
from matrix.cases.layout import Binding, Layout
from matrix.cases.placement import Placement, all_placements
from matrix.errors import TableError
from matrix.model.catalog import Catalog
from matrix.model.interface import Operation, Size, load_interface
from matrix.model.kernel import State
from matrix.worker.protocol import BUFFER_LAYOUT, RUN_LAYOUT, STEP_LAYOUT, WORD_LAYOUT, Place, Role

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

HASH = "kernels/hash/hash.toml"
RATE, SUFFIX = 168, 0x1F


def calls(catalog: Catalog, data: int, want: int, placement: Placement, word_bytes: int = 4) -> list[list[str | int]]:
    """The calls of SHAKE128 on ``data`` bytes for ``want`` bytes: [name, the value or the offset of each word]."""
    interface = catalog.provider("kernels").interfaces["sha3"]
    names = list(interface.calls)
    binding = Binding({name: index for index, name in enumerate(names)}, {"ctx": State(208, 8)}, word_bytes)
    case = Case("case", "sha3", "shake128", {"data": bytes(data), "want": bytes(want)}, "test", "full", None)
    run = Layout(interface, interface.operations["shake128"], binding, placement).run(case)
    if run is None:
        return []
    payload = run.payload
    buffers, steps, *_ = RUN_LAYOUT.unpack_from(payload, 0)
    at = RUN_LAYOUT.size
    for _ in range(buffers):
        role, *_, length = BUFFER_LAYOUT.unpack_from(payload, at)
        at += BUFFER_LAYOUT.size + (length if role in (Role.IN, Role.INOUT) else 0)
    found: list[list[str | int]] = []
    for _ in range(steps):
        function, words = STEP_LAYOUT.unpack_from(payload, at)
        at += STEP_LAYOUT.size
        values = [WORD_LAYOUT.unpack_from(payload, at + WORD_LAYOUT.size * word)[-1] for word in range(words)]
        found.append([names[function], *values])
        at += WORD_LAYOUT.size * words
    assert at == len(payload)
    return found


def test_constants_and_two_splits_read_as_written(catalog: Catalog) -> None:
    interface = catalog.provider("kernels").interfaces["sha3"]
    operation = interface.operations["shake128"]
    assert operation.constants == {"rate": RATE, "suffix": SUFFIX}
    assert operation.splits == (("data", 1), ("want", 1))
    assert (operation.split_role, operation.split_unit) == ("data", 1)
    assert [operation.split_of(role) for role in ("data", "want", "out", "ctx")] == ["data", "want", "want", ""]
    assert [operation.split_of_call(call) for call in interface.calls.values()] == ["", "data", "", "want"]


def test_without_a_cut_each_call_is_made_once_with_the_whole_and_the_constants(catalog: Catalog) -> None:
    absorb, squeeze = ["absorb", 0, 0, 5, RATE], ["squeeze", 0, 0, 7, RATE]
    assert calls(catalog, 5, 7, Placement("after")) == [["init", 0], absorb, ["pad", 0, RATE, SUFFIX], squeeze]


def test_both_the_message_and_the_output_are_cut(catalog: Catalog) -> None:
    assert calls(catalog, 5, 7, Placement("cut", cut=1)) == [
        ["init", 0],
        ["absorb", 0, 0, 1, RATE],
        ["absorb", 0, 1, 4, RATE],
        ["pad", 0, RATE, SUFFIX],
        ["squeeze", 0, 0, 1, RATE],
        ["squeeze", 0, 1, 6, RATE],
    ]


def test_what_is_too_short_for_a_cut_stays_whole_beside_what_is_not(catalog: Catalog) -> None:
    found = calls(catalog, 3, 20, Placement("cut", cut=15))
    assert [call[3] for call in found if call[0] == "absorb"] == [3]
    assert [call[3] for call in found if call[0] == "squeeze"] == [15, 5]
    assert calls(catalog, 3, 15, Placement("cut", cut=15)) == []


def test_an_empty_first_piece_is_a_call(catalog: Catalog) -> None:
    found = calls(catalog, 3, 0, Placement("cut", cut=0))
    assert [call[2:4] for call in found if call[0] == "absorb"] == [[0, 0], [0, 3]]
    assert [call[2:4] for call in found if call[0] == "squeeze"] == [[0, 0], [0, 0]]


def test_an_empty_piece_comes_last_or_between_two_that_are_not(catalog: Catalog) -> None:
    found = calls(catalog, 3, 5, Placement("empty-last", empty="empty-last"))
    assert [call[2:4] for call in found if call[0] == "absorb"] == [[0, 3], [3, 0]]
    assert [call[2:4] for call in found if call[0] == "squeeze"] == [[0, 5], [5, 0]]
    found = calls(catalog, 2, 0, Placement("empty-middle", empty="empty-middle"))
    assert [call[2:4] for call in found if call[0] == "absorb"] == [[0, 1], [1, 0], [1, 1]]
    assert [call[2:4] for call in found if call[0] == "squeeze"] == [[0, 0]]
    assert calls(catalog, 0, 1, Placement("empty-middle", empty="empty-middle")) == []


@pytest.mark.parametrize(
    ("placement", "length", "unit", "pieces"),
    [
        (Placement("p", empty="empty-last"), 0, 1, None),
        (Placement("p", empty="empty-last"), 128, 64, [128, 0]),
        (Placement("p", empty="empty-last"), 129, 64, None),  # what is not the last piece is whole blocks
        (Placement("p", empty="empty-middle"), 1, 1, None),
        (Placement("p", empty="empty-middle"), 64, 64, None),
        (Placement("p", empty="empty-middle"), 65, 64, [64, 0, 1]),
        (Placement("p", empty="empty-middle"), 128, 64, [64, 0, 64]),
        (Placement("p", chunk=160), 512, 1, [160, 160, 160, 32]),
        (Placement("p", chunk=1031), 3300, 64, [1024, 1024, 1024, 228]),
    ],
)
def test_a_message_is_cut_into(placement: Placement, length: int, unit: int, pieces: list[int] | None) -> None:
    case = Case("case", "any", "op", {}, "test", "full", None)
    assert placement.pieces(case, length, unit) == pieces


def test_empty_pieces_are_passed_where_the_input_may_be_empty(catalog: Catalog) -> None:
    interfaces = catalog.provider("kernels").interfaces
    sha256 = interfaces["sha256"]

    def names(operation: Operation) -> set[str]:
        return {placement.name for placement in all_placements(sha256, operation, dispatched=False)}

    wanted = {"empty-last", "empty-middle"}
    assert wanted | {"chunks-160", "chunks-1031"} <= names(sha256.operations["hash"])
    assert wanted | {"chunks-128", "chunks-1024"} <= names(sha256.operations["blocks"])
    never_empty = replace(sha256.operations["hash"], inputs={"data": Size(minimum=1)})
    assert not wanted & names(never_empty)


@pytest.mark.parametrize(
    ("align", "place", "offset"),
    [(1, Place.OFFSET, 1), (8, Place.OFFSET, 8), (32, Place.OFFSET, 32), (64, Place.FLUSH_AFTER, 0)],
)
def test_offsets_of_all_put_a_state_at_an_odd_multiple_of_its_alignment(
    catalog: Catalog, align: int, place: Place, offset: int
) -> None:
    interface = catalog.provider("kernels").interfaces["sha256"]
    operation = interface.operations["hash"]
    binding = Binding(dict.fromkeys(interface.calls, 0), {"ctx": State(128, align)}, 4)
    for placement in all_placements(interface, operation, dispatched=False):
        layout = Layout(interface, operation, binding, placement)
        state = next(slot.template for slot in layout.slots if slot.role is Role.STATE)
        if placement.name.startswith("all-offset-"):
            assert (state.place, state.offset, state.align) == (place, offset, align)
        else:
            assert (state.place, state.offset) in ((Place.FLUSH_AFTER, 0), (Place.FLUSH_BEFORE, 0))


def test_the_upper_half_of_a_constant_is_dirty_on_64_bits(catalog: Catalog) -> None:
    pad = next(call for call in calls(catalog, 5, 7, Placement("after"), 8) if call[0] == "pad")
    assert [word for word in pad[2:] if isinstance(word, int) and word >> 32 and word & 0xFFFF_FFFF in (RATE, SUFFIX)]
    assert len(pad) == 4


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ('split = "data/1"', 'split = ["data/1", "key/1"]', "op.mac.split", "'key' ends with *"),
        ('split = "data/1"', 'split = ["data/1", "key"]', "op.mac.split", "role/unit"),
        ('split = "data/1"', 'split = "data/1"\nconst = { data = 1 }', "op.mac", "a constant, not passed as one"),
        ('split = "data/1"', 'split = "data/1"\nconst = { ctx = 1 }', "op.mac.const", "a role already"),
        ('split = "data/1"', 'split = "data/1"\nconst = { other = 1 }', "op.mac.const", "no call takes it"),
        ('"len(data)"]', '"len(data)", "rate:u32"]', "op.mac", "no input, output or state"),
    ],
)
def test_a_mistake_is_one_clear_error(tree: "Tree", old: str, new: str, key: str, reason: str) -> None:
    path = tree.change(HASH, old, new)
    with pytest.raises(TableError) as caught:
        load_interface(path)
    assert key in caught.value.where
    assert reason in caught.value.why


@pytest.mark.parametrize("value", [-1, 1 << 32])
def test_a_constant_is_a_word_of_32_bits(tree: "Tree", value: int) -> None:
    tree.change(HASH, '"len(data)"]', '"len(data)", "rate:u32"]')
    path = tree.change(HASH, 'split = "data/1"', f'split = "data/1"\nconst = {{ rate = {value} }}')
    with pytest.raises(TableError) as caught:
        load_interface(path)
    assert "32-bit" in caught.value.why
