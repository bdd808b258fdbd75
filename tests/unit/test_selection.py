"""Selection: filters, words that name nothing, and shards that partition the plan exactly, the same way everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.checks import every_cell
from matrix.errors import MaskError, MatrixError, SelectionError
from matrix.model.catalog import Catalog
from matrix.plan.cell import Cell
from matrix.plan.selection import Selection, cost, select


def _select(small: Catalog, **wanted: object) -> list[str]:
    chosen = select(every_cell(small, None), Selection(**wanted), small, {})  # type: ignore[arg-type]  # by field name
    return [cell.id for cell in chosen]


def _all(small: Catalog) -> list[str]:
    return [cell.id for cell in every_cell(small, None)]


def test_nothing_said_selects_everything_in_plan_order(small: Catalog) -> None:
    assert _select(small) == _all(small)


def test_each_filter_alone(small: Catalog) -> None:
    cells = every_cell(small, None)

    def ids(test: object) -> list[str]:
        assert callable(test)
        return [cell.id for cell in cells if test(cell)]

    assert _select(small, targets=("x64",)) == ids(lambda c: c.target == "x64")
    assert _select(small, targets=("x64", "arm")) == ids(lambda c: c.target in ("x64", "arm"))
    assert _select(small, providers=("kernels",)) == _all(small)
    assert _select(small, enforcements=("soft",)) == ids(lambda c: c.enforcement == "soft")
    assert _select(small, algorithms=("hash",)) == ids(lambda c: c.algorithm == "hash")
    assert _select(small, variants=("avx2",)) == ids(lambda c: c.variant == "avx2")
    assert _select(small, masks=("ssse3",)) == ids(lambda c: str(c.mask) == "ssse3")
    assert _select(small, cpu="a9") == ids(lambda c: c.cpu.split(",")[0] == "a9")
    assert _select(small, cpu="a9,neon=off") == ids(lambda c: c.cpu == "a9,neon=off")


def test_filters_are_joined_by_and(small: Catalog) -> None:
    chosen = _select(small, targets=("x64",), enforcements=("hard",), masks=("avx2+ssse3",), algorithms=("cipher",))
    assert chosen == ["x64/hard/ssse3+avx2/cipher", "x64/hard/ssse3+avx2/cipher-avx2"]


@pytest.mark.parametrize("text", ["ssse3+avx2", "avx2+ssse3", "avx2+ssse3+avx2"])
def test_a_mask_is_a_set(small: Catalog, text: str) -> None:
    assert _select(small, masks=(text,)) == _select(small, masks=("ssse3+avx2",)) != []


def test_a_mask_of_one_target_need_not_be_one_of_the_others(small: Catalog) -> None:
    assert {name.split("/")[0] for name in _select(small, masks=("neon", "ssse3"))} == {"arm", "x64"}


@pytest.mark.parametrize(
    ("wanted", "what", "why"),
    [
        ({"targets": ("x65",)}, "unknown target 'x65'", "x64"),
        ({"providers": ("openssl",)}, "unknown provider 'openssl'", "kernels"),
        ({"enforcements": ("firm",)}, "unknown enforcement 'firm'", "hard, soft"),
        ({"algorithms": ("hush",)}, "unknown algorithm 'hush'", "cipher, hash"),
        ({"variants": ("avx3",)}, "unknown variant 'avx3'", "avx2"),
        ({"masks": ("sse9",)}, "mask 'sse9'", "sse9"),
        ({"masks": ("avx2",)}, "mask 'avx2'", "ssse3+avx2"),
        ({"targets": ("x64",), "masks": ("neon",)}, "mask 'neon'", "neon"),
        ({"masks": ("none", "sse9")}, "mask 'sse9'", "sse9"),
        ({"shard": "0/2"}, "shard '0/2'", "I/N"),
        ({"shard": "3/2"}, "shard '3/2'", "I/N"),
        ({"shard": "1"}, "shard '1'", "I/N"),
        ({"shard": "1/2/3"}, "shard '1/2/3'", "I/N"),
        ({"shard": "-1/2"}, "shard '-1/2'", "I/N"),
        ({"shard": "-1/3"}, "shard '-1/3'", "I/N"),
        ({"shard": "0/0"}, "shard '0/0'", "I/N"),
        ({"shard": "2/1"}, "shard '2/1'", "I/N"),
        ({"shard": "1/1/1"}, "shard '1/1/1'", "I/N"),
        ({"shard": "\u0661/\u0662"}, "shard '\u0661/\u0662'", "I/N"),
        ({"shard": "1/2\n"}, "shard '1/2\\n'", "I/N"),
        ({"shard": "1/" + "9" * 5000}, "shard '1/999", "I/N"),
        ({"shard": "99999999998/99999999999"}, "is empty", "cells are left"),
    ],
)
def test_a_word_that_names_nothing_is_an_error(small: Catalog, wanted: dict[str, object], what: str, why: str) -> None:
    with pytest.raises(MatrixError) as caught:
        _select(small, **wanted)
    assert isinstance(caught.value, MaskError if "masks" in wanted else SelectionError)
    assert what in caught.value.what
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"variants": ("cipher-ssse3",)}, "write `--algorithm cipher --variant ssse3`"),
        ({"variants": ("cipher_ssse3",)}, "write `--algorithm cipher --variant ssse3`"),
        ({"variants": ("Cipher-SSSE3",)}, "write `--algorithm cipher --variant ssse3`"),
        ({"algorithms": ("cipher-ssse3",)}, "write `--algorithm cipher --variant ssse3`"),
        ({"algorithms": ("CIPHER",)}, "did you mean 'cipher'"),
        ({"variants": ("AVX2",)}, "did you mean 'avx2'"),
        ({"variants": ("avx-2",)}, "did you mean 'avx2'"),
        ({"enforcements": ("HARD",)}, "did you mean 'hard'"),
        ({"providers": ("Kernel",)}, "did you mean 'kernels'"),
        ({"targets": ("X64",)}, "did you mean 'x64'"),
        ({"targets": ("x64_c",)}, "did you mean 'x64-c'"),
        ({"cpu": "A9"}, "did you mean 'a9'"),
        ({"cpu": "cortex-m0"}, "unknown CPU 'cortex-m0'"),
        ({"masks": ("ssse3,avx2",)}, "write ssse3+avx2"),
        ({"masks": ("avx2,ssse3",)}, "write ssse3+avx2"),
        ({"masks": ("avx2 ssse3",)}, "write ssse3+avx2"),
        ({"masks": ("SSSE3+AVX2",)}, "write ssse3+avx2"),
        ({"masks": ("avx2-ssse3",)}, "write ssse3+avx2"),
        ({"masks": ("AVX2",)}, "write ssse3+avx2"),
        ({"masks": ("None",)}, "unknown name"),
    ],
)
def test_what_was_probably_meant_is_said(small: Catalog, wanted: dict[str, object], words: str) -> None:
    with pytest.raises(MatrixError) as caught:
        _select(small, **wanted)
    assert words in str(caught.value)


def test_a_cpu_that_only_a_probe_would_choose_is_known(small: Catalog) -> None:
    assert _select(small, cpu="a9-without") == []


def test_an_empty_selection_is_left_to_the_caller(small: Catalog) -> None:
    assert _select(small, targets=("arm",), variants=("avx2",)) == []


@given(
    count=st.integers(1, 9),
    seconds=st.lists(st.floats(0.001, 100), min_size=70, max_size=70),
    known=st.sets(st.integers(0, 69)),
)
def test_shards_partition_the_selection_and_are_balanced(
    small: Catalog, count: int, seconds: list[float], known: set[int]
) -> None:
    cells = every_cell(small, None)
    costs = {cells[index].id: seconds[index] for index in known if index < len(cells)}
    shards = [select(cells, Selection(shard=f"{index}/{count}"), small, costs) for index in range(1, count + 1)]
    position = {cell.id: index for index, cell in enumerate(cells)}
    assert sorted(position[cell.id] for shard in shards for cell in shard) == list(range(len(cells)))
    for shard in shards:
        assert [position[cell.id] for cell in shard] == sorted(position[cell.id] for cell in shard)
    loads = [sum(cost(cell, costs) for cell in shard) for shard in shards]
    assert max(loads) - min(loads) <= max(cost(cell, costs) for cell in cells) + 1e-6


def test_more_shards_than_cells_have_a_cell_each_at_the_price_of_one(small: Catalog) -> None:
    cells = every_cell(small, None)
    of_as_many = [select(cells, Selection(shard=f"{index}/{len(cells)}"), small, {}) for index in (1, 2, len(cells))]
    of_more = [select(cells, Selection(shard=f"{index}/99999999999"), small, {}) for index in (1, 2, len(cells))]
    assert of_more == of_as_many
    assert [len(shard) for shard in of_more] == [1, 1, 1]


def test_a_dear_cell_is_outweighed_by_many_cheap_ones(small: Catalog) -> None:
    cells = every_cell(small, None)[:9]
    costs = {cell.id: 8.0 if index == 4 else 1.0 for index, cell in enumerate(cells)}
    shards = [select(cells, Selection(shard=f"{index}/2"), small, costs) for index in (1, 2)]
    assert sorted(len(shard) for shard in shards) == [1, 8]


def test_shards_do_not_depend_on_the_order_of_the_costs(small: Catalog) -> None:
    cells = every_cell(small, None)
    costs = {cell.id: 1.0 + index % 3 for index, cell in enumerate(cells)}
    backwards = dict(reversed(costs.items()))
    wanted = Selection(shard="2/3")
    assert select(cells, wanted, small, costs) == select(cells, wanted, small, backwards)


def test_shards_cut_what_the_filters_leave(small: Catalog) -> None:
    parts = [_select(small, targets=("x64",), shard=f"{index}/2") for index in (1, 2)]
    assert sorted(parts[0] + parts[1]) == sorted(_select(small, targets=("x64",)))
    assert all(parts)


def test_costs_are_what_was_recorded_or_a_guess(small: Catalog) -> None:
    first: Cell = every_cell(small, None)[0]
    assert cost(first, {first.id: 7.5}) == 7.5
    assert cost(first, {}) > 0
