"""The corpus: selection, the cache that is computed once and never trusted, and what must be refused."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from matrix.cases import chacha20_edges, store
from matrix.cases import corpus as corpus_module
from matrix.cases.case import Case, Corpus, Draft, name_problem
from matrix.cases.corpus import answered, build_corpus, compute_cases, input_problem, own_edges
from matrix.errors import OracleError, VectorError
from matrix.model.interface import Interface, load_interface
from matrix.oracles.registry import models

ROOT = Path(__file__).parents[2]
MIN_BYTES = (0, 129, 192)


def _interface(algorithm: str = "chacha20") -> Interface:
    return load_interface(ROOT / "kernels" / algorithm / f"{algorithm}.toml")


def _draft(**changes: object) -> Draft:
    inputs: dict[str, bytes | int] = {"key": bytes(32), "nonce": bytes(12), "counter": 0, "data": bytes(4)}
    return replace(Draft("a", "xor", inputs, "test", "smoke"), **changes)  # type: ignore[arg-type]  # by field name


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def chacha20(cache: Path) -> Corpus:
    return build_corpus(_interface(), MIN_BYTES, 1, False, cache)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make build_corpus compute one case only; the list grows by one with each computation."""
    computed: list[int] = []

    def compute(*_: object) -> tuple[Case, ...]:
        computed.append(1)
        return (Case("a", "chacha20", "xor", {"data": b"\x00", "counter": 7}, "test", "smoke", {"out": b"x"}),)

    monkeypatch.setattr(corpus_module, "compute_cases", compute)
    return computed


@pytest.mark.parametrize("algorithm", ["chacha20", "poly1305"])
def test_the_tiers_have_their_sizes(algorithm: str, cache: Path) -> None:
    corpus = build_corpus(_interface(algorithm), MIN_BYTES, 1, False, cache)
    counts = [len(corpus.select(tier)) for tier in ("smoke", "boundary", "full")]
    assert 15 <= counts[0] <= 45
    assert 180 <= counts[1] <= 350
    assert 3000 <= counts[2] <= 4500
    assert counts[2] == len(corpus.cases)
    values = [value for case in corpus.cases for value in case.inputs.values() if isinstance(value, bytes)]
    assert sum(map(len, values)) < 12_000_000


def test_smaller_tiers_are_in_larger_ones_in_the_same_order(chacha20: Corpus) -> None:
    smoke, boundary = chacha20.select("smoke"), chacha20.select("boundary")
    assert [case for case in boundary if case.tier == "smoke"] == list(smoke)
    assert [case for case in chacha20.cases if case.tier != "full"] == list(boundary)


def test_names_are_unique_and_as_promised(chacha20: Corpus) -> None:
    names = {case.name for case in chacha20.cases}
    assert len(names) == len(chacha20.cases)
    promised = {
        "rfc8439-2.4.2",
        "wycheproof-12",
        "len-0193",
        "ctr-fffffffe-b05",
        "rand-0007",
        "zero-word-l3-0512",
    }
    assert promised <= names
    assert all(case.algorithm == "chacha20" for case in chacha20.cases)


def test_every_case_runs_or_says_why_not(chacha20: Corpus) -> None:
    operation = _interface().operations["xor"]
    for case in chacha20.cases:
        assert (case.expected is None) == bool(case.skip)
        assert case.skip or not input_problem(operation, case.inputs)


def test_a_cached_corpus_is_the_same(chacha20: Corpus, cache: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in cache.glob("*.msgpack")}
    assert build_corpus(_interface(), reversed(MIN_BYTES), 1, False, cache) == chacha20
    assert {path: path.stat().st_mtime_ns for path in cache.glob("*.msgpack")} == before, "it was computed again"


def test_the_corpus_is_deterministic(chacha20: Corpus, tmp_path: Path) -> None:
    assert build_corpus(_interface(), MIN_BYTES, 1, False, tmp_path).digest == chacha20.digest


def test_what_the_cases_depend_on_changes_the_key(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "vectors", tmp_path / "vectors")
    shutil.copytree(ROOT / "kernels/chacha20", tmp_path / "kernels/chacha20")
    interface = load_interface(tmp_path / "kernels/chacha20/chacha20.toml")
    vectors = tmp_path / "vectors"

    def key(seed: int = 1, exhaustive: bool = False, limits: tuple[int, ...] = MIN_BYTES) -> str:
        return store.content_key(interface, vectors, limits, seed, exhaustive)

    keys = [key(), key(seed=2), key(exhaustive=True), key(limits=(0,))]
    for path in (interface.path, vectors / "chacha20.toml", vectors / "sources.toml"):
        path.write_text(path.read_text() + "\n")
        keys.append(key())
    assert len(set(keys)) == len(keys)
    (vectors / "poly1305.toml").write_text("")
    assert key() == keys[-1]


def test_a_corpus_is_computed_once(few: list[int], tmp_path: Path) -> None:
    first = build_corpus(_interface(), MIN_BYTES, 1, False, tmp_path)
    assert build_corpus(_interface(), MIN_BYTES, 1, False, tmp_path) == first
    assert len(few) == 1
    assert not list(tmp_path.glob("*.tmp"))


