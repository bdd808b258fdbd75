"""Points of X25519 in whose first ladder step a chosen value appears: the algebra is solved for the coordinate.

Bit 254 of a clamped scalar is 1, so the first step doubles the point (u : 1) itself. In the names of RFC 7748 5,
modulo P:

    AA = (u + 1)^2      BB = (u - 1)^2      E = AA - BB = 4 u
    x_2 = AA BB = (u^2 - 1)^2               z_2 = E S with S = AA + a24 E, which is (u + 1)^2 + 4 a24 u here
    x_3 = (DA + CB)^2 = (2 u)^2             z_3 = u (DA - CB)^2 = 4 u

Each of AA, BB, E, S, x_2 and x_3 is solved for u, with square roots where it needs them; about half of the values have
one. z_2 has the third degree in u, and is left out. What a kernel holds may be the value plus P or 2 P, with limbs that
are not canonical: so a value is a target, and no promise.
"""

from collections.abc import Callable, Iterator

from matrix.cases.material import draw
from matrix.oracles.spec_x25519 import A24, P

_WORD = 64
_WORDS = 4
_SMALL = 1 << 12
"""Less than what a fold adds to the lowest word: 38 times the word above 2^256."""


def square_root(value: int) -> int | None:
    """A square root modulo P, or None; P is 5 modulo 8 (RFC 8032 5.1.3)."""
    root = pow(value, (P + 3) // 8, P)
    roots = (root, root * pow(2, (P - 1) // 4, P) % P)
    return next((found for found in roots if found * found % P == value % P), None)


def point_doubled_to(value: int) -> int | None:
    """The u coordinate with S = ``value``, or None: (u + h)^2 = h^2 - 1 + S for h = 1 + 2 a24."""
    half = 1 + 2 * A24
    root = square_root(half * half - 1 + value)
    return None if root is None else (root - half) % P


def _first_product(value: int) -> int | None:
    """u with x_2 = ``value``: u^2 is 1 plus a root of it, or 1 minus that."""
    root = square_root(value)
    found = () if root is None else (square_root(1 + root), square_root(1 - root))
    return next((u for u in found if u is not None), None)


def _shifted_root(value: int, shift: int) -> int | None:
    root = square_root(value)
    return None if root is None else (root + shift) % P


def _half_root(value: int) -> int | None:
    root = square_root(value)
    return None if root is None else root * pow(2, -1, P) % P


FIRST_STEP: dict[str, Callable[[int], int | None]] = {
    "aa": lambda value: _shifted_root(value, -1),
    "bb": lambda value: _shifted_root(value, 1),
    "e": lambda value: value * pow(4, -1, P) % P,
    "s": point_doubled_to,
    "x2": _first_product,
    "x3": _half_root,
}
"""The values of the first step by name: the coordinate that brings a value about, None where there is none."""


def carried_values() -> dict[str, int]:
    """Values by name whose lowest words are a small number and zeros, as a carry that runs through them leaves them."""
    values = {}
    for words in range(1, _WORDS):
        for turn in range(2):
            name = f"carried{words}-{turn}"
            rest = draw(name, 1 << (_WORD * (_WORDS - words) - 1))
            values[name] = (rest << _WORD * words) + draw(f"{name}.small", _SMALL)
    return values


def multiples_that_carry() -> Iterator[tuple[str, int]]:
    """E by name, so that adding up the products of its words with a24 carries out of one word, or of each.

    The low half of a24 e is all ones for e = -1 / a24 modulo 2^64; the high half of the product below it is not zero,
    for all but 2^47 of 2^64 words. So the odds of each of these carries are 2^-47.
    """
    word = -pow(A24, -1, 1 << _WORD) % (1 << _WORD)
    for name, places in (("1", (1,)), ("2", (2,)), ("3", (3,)), ("all", (0, 1, 2))):
        for turn in range(4):
            label = f"multiple-{name}-{turn}"
            value = sum(draw(f"{label}.{place}", 1 << _WORD) << _WORD * place for place in range(_WORDS))
            for place in places:
                ones = ((1 << _WORD) - 1) << _WORD * place
                value = value & ~ones | word << _WORD * place
            yield label, value % (1 << (_WORD * _WORDS))
