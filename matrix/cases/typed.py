"""Vectors typed in from specifications: ``vectors/<algorithm>.toml``.

A case with ``rounds`` is a chain: each answer becomes part of the next input, whose roles ``feed`` names in order.
A case with ``repeat`` has a message of so many bytes, which repeats the input that it names. A case with ``target``
runs on that target only.
"""

from dataclasses import replace
from pathlib import Path

import msgspec

from matrix.cases.case import Chain, Draft, Inputs, Outputs, Tier
from matrix.errors import VectorError
from matrix.model.tables import read_toml
from matrix.worker.protocol import SLOT_BYTES

MOST_ROUNDS = 10_000_000
"""Rounds of a chain: RFC 7748's longest has a million."""
MOST_BYTES = 4 << 30
"""Bytes of a repeated message: beyond every count of 32 bits."""


class _Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"inputs": "in", "outputs": "out"}):
    name: str
    origin: str
    operation: str
    inputs: dict[str, str | int]
    outputs: dict[str, str]
    tier: Tier = "boundary"
    feed: list[str] = []
    rounds: int = 0
    repeat: dict[str, int] = {}
    target: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    case: list[_Case]


def read_typed(path: Path) -> list[Draft]:
    """The cases of one file: bytes are hexadecimal with free white space, words are numbers."""
    drafts = []
    for row in read_toml(path, _File, VectorError).case:
        where = f"{path}, entry {row.name}"
        inputs: Inputs = {
            role: value if isinstance(value, int) else hexadecimal(value, where, role)
            for role, value in row.inputs.items()
        }
        outputs: Outputs = {role: hexadecimal(value, where, role) for role, value in row.outputs.items()}
        if bool(row.feed) != bool(row.rounds) or not 0 <= row.rounds <= MOST_ROUNDS:
            why = f"it needs both feed and rounds, rounds from 1 to {MOST_ROUNDS}"
            raise VectorError("a chain is incomplete", where=where, why=why)
        chain = Chain(tuple(row.feed), row.rounds) if row.feed else None
        total = 0
        for role, total in row.repeat.items():
            inputs[role] = _piece(inputs.get(role, b""), total, where, role)
        draft = Draft(row.name, row.operation, inputs, row.origin, row.tier, outputs, where)
        drafts.append(replace(draft, chain=chain, total=total, target=row.target))
    return drafts


def _piece(unit: bytes | int, total: int, where: str, role: str) -> bytes:
    """As many of ``unit`` as fit into one buffer, for a message of ``total`` bytes made of them."""
    if not isinstance(unit, bytes) or not 0 < len(unit) <= min(total, SLOT_BYTES) or total > MOST_BYTES:
        why = f"{role} repeated up to {total} bytes"
        raise VectorError("a vector's message cannot be repeated", where=where, why=why)
    return unit * (min(total, SLOT_BYTES) // len(unit))


def hexadecimal(text: str, where: str, name: str) -> bytes:
    """The bytes of ``text``, white space aside. Raises VectorError for what is not whole bytes."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        digits = len("".join(text.split()))
        why = f"{digits} characters that are not whole bytes of hexadecimal"
        raise VectorError(f"a vector's {name} is truncated or damaged", where=where, why=why) from None
