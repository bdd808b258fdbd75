"""The form of NIST's hash files: what it is read as, and what is refused."""

import pytest

from matrix.cases.nist_hashes import parse_nist_hashes
from matrix.errors import VectorError

GOOD = """#  CAVS 11.0
[L = 20]

Len = 0
Msg = 00
MD = da39

Len = 16
Msg = 195a
MD = 0a1c
"""


def test_entries_are_numbered_and_know_their_group() -> None:
    empty, two = parse_nist_hashes(GOOD, "x.rsp")
    assert (empty.label, empty.fields, empty.group) == ("1", {"Msg": "", "MD": "da39"}, {"L": "20"})
    assert (two.label, two.fields, two.group) == ("2", {"Msg": "195a", "MD": "0a1c"}, {"L": "20"})


def test_lines_may_end_as_on_windows() -> None:
    assert parse_nist_hashes(GOOD.replace("\n", "\r\n"), "x.rsp") == parse_nist_hashes(GOOD, "x.rsp")


def test_files_without_a_group_and_with_keys_are_of_the_same_form() -> None:
    (entry,) = parse_nist_hashes("# HMAC\nLen = 8\nKey = 0b0b\n# a word\nMsg = 48\nMD = 00\n", "x.txt")
    assert (entry.fields, entry.group) == ({"Key": "0b0b", "Msg": "48", "MD": "00"}, {})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Len = 16", "Len = 24", "Len is 24, Msg has 16 bits"),
        ("Len = 16", "Len = 12", "Len is 12, Msg has 16 bits"),
        ("Msg = 195a", "", "Len is 16, Msg has 0 bits"),
        ("MD = 0a1c", "MD = 0a1c\nMD = 0a1c", "MD"),
        ("MD = 0a1c", "MD 0a1c", "MD 0a1c"),
        ("[L = 20]", "[L = 20", "[L = 20"),
        ("[L = 20]", "Seed = 20", "comes before the first Len"),
    ],
)
def test_what_is_not_of_the_form_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(VectorError) as refused:
        parse_nist_hashes(GOOD.replace(old, new), "x.rsp")
    assert said in str(refused.value) + (refused.value.why or "")
