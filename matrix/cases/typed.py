"""Vectors typed in from specifications: ``vectors/<algorithm>.toml``.

A case with ``rounds`` is a chain: each answer becomes part of the next input, whose roles ``feed`` names in order.
A case with ``target`` runs on that target only.
"""

from dataclasses import replace
from pathlib import Path

import msgspec

from matrix.cases.case import Chain, Draft, Inputs, Outputs, Tier
from matrix.errors import VectorError
from matrix.model.tables import read_toml


class _Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"inputs": "in", "outputs": "out"}):
    name: str
    origin: str
    operation: str
    inputs: dict[str, str | int]
    outputs: dict[str, str]
    tier: Tier = "boundary"
    feed: list[str] = []
    rounds: int = 0
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
        if bool(row.feed) != bool(row.rounds):
            raise VectorError("a chain is incomplete", where=where, why="it needs both feed and rounds")
        chain = Chain(tuple(row.feed), row.rounds) if row.feed else None
        draft = Draft(row.name, row.operation, inputs, row.origin, row.tier, outputs, where)
        drafts.append(replace(draft, chain=chain, target=row.target))
    return drafts


def hexadecimal(text: str, where: str, name: str) -> bytes:
    """The bytes of ``text``, white space aside. Raises VectorError for what is not whole bytes."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        digits = len("".join(text.split()))
        why = f"{digits} characters that are not whole bytes of hexadecimal"
        raise VectorError(f"a vector's {name} is truncated or damaged", where=where, why=why) from None
