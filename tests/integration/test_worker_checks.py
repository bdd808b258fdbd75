"""What looks at kernels calls nothing that a kernel could replace: seen in the objects of every architecture."""

import shutil
import subprocess
from pathlib import Path

import pytest

from matrix.build.objects import link_names
from matrix.build.toolchain import worker_flags
from matrix.model.catalog import Catalog, every_profile, load_catalog
from matrix.resources import data_root

CHECKS = ("arena", "control", "entry", "frame", "registers", "run")
"""Files of the worker that fill, compare and send what kernels wrote."""
REPLACEABLE = ("memc", "memm", "mems", "__mem", "__aeabi_mem", "str", "__str", "bcmp", "bcopy", "bzero")
TARGETS = ("arm32-noneon", "aarch64@Os", "x86", "x86_64@O3")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog(data_root())


@pytest.mark.parametrize("name", TARGETS)
def test_checks_compare_and_copy_by_themselves(name: str, catalog: Catalog, tmp_path: Path) -> None:
    target = every_profile(catalog).targets.get(name)
    if not shutil.which(target.compiler):
        pytest.skip(f"compiler-missing: {target.compiler}")
    sources = [catalog.worker_root / f"{check}.c" for check in CHECKS]
    subprocess.run([target.compiler, *worker_flags(target), "-c", *sources], cwd=tmp_path, check=True)
    for check in CHECKS:
        used = link_names((tmp_path / f"{check}.o").read_bytes()).used
        assert not [function for function in used if function.startswith(REPLACEABLE)], check