@pytest.mark.parametrize("damage", ["empty", "truncated", "one bit", "other form", "appended"])
def test_a_damaged_cache_file_is_rebuilt(few: list[int], tmp_path: Path, damage: str) -> None:
    first = build_corpus(_interface(), MIN_BYTES, 1, False, tmp_path)
    (path,) = tmp_path.glob("*.msgpack")
    data = path.read_bytes()
    changed = {
        "empty": b"",
        "truncated": data[:-3],
        "one bit": data[:-1] + bytes([data[-1] ^ 1]),
        "other form": b"x" + data[1:],
        "appended": data + b"\x00",
    }
    path.write_bytes(changed[damage])
    assert build_corpus(_interface(), MIN_BYTES, 1, False, tmp_path) == first
    assert len(few) == 2
    assert path.read_bytes() == data


def test_a_file_of_another_shape_with_a_right_digest_counts_as_absent(tmp_path: Path) -> None:
    path = tmp_path / "cases.msgpack"
    store.save(path, ({"name": "a"},))  # type: ignore[arg-type]  # another shape on purpose
    assert store.load(path, "chacha20") is None


def test_parallel_processes_compute_one_corpus(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from matrix.cases import corpus\n"
        "from matrix.model.interface import load_interface\n"
        "cache = Path(sys.argv[2])\n"
        "def compute(*_):\n"
        "    open(cache / 'computed', 'a').write('x')\n"
        "    time.sleep(0.2)\n"
        "    return ()\n"
        "corpus.compute_cases = compute\n"
        "corpus.build_corpus(load_interface(Path(sys.argv[1])), [0], 1, False, cache)\n"
    )
    command = [sys.executable, "-c", script, str(_interface().path), str(tmp_path)]
    processes = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert (tmp_path / "computed").read_text() == "x"


@pytest.mark.parametrize(
    ("names", "words"),
    [(["a", "b", "a"], "used twice"), (["a/b"], "not made of"), ([""], "not made of"), (["a"], "")],
)
def test_names_must_be_unique_and_safe(names: list[str], words: str) -> None:
    assert words in name_problem(names)
    assert bool(words) == bool(name_problem(names))


def test_duplicate_names_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(corpus_module, "own_edges", lambda _: [_draft(name="rfc8439-2.4.2")])
    monkeypatch.setattr(corpus_module, "generic_edges", lambda *_: [])
    with pytest.raises(VectorError, match=r"'rfc8439-2\.4\.2' is used twice"):
        build_corpus(_interface(), MIN_BYTES, 1, False, tmp_path)


def test_an_algorithm_without_own_edges_has_none(tmp_path: Path) -> None:
    path = tmp_path / "unheard.toml"
    shutil.copy(_interface().path, path)
    assert not list(own_edges(load_interface(path)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"operation": "seal"}, "unknown operation"),
        ({"inputs": {"key": bytes(32)}}, "the operation takes"),
        ({"inputs": {"key": bytes(31), "nonce": bytes(12), "counter": 0, "data": b""}}, "key has 31 bytes"),
        ({"inputs": {"key": bytes(32), "nonce": bytes(12), "counter": -1, "data": b""}}, "32-bit word"),
        ({"inputs": {"key": bytes(32), "nonce": bytes(12), "counter": 0, "data": 0}}, "data must be bytes"),
        ({"published": {"out": bytes(4)}}, "contradicts the oracle"),
        ({"published": "refuse"}, "published refusal; oracle out = 76b8e0ad"),
    ],
)
def test_a_draft_that_cannot_be_right_is_refused(changes: dict[str, object], words: str) -> None:
    interface = _interface()
    with pytest.raises(VectorError, match=words):
        answered(_draft(**changes), interface, {"xor": models(interface, "xor")})


def test_models_that_disagree_are_an_error() -> None:
    def other(**_: bytes | int) -> dict[str, bytes]:
        return {"out": bytes(4)}

    interface = _interface()
    with pytest.raises(OracleError, match="two oracles disagree about chacha20 a"):
        answered(_draft(), interface, {"xor": (*models(interface, "xor"), other)})
    with pytest.raises(OracleError, match="does not fit the interface"):
        answered(_draft(inputs={**_draft().inputs, "data": b"x"}), interface, {"xor": (other,)})


def test_an_oracle_that_raises_is_named_with_its_case_and_place() -> None:
    """Alike one that answers with what is no answer at all."""
    interface = _interface()
    for body, why in (
        ("return 1 // 0", "ZeroDivisionError: "),
        ("return 5", "TypeError: "),
        ("raise OSError('gone')", "OSError: gone"),
    ):
        module = ModuleType("bad")
        exec(compile(f"def chacha20_xor(key, nonce, counter, data):\n    {body}\n", "bad.py", "exec"), vars(module))
        with pytest.raises(OracleError) as caught:
            answered(_draft(), interface, {"xor": models(interface, "xor", (module,))})
        assert caught.value.what == "the oracle of chacha20 xor fails"
        assert caught.value.where.startswith("case a; ")
        assert why in caught.value.why
        assert "bad.py, line 2" in caught.value.where or body == "return 5"


def test_edges_that_cannot_be_made_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it is only the last of them that raises."""

    def edges(_interface: Interface) -> Iterator[Draft]:
        yield _draft()
        raise KeyError("nonce")

    monkeypatch.setattr(chacha20_edges, "edges", edges)
    with pytest.raises(OracleError) as caught:
        compute_cases(_interface(), (), 1, False, ROOT / "vectors")
    assert caught.value.what == "the edge cases of chacha20 cannot be made"
    assert "test_cases_corpus.py, line " in caught.value.where
    assert caught.value.why == "KeyError: 'nonce'"
