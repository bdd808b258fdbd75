"""Every word of vectors/sources.toml and of the typed files is checked, also of what a default run leaves out."""

import copy
import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matrix.cases.corpus import answered, compute_cases, parts
from matrix.cases.manifest import check_manifest
from matrix.cases.vectors import _PARSERS, published
from matrix.errors import OracleError, VectorError
from matrix.model.catalog import Catalog
from matrix.model.interface import Interface
from matrix.oracles.registry import models
from matrix.resources import data_root
from tests.unit.test_hostile_tables import VALUES, as_toml, places

VECTORS = data_root() / "vectors"
SOURCES: list[dict[str, Any]] = tomllib.loads((VECTORS / "sources.toml").read_text())["source"]
USES = [
    pytest.param(number, index, id=f"{source['file']}-{index}")
    for number, source in enumerate(SOURCES)
    for index, _ in enumerate(source["use"])
    if source["format"] != "typed"
]


def _check(catalog: Catalog, folder: Path) -> None:
    interfaces = catalog.provider("kernels").interfaces
    check_manifest(interfaces, [target.name for target in catalog.targets.targets], folder)


def _misspelt_role(use: dict[str, Any]) -> str:
    role = next(iter(use["inputs"]))
    use["inputs"] = {f"{role}c": use["inputs"].pop(role), **use["inputs"]}
    return f"'{role}c'"


def _misspelt_output(use: dict[str, Any]) -> str:
    use["outputs"] = {**use["outputs"], "blocc": "hex X"}
    return "'blocc'"


def _misspelt_form(use: dict[str, Any]) -> str:
    use["inputs"] = {role: text.replace(text.split()[0], "iex") for role, text in use["inputs"].items()}
    return "'iex "


def _misspelt_result(use: dict[str, Any]) -> str:
    use["results"] = {**use.get("results", {}), "vaild": "answer"}
    return "'vaild'"


def _misspelt_operation(use: dict[str, Any]) -> str:
    use["operation"] += "x"
    return repr(use["operation"])


def _misspelt_algorithm(use: dict[str, Any]) -> str:
    use["algorithm"] += "x"
    return repr(use["algorithm"])


def _missing_role(use: dict[str, Any]) -> str:
    role = next(iter(use["inputs"]))
    del use["inputs"][role]
    return f"no input '{role}'"


DAMAGES: list[Callable[[dict[str, Any]], str]] = [
    _misspelt_role,
    _misspelt_output,
    _misspelt_form,
    _misspelt_result,
    _misspelt_operation,
    _misspelt_algorithm,
    _missing_role,
]


def test_the_repositorys_own_vectors_have_no_unknown_word(catalog: Catalog) -> None:
    _check(catalog, VECTORS)


@pytest.mark.parametrize(("number", "index"), USES)
def test_a_misspelt_word_of_any_use_is_named_with_its_file(
    catalog: Catalog, tmp_path: Path, number: int, index: int
) -> None:
    for damage in DAMAGES:
        source = copy.deepcopy(SOURCES[number])
        word = damage(source["use"][index])
        (tmp_path / "sources.toml").write_text(f"source = [{as_toml(source)}]")
        with pytest.raises(VectorError) as caught:
            _check(catalog, tmp_path)
        assert source["file"] in caught.value.where
        assert word in caught.value.why


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('file    = "chacha20.toml"', 'file = "../vectors/chacha20.toml"', "no path below"),
        ('file    = "chacha20.toml"', 'file = "/etc/passwd"', "no path below"),
        ('file    = "chacha20.toml"', 'file = ""', "no path below"),
        ('package = "cryptography_vectors"', 'package = "os.path"', "top-level package"),
        ('package = "cryptography_vectors"', 'package = "../x"', "top-level package"),
        ('use     = [{ algorithm = "chacha20" }]', "use = []", "no use"),
        ('use     = [{ algorithm = "chacha20" }]', 'use = [{ algorithm = "chacha20", tier = "long" }]', "typed file"),
        ('out = "hex CIPHERTEXT"', 'out = "int CIPHERTEXT"', "output is bytes"),
        ('"int INITIAL_BLOCK_COUNTER"', '"const 99999999999"', "is not 'hex FIELD'"),
        ("rounds    = 1000", "rounds = 99999999999", "rounds from 1 to"),
        ('feed      = ["data"]', 'feed = ["dtaa"]', "'dtaa'"),
        ('feed      = ["data"]', "", "a chain needs feed"),
    ],
)
def test_a_wrong_word_of_a_source_is_named(catalog: Catalog, tmp_path: Path, old: str, new: str, words: str) -> None:
    text = (VECTORS / "sources.toml").read_text()
    assert old in text
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "sources.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(VectorError) as caught:
        _check(catalog, tmp_path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('target    = "x86_64"', 'target = "x86-64"', "'x86-64'; did you mean 'x86_64'"),
        ('tier      = "long"', 'tier = "lnog"', "tier"),
    ],
)
def test_a_typed_case_that_would_run_nowhere_is_named(
    catalog: Catalog, tmp_path: Path, old: str, new: str, words: str
) -> None:
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    text = (tmp_path / "sha1.toml").read_text()
    (tmp_path / "sha1.toml").write_text(text.replace(old, new))
    with pytest.raises(VectorError) as caught:
        _check(catalog, tmp_path)
    assert "sha1.toml" in caught.value.where
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("data = ", "blocc = ", "repeated"),
        ('operation = "hash"', 'operation = "hsah"', "hsah"),
        ("digest = ", "digets = ", "digets"),
        ("repeat    = { data = 1073741824 }", "repeat = { data = 7 }", "repeated"),
        ("repeat    = { data = 1073741824 }", "repeat = { data = 1099511627776 }", "repeated"),
    ],
)
def test_a_default_run_reads_the_long_cases_too(
    catalog: Catalog, tmp_path: Path, old: str, new: str, words: str
) -> None:
    interface = catalog.provider("kernels").interfaces["sha1"]
    shutil.copytree(VECTORS, tmp_path, dirs_exist_ok=True)
    head, middle, tail = (tmp_path / "sha1.toml").read_text().partition('name      = "nist-extremely-long"')
    assert old in tail
    (tmp_path / "sha1.toml").write_text(head + middle + tail.replace(old, new, 1))
    with pytest.raises(VectorError) as caught:
        compute_cases(interface, (), 1, False, tmp_path)
    assert "sha1.toml, entry nist-extremely-long" in caught.value.where
    assert words in str(caught.value)


