"""The state in which a kernel is entered: a number that a case and a placement fix, and that a request brings along.

The worker (kernels/worker/entry.c) makes flags, alignment of the stack and contents of registers of it, in the same
order as here. Because the number is the corpus's own, the order of cases, a cut of the run and a shard change nothing,
and ``repro`` enters the kernel as the run did.
"""

from matrix.cases.material import draw

ENTRY_STATES = 32
"""So many numbers in a row are all states; one more is the first again."""
_FLAGS = ("clear", "all set", "carry alone", "negative alone")
_POISON = ("random bytes", "zeros", "ones", "small numbers")


def entry_shift(placement: str) -> int:
    """What a placement adds to the numbers of cases, so that a case meets another state in each of its placements."""
    return draw(f"entry.{placement}", ENTRY_STATES)


def describe_entry(number: int) -> str:
    """The state of ``number`` in a reader's words; step k of a request has its number plus k."""
    flags, poison = number % 4, number // 4 % 4 ^ number % 4
    stack = "least" if (number % ENTRY_STATES).bit_count() % 2 else "most"
    return f"flags {_FLAGS[flags]}, stack of the {stack} alignment, {_POISON[poison]} in registers"
