"""Published vectors: every one verifies, and a damaged file, an unknown field or a wrong answer is named."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from matrix.cases.case import Case, Draft
from matrix.cases.corpus import answered
from matrix.cases.formats import parse_nist, parse_wycheproof
from matrix.cases.manifest import read_manifest
from matrix.cases.vectors import published
from matrix.errors import VectorError
from matrix.model.interface import Interface, load_interface
from matrix.oracles.registry import models

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "vectors"
NIST = "# comment\n\nCOUNT = 0\nKEY = 00\nMSG = \n\nCOUNT = 1\nKEY = 01\nMSG = ff\n"


def _interface(algorithm: str) -> Interface:
    return load_interface(ROOT / "kernels" / algorithm / f"{algorithm}.toml")


def _verify(drafts: list[Draft], interface: Interface) -> list[Case]:
    answers = {name: models(interface, name) for name in interface.operations}
    return [answered(draft, interface, answers) for draft in drafts]


def _manifest(folder: Path, file: str, form: str, entries: int, use: str) -> Path:
    source = f'file = "{file}"\nformat = "{form}"\nlicence = "x"\norigin = "planted"\nentries = {entries}'
    (folder / "sources.toml").write_text(f"[[source]]\n{source}\n[[source.use]]\n{use}\n")
    return folder


XOR_NIST = """algorithm = "chacha20"
operation = "xor"
prefix = "planted"
inputs = { key = "hex KEY", nonce = "hex NONCE", counter = "int COUNTER", data = "hex PLAINTEXT" }
outputs = { out = "hex CIPHERTEXT" }"""
GOOD_NIST = f"""COUNT = 7
KEY = {"00" * 32}
NONCE = {"00" * 12}
COUNTER = 0
PLAINTEXT = 00000000
CIPHERTEXT = 76b8e0ad
"""


def _planted_nist(folder: Path, text: str, entries: int = 1) -> list[Draft]:
    (folder / "planted.txt").write_text(text)
    return published("chacha20", _manifest(folder, "planted.txt", "nist", entries, XOR_NIST))


@pytest.mark.parametrize(
    ("algorithm", "ran", "skipped"),
    [("chacha20", 14 + 3 + 11 + 256, 28 + 3), ("poly1305", 12 + 11 + 256, 0)],
)
def test_every_published_vector_verifies(algorithm: str, ran: int, skipped: int) -> None:
    cases = _verify(published(algorithm, VECTORS), _interface(algorithm))
    assert sum(not case.skip for case in cases) == ran
    assert [case.skip for case in cases if case.skip] == ["other-contract"] * skipped


def test_aead_vectors_answer_or_refuse() -> None:
    cases = _verify(published("chacha20_poly1305", VECTORS), _interface("chacha20_poly1305"))
    refused = [case for case in cases if case.expected is None and not case.skip]
    assert len(refused) == 60
    assert all(case.operation == "open" for case in refused)
    assert sum(case.operation == "seal" for case in cases) == 2 + 256
    assert sum(case.operation in ("seal_old", "open_old") for case in cases) == 2
    assert sum(case.skip == "other-contract" for case in cases) == 9


def test_typed_vectors_name_every_section() -> None:
    algorithms = ("chacha20", "poly1305", "chacha20_poly1305")
    origins = {draft.origin for algorithm in algorithms for draft in published(algorithm, VECTORS)}
    wanted = {
        "2.3.2",
        "2.4.2",
        "2.5.2",
        "2.6.2",
        "2.8.2",
        "A.5",
        *(f"A.1 #{n}" for n in range(1, 6)),
        *(f"A.2 #{n}" for n in range(1, 4)),
    }
    wanted |= {f"A.3 #{n}" for n in range(1, 12)} | {f"A.4 #{n}" for n in range(1, 4)}
    assert {f"RFC 8439 {section}" for section in wanted} <= origins


def test_the_manifest_states_licence_and_origin_of_every_file() -> None:
    sources = read_manifest(VECTORS)
    assert all(source.licence and source.origin and source.entries and source.use for source in sources)
    listed = {source.file for source in sources if not source.package} | {"sources.toml", "README.md"}
    assert {path.name for path in VECTORS.iterdir()} == listed


def test_a_good_planted_vector_verifies(tmp_path: Path) -> None:
    (case,) = _verify(_planted_nist(tmp_path, GOOD_NIST), _interface("chacha20"))
    assert (case.name, case.origin, case.expected) == (
        "planted-7",
        "planted 7",
        {"out": bytes.fromhex("76b8e0ad")},
    )


def test_a_wrong_published_answer_is_caught_with_both_values(tmp_path: Path) -> None:
    drafts = _planted_nist(tmp_path, GOOD_NIST.replace("76b8e0ad", "76b8e0ae"))
    with pytest.raises(VectorError) as caught:
        _verify(drafts, _interface("chacha20"))
    assert "planted.txt, entry 7" in caught.value.where
    assert caught.value.why == "published out = 76b8e0ae; oracle out = 76b8e0ad"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("CIPHERTEXT = 76b8e0ad", "CIPHERTEXT = 76b8e0a", "CIPHERTEXT is truncated"),
        ("CIPHERTEXT = 76b8e0ad\n", "", "lacks a field"),
        ("CIPHERTEXT = 76b8e0ad\n", "CIPH", "without a value"),
        ("COUNTER = 0", "COUNTER = zero", "COUNTER = 'zero'"),
        ("COUNTER = 0", "COUNTER = 0\nCOUNTER = 1", "a field twice"),
        ("COUNTER = 0", "COUNTER = 0\nROUNDS = 20", "unknown field"),
        ("COUNT = 7\n", "", "does not start with COUNT"),
    ],
)
def test_a_damaged_nist_file_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(VectorError, match=words) as caught:
        _planted_nist(tmp_path, GOOD_NIST.replace(old, new))
    assert "planted.txt" in caught.value.where


@pytest.mark.parametrize("text", ["", "# nothing\n", GOOD_NIST.partition("PLAINTEXT")[0] * 2])
def test_an_empty_or_shortened_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(VectorError, match=r"sources\.toml says 1"):
        _planted_nist(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (f"KEY = {'00' * 32}", "KEY = 0000", "key has 2 bytes"),
        ("COUNTER = 0", "COUNTER = 4294967296", "32-bit word"),
    ],
)
def test_a_vector_that_does_not_fit_the_interface_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    drafts = _planted_nist(tmp_path, GOOD_NIST.replace(old, new))
    with pytest.raises(VectorError, match=words):
        _verify(drafts, _interface("chacha20"))


def test_a_missing_file_or_package_is_refused(tmp_path: Path) -> None:
    _manifest(tmp_path, "absent.txt", "nist", 1, XOR_NIST)
    with pytest.raises(VectorError, match=r"cannot read absent\.txt"):
        published("chacha20", tmp_path)
    text = (tmp_path / "sources.toml").read_text().replace("[[source]]", '[[source]]\npackage = "no_such_vectors"')
    (tmp_path / "sources.toml").write_text(text)
    with pytest.raises(VectorError, match="no_such_vectors is not installed"):
        published("chacha20", tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[case]]\nname = "a"\n', "origin"),
        ('[[case]]\nname = "a"\norigin = "b"\noperation = "xor"\nin = {}\nout = {}\nnote = ""\n', "note"),
        ('[[case]]\nname = "a"\norigin = "b"\noperation = "xor"\nin = { key = "0g" }\nout = {}\n', "damaged"),
        ("[[case]\n", "not TOML"),
        ("", "case"),
    ],
)
def test_a_damaged_typed_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "chacha20.toml").write_text(text)
    with pytest.raises(VectorError, match=words) as caught:
        published("chacha20", _manifest(tmp_path, "chacha20.toml", "typed", 1, 'algorithm = "chacha20"'))
    assert "chacha20.toml" in caught.value.where


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('operation = "xor"', 'operation = "xro"', "chacha20 has no operation 'xro'; did you mean 'xor'"),
        ("out = {", "out = { outt = '', ", "'outt' is no output of xor; did you mean 'out'"),
        ("in = {", "in = { keyy = '', ", r"inputs \[.*'keyy'.*\], the operation takes"),
    ],
)
def test_a_misspelt_name_of_a_typed_vector_is_answered_with_a_near_one(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    inputs = f"key = '{'00' * 32}', nonce = '{'00' * 12}', counter = 0, data = '00000000'"
    row = f"in = {{ {inputs} }}\nout = {{ out = '76b8e0ad' }}"
    good = f'[[case]]\nname = "a"\norigin = "b"\noperation = "xor"\n{row}\n'
    manifest = _manifest(tmp_path, "chacha20.toml", "typed", 1, 'algorithm = "chacha20"')
    (tmp_path / "chacha20.toml").write_text(good)
    _verify(published("chacha20", manifest), _interface("chacha20"))
    (tmp_path / "chacha20.toml").write_text(good.replace(old, new))
    with pytest.raises(VectorError) as caught:
        _verify(published("chacha20", manifest), _interface("chacha20"))
    assert re.search(words, caught.value.why)
    assert "chacha20.toml, entry a" in caught.value.where


def test_nist_entries_keep_their_order_and_labels() -> None:
    assert [(entry.label, entry.fields) for entry in parse_nist(NIST, "x")] == [
        ("0", {"KEY": "00", "MSG": ""}),
        ("1", {"KEY": "01", "MSG": "ff"}),
    ]


def _wycheproof() -> dict[str, Any]:
    test = {
        "tcId": 5,
        "comment": "",
        "flags": [],
        "key": "00" * 32,
        "iv": "00" * 12,
        "aad": "",
        "msg": "00" * 4,
    }
    test |= {"ct": "9f07e7be", "tag": "00", "result": "valid"}
    group = {
        "type": "AeadTest",
        "source": {"name": "x"},
        "ivSize": 96,
        "keySize": 256,
        "tagSize": 128,
        "tests": [test],
    }
    file = {"algorithm": "CHACHA20-POLY1305", "schema": "x", "numberOfTests": 1, "header": [], "notes": {}}
    return {**file, "testGroups": [group]}


XOR_WYCHEPROOF = """algorithm = "chacha20"
operation = "xor"
prefix = "planted"
inputs = { key = "hex key", nonce = "hex iv", counter = "const 1", data = "hex msg" }
outputs = { out = "hex ct" }
group = { ivSize = 96, keySize = 256, tagSize = 128 }
results = { valid = "answer", invalid = "no-answer" }"""


def _planted_wycheproof(folder: Path, text: str, entries: int = 1) -> list[Draft]:
    (folder / "planted.json").write_text(text)
    manifest = _manifest(folder, "planted.json", "wycheproof", entries, XOR_WYCHEPROOF)
    path = manifest / "sources.toml"
    path.write_text(path.read_text().replace("[[source.use]]", 'unused = ["aad", "tag"]\n[[source.use]]'))
    return published("chacha20", manifest)


def test_a_good_wycheproof_file_verifies(tmp_path: Path) -> None:
    (case,) = _verify(_planted_wycheproof(tmp_path, json.dumps(_wycheproof())), _interface("chacha20"))
    assert (case.name, case.expected) == ("planted-5", {"out": bytes.fromhex("9f07e7be")})


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("testGroups", 0, "tests", 0, "result"), "probable", "unknown result"),
        (("testGroups", 0, "tests", 0, "result"), "acceptable", "no meaning"),
        (("testGroups", 0, "tests", 0, "salt"), "00", "unknown field"),
        (("testGroups", 0, "tests", 0, "salt"), ["00"], "unknown field"),
        (("testGroups", 0, "tests", 0, "msg"), "000", "msg is truncated"),
        (("testGroups", 0, "rounds"), 20, "group of vectors has an unknown field"),
        (("numberOfTests",), 2, "incomplete"),
        (("generator",), "x", "cannot be read"),
    ],
)
def test_a_damaged_wycheproof_file_is_refused(tmp_path: Path, path: tuple[Any, ...], value: Any, words: str) -> None:
    file = _wycheproof()
    *parents, last = path
    place: Any = file
    for step in parents:
        place = place[step]
    place[last] = value
    with pytest.raises(VectorError, match=words) as caught:
        _planted_wycheproof(tmp_path, json.dumps(file))
    assert "planted.json" in caught.value.where


def test_a_truncated_wycheproof_file_is_refused() -> None:
    text = json.dumps(_wycheproof())
    for length in (0, 1, len(text) // 2, len(text) - 1):
        with pytest.raises(VectorError, match="cannot be read"):
            parse_wycheproof(text[:length], "planted.json")


def test_a_group_of_another_contract_is_skipped(tmp_path: Path) -> None:
    file = _wycheproof()
    file["testGroups"].append({**file["testGroups"][0], "ivSize": 64})
    file["numberOfTests"] = 2
    first, second = _verify(_planted_wycheproof(tmp_path, json.dumps(file), entries=2), _interface("chacha20"))
    assert (first.skip, first.expected) == ("", {"out": bytes.fromhex("9f07e7be")})
    assert (second.skip, second.expected) == ("other-contract", None)


def test_a_use_for_which_everything_is_of_another_contract_is_refused(tmp_path: Path) -> None:
    file = _wycheproof()
    file["testGroups"][0]["ivSize"] = 64
    with pytest.raises(VectorError, match="takes nothing"):
        _planted_wycheproof(tmp_path, json.dumps(file))


def test_a_use_that_asks_for_an_unknown_field_of_a_group_is_refused(tmp_path: Path) -> None:
    """It would leave every entry out."""
    (tmp_path / "planted.txt").write_text(GOOD_NIST)
    manifest = _manifest(tmp_path, "planted.txt", "nist", 1, XOR_NIST + "\ngroup = { keysize = 256 }")
    with pytest.raises(VectorError, match="unknown field of a group") as caught:
        published("chacha20", manifest)
    assert "'keysize'" in caught.value.why


@pytest.mark.parametrize("line", ["[L = " + "9" * 5000 + "]", "COUNTER = " + "9" * 5000, "[[" * 3000])
@pytest.mark.parametrize("form", ["nist", "cavp", "nist-hashes", "nist-sections", "nist-monte-shake128", "wycheproof"])
def test_numbers_of_thousands_of_digits_are_refused(tmp_path: Path, form: str, line: str) -> None:
    (tmp_path / "planted.txt").write_text(f"{line}\nCOUNT = 0\nCount = 0\n{GOOD_NIST}")
    with pytest.raises(VectorError):
        published("chacha20", _manifest(tmp_path, "planted.txt", form, 1, XOR_NIST))