def test_entries_outside_the_sample_are_read_too(catalog: Catalog, tmp_path: Path) -> None:
    """The second entry of two with a sample of 2: its unknown field is found without --exhaustive."""
    use = (
        'algorithm = "sha1"\noperation = "hash"\nprefix = "p"\nsample = 2\n'
        'inputs = { data = "hex Msg" }\noutputs = { digest = "hex MD" }'
    )
    (tmp_path / "sources.toml").write_text(
        '[[source]]\nfile = "p.txt"\nformat = "nist"\nlicence = "x"\norigin = "x"\nentries = 2\n'
        f"[[source.use]]\n{use}\n"
    )
    good = "COUNT = 1\nMsg =\nMD = da39a3ee5e6b4b0d3255bfef95601890afd80709\nCOUNT = 2\nMsg =\nMD = 00\n"
    (tmp_path / "p.txt").write_text(good)
    assert [draft.name for draft in published("sha1", tmp_path)] == ["p-1"]
    for damaged in (good + "Salt = 00\n", good.replace("MD = 00", "MD = 0x")):
        (tmp_path / "p.txt").write_text(damaged)
        with pytest.raises(VectorError) as caught:
            published("sha1", tmp_path)
        assert "p.txt, entry 2" in caught.value.where


LINES = [
    "COUNT = 0",
    "Count = 1",
    "Len = 8",
    "Len = 0",
    "Msg = 00",
    "MD = aa",
    "Seed = 00",
    "[L = 20]",
    "[ENCRYPT]",
    "FAIL",
    "Output = 00",
    "{}",
    "\n[Minimum Output Length (bits) = 16]",
    "[Maximum Output Length (bits) = 99]",
]


@pytest.mark.parametrize("form", sorted(_PARSERS))
@given(
    lines=st.lists(
        st.sampled_from(LINES) | st.text(max_size=30),
        max_size=8,
    )
)
def test_any_text_is_entries_or_a_vector_error(form: str, lines: list[str]) -> None:
    try:
        _PARSERS[form]("\n".join(lines), "file")
    except VectorError as problem:
        where = problem.where
    else:
        where = "file"
    assert where.startswith("file")


@pytest.fixture
def small_vectors(tmp_path: Path) -> Path:
    """A typed file and a NIST file of ChaCha20, with what names them."""
    case = {
        "name": "a",
        "origin": "x",
        "operation": "xor",
        "in": {"key": "00" * 32, "nonce": "00" * 12, "counter": 0, "data": "00000000"},
        "out": {"out": "76b8e0ad"},
        "tier": "long",
        "repeat": {},
        "feed": [],
        "rounds": 0,
        "target": "",
    }
    forms = {"key": "hex K", "nonce": "hex N", "counter": "const 0", "data": "hex P"}
    use = {"algorithm": "chacha20", "operation": "xor", "prefix": "p", "inputs": forms, "outputs": {"out": "hex C"}}
    about = {"licence": "x", "origin": "x", "entries": 1}
    sources = [
        {"file": "typed.toml", "format": "typed", "use": [{"algorithm": "chacha20"}], **about},
        {"file": "nist.txt", "format": "nist", "use": [use], **about},
    ]
    (tmp_path / "typed.toml").write_text(f"case = {as_toml([case])}\n")
    (tmp_path / "sources.toml").write_text(f"source = {as_toml(sources)}\n")
    entry = {"COUNT": "0", "K": "00" * 32, "N": "00" * 12, "P": "00000000", "C": "76b8e0ad"}
    (tmp_path / "nist.txt").write_text("".join(f"{name} = {value}\n" for name, value in entry.items()))
    return tmp_path


def _verify(folder: Path, interface: Interface) -> None:
    answers = {name: models(interface, name) for name in interface.operations}
    for draft in published(interface.algorithm, folder):
        for part in parts(draft, interface, answers):
            answered(part, interface, answers)


@pytest.mark.parametrize("name", ["sources.toml", "typed.toml"])
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_anywhere_is_taken_or_refused(
    catalog: Catalog, small_vectors: Path, name: str, data: st.DataObject
) -> None:
    interface = catalog.provider("kernels").interfaces["chacha20"]
    path = small_vectors / name
    before = path.read_text()
    values = tomllib.loads(before)
    container, key = data.draw(st.sampled_from(list(places(values))))
    container[key] = data.draw(VALUES)
    problem = None
    try:
        path.write_text("".join(f"{json.dumps(key)} = {as_toml(value)}\n" for key, value in values.items()))
        _check(catalog, small_vectors)
        _verify(small_vectors, interface)
    except (VectorError, OracleError) as caught:
        problem = caught
    finally:
        path.write_text(before)
    assert problem is None or (problem.what and problem.step)
