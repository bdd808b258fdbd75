"""Names that nothing has: the message about one says what there is and what was probably meant."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_SIMILARITY = 0.6
"""difflib's ratio from which a name counts as near (its default)."""


def near(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """The names of ``known`` that look most like ``word``, the nearest first; empty when none does."""
    return get_close_matches(word, list(known), count, _SIMILARITY)


def known_names(word: str, known: Sequence[str]) -> str:
    """``did you mean 'neon'? there are neon, aes``, without the question when nothing is near."""
    question = "".join(f"did you mean {name!r}? " for name in near(word, known))
    return f"{question}there are {', '.join(known) or 'none'}"
