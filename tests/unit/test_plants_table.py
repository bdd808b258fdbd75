"""The table of kinds that once passed unseen names plants that exist, and marks gaps as the plants do."""

import re
import tomllib
from pathlib import Path

PLANTED = Path(__file__).parents[1] / "planted"
TEXT = (PLANTED / "README.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.splitlines() if re.match(r"\| \d+ \|", line)]
_NAME = re.compile(r"`([a-z0-9_]+/[a-z0-9-]+)`")


def _gap(name: str) -> bool:
    return bool(tomllib.loads((PLANTED / f"{name}.toml").read_text(encoding="utf-8")).get("known_gap"))


def test_every_kind_has_a_plant_that_is_caught() -> None:
    assert [int(row.split("|")[1]) for row in ROWS] == list(range(1, 23))
    for row in ROWS:
        caught, _, gaps = row.partition("gap: ")
        assert [name for name in _NAME.findall(caught) if not _gap(name)] == _NAME.findall(caught) != [], row
        assert all(_gap(name) for name in _NAME.findall(gaps)), row


def test_every_plant_that_is_named_exists() -> None:
    names = set(_NAME.findall(TEXT))
    assert len(names) > 50
    assert [name for name in sorted(names) if not (PLANTED / f"{name}.toml").is_file()] == []
