"""The README of a folder of sources names what lies there, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = [
    *(("kernels/README.md", path.name) for path in sorted((ROOT / "kernels" / "shared").glob("*.h"))),
    *(("kernels/README.md", path.name) for path in sorted((ROOT / "kernels").glob("*.toml"))),
    *(("kernels/worker/README.md", path.name) for path in sorted((ROOT / "kernels" / "worker").glob("*.c"))),
    *(("images/README.md", path.name) for path in sorted((ROOT / "images" / "shared").iterdir())),
    *(("tests/README.md", f"{path.parent.name}/`") for path in sorted((ROOT / "tests").glob("*/conftest.py"))),
]


@pytest.mark.parametrize(("readme", "name"), NAMED)
def test_a_readme_names_what_lies_there(readme: str, name: str) -> None:
    assert name in (ROOT / readme).read_text()


@pytest.mark.parametrize("readme", sorted({readme for readme, _ in NAMED} | {"vectors/README.md"}))
def test_a_readme_links_to_files(readme: str) -> None:
    path = ROOT / readme
    for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / link).is_file(), link


def test_the_table_of_exit_codes_says_where_a_keyword_that_matches_nothing_ends() -> None:
    """`run` refuses it before anything starts; pytest by itself knows it as "no tests ran"."""
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", (ROOT / "docs" / "running.md").read_text(), re.MULTILINE))
    assert "`-k` of `run`" in rows["21"]
    assert "`-k` of a bare `pytest`" in rows["5"]


def test_readme_shows_that_list_takes_filters() -> None:
    (line,) = (line for line in (ROOT / "README.md").read_text().splitlines() if "capmatrix list x86_64 --mask" in line)
    assert "--algorithm" in line
