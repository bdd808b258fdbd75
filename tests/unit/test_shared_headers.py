"""Headers that algorithms share: which a kernel gets, and that they are part of what its object is kept under."""

import io
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from elftools.elf.elffile import ELFFile
from msgspec.structs import replace

from matrix.build.source_lines import SourceLines
from matrix.build.units import Unit, Units
from matrix.errors import HeaderError
from matrix.model.catalog import load_catalog
from matrix.model.shared import SHARED, shared_headers
from matrix.resources import data_root
from matrix.run.provenance import source_files
from matrix.sandbox.host import HostSandbox

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

COMPILER = shutil.which("gcc") or ""
KERNELS = data_root() / "kernels"


def _write(root: Path, texts: dict[str, str]) -> None:
    (root / SHARED).mkdir(exist_ok=True)
    for name, text in texts.items():
        (root / SHARED / name).write_text(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('#include "shared/a.h"', ["shared/a.h", "shared/b.h"]),
        ('#define NAME "shared/b.h"\n#include NAME', ["shared/b.h"]),
        ('#include "shared/circle.h"', ["shared/circle.h"]),
        ('#include "shared/absent.h"', []),
        ('#include "a.h"', []),
        ("#include <shared/a.h>", []),
        ('#include "shared/../shared/a.h"', []),
        ('#include "/shared/a.h"', []),
        ('#include "shared/a.c"', []),
    ],
)
def test_a_kernel_gets_the_headers_that_it_names_and_what_they_name(
    tmp_path: Path, text: str, found: list[str]
) -> None:
    _write(tmp_path, {"a.h": '#include "shared/b.h"', "b.h": "", "c.h": "", "circle.h": '#include "shared/circle.h"'})
    (tmp_path / SHARED / "a.c").touch()
    assert sorted(shared_headers(tmp_path, [text.encode()])) == found


def test_what_no_kernel_could_include_is_refused(tree: "Tree") -> None:
    folder = tree.root / "kernels" / SHARED
    folder.mkdir()
    (folder / "a.h").touch()
    tree.load()
    (folder / "a.S").touch()
    with pytest.raises(HeaderError) as caught:
        tree.load()
    assert (caught.value.what, caught.value.where) == ("a.S would be ignored", str(folder / "a.S"))


def test_each_has_two_users_or_more() -> None:
    sources = [path.read_bytes() for path in KERNELS.glob("*/*.[cS]")]
    for path in (KERNELS / SHARED).glob("*.h"):
        users = [text for text in sources if f"{SHARED}/{path.name}" in shared_headers(KERNELS, [text])]
        assert len(users) > 1, f"{path.name} is not shared"


@pytest.fixture
def units(tmp_path: Path) -> Units:
    if not COMPILER:
        pytest.skip("compiler-missing: gcc")
    target = replace(load_catalog(data_root()).targets.get("x86_64"), compiler=COMPILER)
    return Units(HostSandbox(tmp_path / "sandbox"), target, tmp_path, "build")


def _unit(units: Units, root: Path, text: str = '#include "shared/a.h"\nint f(void) { return shared(); }\n') -> Unit:
    source = text.encode()
    return units.unit("x_c.c", source, shared_headers(root, [source]), ["-g"], root / "x", own=False)


def _code(units: Units, unit: Unit) -> bytes:
    section = ELFFile(io.BytesIO(units.sandbox.read(unit.output))).get_section_by_name(".text")
    assert section
    return bytes(section.data())


def test_a_change_makes_a_new_object_of_those_that_include_it(units: Units, tmp_path: Path) -> None:
    root = tmp_path / "kernels"
    (root / "x").mkdir(parents=True)
    _write(root, {"a.h": '#include "shared/b.h"', "b.h": "static int shared(void) { return 1; }", "c.h": ""})
    before, other = _unit(units, root), _unit(units, root, "int f(void);")
    _write(root, {"c.h": "int more;"})
    assert _unit(units, root) == before
    _write(root, {"b.h": "static int shared(void) { return 2; }"})
    after = _unit(units, root)
    assert after.output != before.output
    assert _unit(units, root, "int f(void);") == other
    assert units.make([before, after]) == {}
    assert _code(units, before) != _code(units, after)


def test_messages_and_debug_information_name_the_header(units: Units, tmp_path: Path) -> None:
    root = tmp_path / "kernels"
    (root / "x").mkdir(parents=True)
    _write(root, {"a.h": "\nint shared(void) { return 1; }\n"})
    good = _unit(units, root)
    _write(root, {"a.h": "\n#error wrong\n"})
    bad = _unit(units, root)
    assert "kernels/shared/a.h:2:2: error: #error wrong" in units.make([good, bad])[bad.output]
    assert SourceLines(units.sandbox.read(good.output)).find(0) == "kernels/shared/a.h:2"


def test_where_a_result_comes_from_names_those_that_its_kernels_include(tree: "Tree") -> None:
    tree.put("kernels/shared/a.h", "")
    tree.put("kernels/shared/b.h", "")
    path = tree.root / "kernels" / "cipher" / "cipher_c.c"
    path.write_text(path.read_text() + '#include "shared/a.h"\n')
    catalog = tree.load()
    files = source_files(catalog, next(iter(catalog.targets.targets)).name, "kernels", "cipher")
    assert {name for name in files if SHARED in name} == {"kernels/shared/a.h"}
