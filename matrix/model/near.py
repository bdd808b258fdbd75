"""Names that nothing has: the message about one says what there is and what was probably meant."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_SIMILARITY = 0.6
"""difflib's ratio from which a name counts as near (its default)."""


def near(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """The names of ``known`` that look most like ``word``, the nearest first; empty when none does.

    Capitals and the choice of '-' or '_' make no difference.
    """
    plain = {_plain(name): name for name in known}
    return [plain[found] for found in get_close_matches(_plain(word), list(plain), count, _SIMILARITY)]


def _plain(word: str) -> str:
    return word.lower().replace("_", "-")


def known_names(word: str, known: Sequence[str]) -> str:
    """``did you mean 'neon'? there are neon, aes``, without the question when nothing is near."""
    question = "".join(f"did you mean {name!r}? " for name in near(word, known))
    return f"{question}there are {', '.join(known) or 'none'}"
