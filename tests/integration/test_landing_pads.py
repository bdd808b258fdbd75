"""Kernels follow the compiler's protection of indirect calls, which some distributions turn on by default."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as with_fields

from matrix.build.landing import claims
from matrix.build.worker import build_worker
from matrix.model.catalog import OURS, load_catalog
from matrix.resources import data_root
from matrix.sandbox.host import HostSandbox

PROTECTED = {
    "aarch64": ("-mbranch-protection=bti", {"BTI"}),
    "x86": ("-fcf-protection=full", {"IBT", "SHSTK"}),
    "x86_64": ("-fcf-protection=full", {"IBT", "SHSTK"}),
}


@pytest.mark.parametrize("name", PROTECTED)
def test_every_object_of_a_protected_build_claims_it_and_truly(name: str, tmp_path: Path) -> None:
    """All assembly, and one algorithm's C, for which the compiler and the assembler must agree too."""
    flag, features = PROTECTED[name]
    catalog = load_catalog(data_root())
    ours, target = catalog.provider(OURS), catalog.targets.get(name)
    few = replace(ours, variants=tuple(v for v in ours.variants if v.assembly or v.algorithm == "chacha20"))
    sandbox = HostSandbox(tmp_path)
    built = build_worker(sandbox, catalog, with_fields(target, flags=[*target.flags, flag]), few)
    assert built.failed == {}, "an untrue claim fails the build"
    read = sandbox.read_all(built.objects.values())
    claimed = {variant: claims(read[output], target.arch) for variant, output in built.objects.items()}
    assert len(claimed) > 10
    assert {variant: found for variant, found in claimed.items() if found != features} == {}
