"""Near names: what was probably meant, and nothing where nothing is near."""

import pytest

from matrix.model.near import known_names, near


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("chachaa20", ["aes", "chacha20", "sha1"], ["chacha20"]),
        ("x86-64", ["x86", "x86_64", "aarch64"], ["x86_64"]),
        ("zzz", ["aes"], []),
        ("aes", [], []),
    ],
)
def test_the_nearest_name(word: str, known: list[str], found: list[str]) -> None:
    assert near(word, known) == found


def test_a_question_only_where_something_is_near() -> None:
    assert known_names("noen", ["neon", "aes"]) == "did you mean 'neon'? there are neon, aes"
    assert known_names("zzz", ["neon", "aes"]) == "there are neon, aes"
    assert known_names("zzz", []) == "there are none"
