"""The hand-typed table of what the dispatcher takes: what is misspelt, dead or missing in it is one error, early."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from matrix.errors import TableError
from matrix.model.catalog import Catalog
from matrix.run.expectation import FILE, checked_expectation

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

RIGHT = """
[[expect]]
algorithm = "cipher"
arch      = ["x86_64"]
needs     = ["avx2"]
min_bytes = 65
variant   = "avx2"

[[expect]]
algorithm = "cipher"
arch      = ["x86_64"]
needs     = ["ssse3"]
call      = "xor"
variant   = "ssse3"

[[expect]]
algorithm = "cipher"
arch      = ["arm32"]
needs     = ["neon"]
variant   = "neon"

[[expect]]
algorithm = "cipher"
arch      = ["arm32", "x86_64"]
variant   = "c"
assembly  = false

[[expect]]
algorithm = "hash"
arch      = ["x86_64"]
needs     = ["avx2"]
variant   = "avx2"

[[expect]]
algorithm = "hash"
arch      = ["arm32", "x86_64"]
variant   = "c"
assembly  = false
"""


def test_a_right_table_is_read(tree: "Tree") -> None:
    tree.put(str(FILE), RIGHT)
    assert len(checked_expectation(tree.load())) == 6


def test_the_repositorys_own_table_is_right(catalog: Catalog) -> None:
    assert checked_expectation(catalog)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('algorithm = "cipher"', 'algorithm = "cypher"', "unknown algorithm 'cypher'; did you mean 'cipher'?"),
        ('call      = "xor"', 'call      = "xro"', "cipher has no call 'xro'; did you mean 'xor'?"),
        ('variant   = "avx2"', 'variant   = "avx"', "no variant 'avx' on x86_64; did you mean 'avx2'?"),
        ('variant   = "neon"', 'variant   = "ssse3"', "no variant 'ssse3' on arm32"),
        ('needs     = ["avx2"]', 'needs     = ["axv2"]', "unknown capability 'axv2' of x86_64; did you mean 'avx2'?"),
        ('needs     = ["neon"]', 'needs     = ["avx2"]', "unknown capability 'avx2' of arm32"),
        ('arch      = ["x86_64"]', 'arch      = ["x86-64"]', "unknown architecture 'x86-64'; did you mean 'x86_64'?"),
        ('arch      = ["x86_64"]', "arch      = []", "no architecture is named"),
        ('needs     = ["avx2"]\nmin_bytes = 65\n', "", "it is never reached on x86_64: row 1 (avx2) fits"),
        (', "x86_64"]\nvariant   = "c"', ']\nvariant   = "c"', "no row for cipher.xor on x86_64 with none and 0 bytes"),
        ('algorithm = "hash"', 'algorithm = "hash"\ncall = "update"\nassembly = true', ""),
    ],
)
def test_a_row_that_speaks_of_nothing_is_an_error(tree: "Tree", old: str, new: str, why: str) -> None:
    assert old in RIGHT
    tree.put(str(FILE), RIGHT.replace(old, new, 1))
    if not why:
        assert checked_expectation(tree.load())
        return
    with pytest.raises(TableError) as caught:
        checked_expectation(tree.load())
    assert why in caught.value.why
    assert FILE.name in caught.value.where
    assert caught.value.step


def test_a_row_for_a_call_that_its_variant_lacks_is_an_error(tree: "Tree") -> None:
    tree.kernel("hash", "half", "x86_64", provides=["update"], requires=["adx"], priority=5)
    row = '\n[[expect]]\nalgorithm = "hash"\narch = ["x86_64"]\ncall = "init"\nneeds = ["adx"]\nvariant = "half"\n'
    tree.put(str(FILE), row + RIGHT)
    with pytest.raises(TableError, match="half does not provide init; it provides update"):
        checked_expectation(tree.load())


@pytest.mark.parametrize("text", ["[[expect", 'expect = "x"', RIGHT + "\n[[expect]]\n", RIGHT + 'colour = "red"\n'])
def test_what_is_no_such_table_is_an_error(tree: "Tree", text: str) -> None:
    tree.put(str(FILE), text)
    with pytest.raises(TableError, match=FILE.name):
        checked_expectation(tree.load())


def test_no_table_is_an_error_that_says_restore_it(tree: "Tree", tmp_path: Path) -> None:
    with pytest.raises(TableError) as caught:
        checked_expectation(tree.load())
    assert caught.value.where == str(tmp_path / FILE)
    assert "restore" in caught.value.step
