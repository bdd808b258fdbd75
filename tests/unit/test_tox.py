"""tox.ini and README name the targets of images/targets.toml, all of them and no others."""

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from matrix.errors import StoreError
from matrix.model.catalog import Catalog

ROOT = Path(__file__).parents[2]
OWN = ("lint", "unit", "vectors", "integration", "planted", "planted-docker", "profiles", "exit-codes")
"""Environments that are no target."""


@pytest.fixture(scope="module")
def tox() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini")
    return parser


def _environments(tox: configparser.ConfigParser) -> list[str]:
    return [name.removeprefix("testenv:") for name in tox.sections() if name.startswith("testenv:")]


def _targets(catalog: Catalog) -> list[str]:
    return [target.name for target in catalog.targets.targets]


def test_each_target_has_an_environment_and_each_environment_is_known(
    tox: configparser.ConfigParser, catalog: Catalog
) -> None:
    assert sorted(_environments(tox)) == sorted([*OWN, *_targets(catalog)])


def test_every_environment_has_a_description(tox: configparser.ConfigParser) -> None:
    for name in _environments(tox):
        assert tox[f"testenv:{name}"].get("description", "").strip(), name


def test_plain_tox_runs_every_target(tox: configparser.ConfigParser, catalog: Catalog) -> None:
    listed = re.split(r"[,\s]+", tox["tox"]["env_list"].strip())
    assert len(set(listed)) == len(listed)
    assert set(_targets(catalog)) <= set(listed) <= set(_environments(tox))


def test_a_targets_environment_runs_that_target_after_asking_the_doctor(
    tox: configparser.ConfigParser, catalog: Catalog
) -> None:
    for name in _targets(catalog):
        section = tox[f"testenv:{name}"]
        for key, wanted in (("commands", "run"), ("commands_pre", "doctor --before-run")):
            text = section[key]
            for reference, other in re.findall(r"(\{\[(\w+)\]\w+\})", text):
                text = text.replace(reference, tox[other][key])
            assert f"capmatrix {wanted} {{env_name}}" in text, name


def test_the_readmes_environments_exist(tox: configparser.ConfigParser, catalog: Catalog) -> None:
    text = (ROOT / "README.md").read_text()
    table = text[text.index("| tox environment |") :].split("\n\n")[0]
    named = [name for row in table.splitlines()[2:] for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
    assert named
    assert set(named) <= set(_environments(tox))
    assert set(named) & set(_targets(catalog))


def test_the_cells_and_targets_that_the_readme_shows_exist(catalog: Catalog) -> None:
    text = (ROOT / "README.md").read_text()
    shown = set(re.findall(r"capmatrix run ([\w-]+)(?![\w/-])", text)) | set(
        re.findall(r"toxw --install -e ([\w-]+)", text)
    )
    assert shown
    assert shown <= {*_targets(catalog), *OWN}


@pytest.mark.parametrize(
    ("words", "handed", "installs"),
    [
        (["--install", "-e", "x86_64"], ["-e", "x86_64"], "1"),
        (["-e", "x86_64", "--install"], ["-e", "x86_64"], "1"),
        (["-e", "x86_64", "--", "-k", "a b", "--install"], ["-e", "x86_64", "--", "-k", "a b", "--install"], ""),
        (["-e", "x86_64", "--install", "--", "--mask", "none"], ["-e", "x86_64", "--", "--mask", "none"], "1"),
        ([], [], ""),
    ],
)
def test_toxw_takes_install_anywhere_before_what_is_not_toxs(
    tmp_path: Path, words: list[str], handed: list[str], installs: str
) -> None:
    """The real script with a tox that says what it got."""
    script = tmp_path / "tree" / "toxw"
    tox = tmp_path / "tree" / ".toxw" / "bin" / "tox"
    tox.parent.mkdir(parents=True)
    script.write_bytes((ROOT / "toxw").read_bytes())
    tox.write_text('#!/bin/sh\nprintf "%s\\n" "$CAPMATRIX_INSTALL" "$CAPMATRIX_STARTED_IN" "$PWD" "$@"\n')
    tox.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["sh", str(script), *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [installs, str(tmp_path), str(tmp_path / "tree"), *handed]


def test_toxw_in_a_checkout_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """Root, too, without its right to write whatever it likes."""
    tree = tmp_path / "tree"
    tree.mkdir()
    shutil.copy(ROOT / "toxw", tree)
    tree.chmod(0o555)
    words = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] if os.geteuid() == 0 else []
    command = [*words, str(tree / "toxw"), "-e", "unit"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == StoreError.exit_code
    first, second = done.stderr.splitlines()
    assert first.startswith(f"toxw: {tree} cannot be written by ")
    assert f"&& DIR/bin/pip install {tree}" in second
    assert os.listdir(tree) == ["toxw"]


def test_a_targets_options_reach_the_run(tox: configparser.ConfigParser) -> None:
    assert tox["matrix"]["commands"].strip() == "capmatrix run {env_name} {posargs}"
