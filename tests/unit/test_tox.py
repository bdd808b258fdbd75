"""tox.ini and README name the targets of images/targets.toml, all of them and no others."""

import configparser
import re
from pathlib import Path

import pytest

from matrix.model.catalog import Catalog

ROOT = Path(__file__).parents[2]
OWN = ("lint", "unit", "integration", "planted")
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
        for key, wanted in (("commands", "matrix run"), ("commands_pre", "matrix doctor --before-run")):
            text = section[key]
            for reference, other in re.findall(r"(\{\[(\w+)\]\w+\})", text):
                text = text.replace(reference, tox[other][key])
            assert f"python -m {wanted} {{env_name}}" in text, name


def test_the_readmes_environments_exist(tox: configparser.ConfigParser, catalog: Catalog) -> None:
    text = (ROOT / "README.md").read_text()
    table = text[text.index("| tox environment |") :].split("\n\n")[0]
    named = [name for row in table.splitlines()[2:] for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
    assert named
    assert set(named) <= set(_environments(tox))
    assert set(named) & set(_targets(catalog))


def test_the_cells_and_targets_that_the_readme_shows_exist(catalog: Catalog) -> None:
    text = (ROOT / "README.md").read_text()
    shown = set(re.findall(r"matrix run ([\w-]+)(?![\w/-])", text)) | set(
        re.findall(r"toxw --install -e ([\w-]+)", text)
    )
    assert shown
    assert shown <= {*_targets(catalog), *OWN}
