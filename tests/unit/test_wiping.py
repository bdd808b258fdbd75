"""Which of the bytes that two runs leave are secrets: those that differ and are no copy of a public output."""

from matrix.cases.material import stream
from matrix.run.wiping import Trace, secret_bytes

ONE, OTHER = (stream(name, 64) for name in ("ciphertext of one", "ciphertext of another"))
KEY, KEY_OF_OTHER = (stream(name, 32) for name in ("key of one", "key of another"))
SAME = bytes(range(16))


def _secret(one: bytes, other: bytes, public: tuple[bytes, bytes] = (ONE, OTHER)) -> list[int]:
    fresh = bytes(a != b for a, b in zip(one, other, strict=True))
    return secret_bytes(one, other, fresh, (Trace((), (public[0],)), Trace((), (public[1],))))


def test_what_differs_is_a_secret() -> None:
    found = _secret(SAME + KEY + SAME, SAME + KEY_OF_OTHER + SAME)
    differ = [16 + at for at in range(32) if KEY[at] != KEY_OF_OTHER[at]]
    assert found == differ
    assert len(differ) > 28


def test_a_copy_of_a_public_output_is_no_secret() -> None:
    assert _secret(SAME + ONE + SAME, SAME + OTHER + SAME) == []
    assert _secret(ONE[16:32] + ONE[:16], OTHER[16:32] + OTHER[:16]) == []
    assert _secret(SAME + ONE[61:], SAME + OTHER[61:]) == []


def test_a_secret_beside_a_public_output_is_found() -> None:
    found = _secret(ONE[:32] + KEY, OTHER[:32] + KEY_OF_OTHER)
    assert found
    assert min(found) >= 32


def test_one_runs_public_output_does_not_excuse_the_other() -> None:
    assert _secret(ONE[:32], KEY) != []
    assert _secret(KEY, OTHER[:32]) != []


def test_equal_leavings_are_no_secret() -> None:
    assert _secret(SAME, SAME) == []
