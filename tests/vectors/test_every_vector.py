"""Every published vector against the oracle: also the long ones and those outside a sample, which only exhaustive runs
have. A wrong digest of one of them would else pass every default run."""

import shutil
from pathlib import Path

import pytest

from matrix.cases.case import Draft
from matrix.cases.corpus import answered, parts
from matrix.cases.vectors import published
from matrix.errors import VectorError
from matrix.model.catalog import load_catalog
from matrix.model.interface import Interface
from matrix.oracles.registry import models
from matrix.resources import data_root

VECTORS = data_root() / "vectors"
INTERFACES = load_catalog(data_root()).provider("kernels").interfaces
CHUNKS = 8


def _verify(drafts: list[Draft], interface: Interface) -> None:
    answers = {name: models(interface, name) for name in interface.operations}
    for draft in drafts:
        for part in parts(draft, interface, answers):
            answered(part, interface, answers)


def _long(draft: Draft) -> bool:
    return draft.tier == "long"


LONG = [
    pytest.param(algorithm, draft.name, id=f"{algorithm}-{draft.name}")
    for algorithm in sorted(INTERFACES)
    for draft in published(algorithm, VECTORS)
    if _long(draft)
]


def test_there_are_long_vectors() -> None:
    assert len(LONG) >= 6


@pytest.mark.parametrize(("algorithm", "name"), LONG)
def test_a_long_vector_verifies(algorithm: str, name: str) -> None:
    drafts = [draft for draft in published(algorithm, VECTORS) if draft.name == name]
    _verify(drafts, INTERFACES[algorithm])


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("algorithm", sorted(INTERFACES))
def test_every_other_vector_verifies(algorithm: str, chunk: int) -> None:
    drafts = [draft for draft in published(algorithm, VECTORS, exhaustive=True) if not _long(draft)]
    _verify(drafts[chunk::CHUNKS], INTERFACES[algorithm])


def test_a_wrong_digest_of_a_long_vector_is_caught(tmp_path: Path) -> None:
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "sha1.toml"
    head, name, tail = path.read_text().partition('name      = "nist-extremely-long"')
    before, digest, after = tail.partition('digest = """\n    ')
    path.write_text(head + name + before + digest + ("00" if after[:2] != "00" else "11") + after[2:])
    drafts = [draft for draft in published("sha1", tmp_path) if _long(draft)]
    with pytest.raises(VectorError, match="nist-extremely-long contradicts the oracle") as caught:
        _verify(drafts, INTERFACES["sha1"])
    assert "sha1.toml, entry nist-extremely-long" in caught.value.where
