"""What the doctor looks for: compilers of profiles are needed when a profile is asked for, and optional else."""

from pathlib import Path

import pytest

from matrix.commands.doctor import Finding, Wanted, findings, missing_packages
from matrix.errors import SelectionError
from matrix.model.catalog import Catalog

TARGET = "arm32-noneon"


@pytest.fixture(autouse=True)
def no_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def _clang(rows: list[Finding]) -> list[Finding]:
    return [row for row in rows if row.name == "clang"]


def test_what_no_profile_asked_for_is_optional(catalog: Catalog) -> None:
    rows = findings(catalog, Wanted([TARGET]))
    assert _clang(rows) == [Finding("clang", "profile clang (optional)", "")]
    assert "qemu-user" in missing_packages(rows)
    assert "clang" not in missing_packages(rows)


@pytest.mark.parametrize(
    ("targets", "profiles"),
    [([TARGET], ["clang"]), ([TARGET], ["all"]), ([f"{TARGET}@clang"], []), ([TARGET, "aarch64@clang"], ["Os"])],
)
def test_what_a_profile_asked_for_is_needed(catalog: Catalog, targets: list[str], profiles: list[str]) -> None:
    rows = findings(catalog, Wanted(targets, profiles))
    assert _clang(rows) == [Finding("clang", "profile clang", "", "clang")]
    assert {"clang", "qemu-user"} <= set(missing_packages(rows))


def test_a_profile_that_brings_no_compiler_needs_none(catalog: Catalog) -> None:
    assert _clang(findings(catalog, Wanted([TARGET], ["Os", "arm"]))) == [
        Finding("clang", "profile clang (optional)", "")
    ]


def test_the_target_of_a_profile_is_looked_at_once(catalog: Catalog) -> None:
    purposes = [row.purpose for row in findings(catalog, Wanted([TARGET, f"{TARGET}@clang", f"{TARGET}@Os"]))]
    assert purposes.count(f"target {TARGET}") == 2
    assert not [purpose for purpose in purposes if purpose.startswith("target") and "@" in purpose]


@pytest.mark.parametrize(("targets", "profiles"), [(["arm64"], []), ([f"{TARGET}@gcc"], []), ([TARGET], ["gcc"])])
def test_unknown_names_are_selection_errors(catalog: Catalog, targets: list[str], profiles: list[str]) -> None:
    with pytest.raises(SelectionError, match="unknown"):
        findings(catalog, Wanted(targets, profiles))
