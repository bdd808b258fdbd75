"""Kernel headers: those of all files load; every kind of wrong header is one error that names file, key and reason."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from matrix.errors import HeaderError
from matrix.model.capability import ARCHITECTURES
from matrix.model.catalog import NOT_ALGORITHMS, Catalog
from matrix.model.kernel import State, Variant, read_variant

if TYPE_CHECKING:
    from tests.unit.conftest import Tree


def _read(tree: "Tree", small: Catalog, path: Path) -> Variant:
    interface = small.provider("kernels").interfaces[path.parent.name]
    return read_variant(path, interface, small.capabilities)


def test_every_kernel_file_of_the_repository_describes_itself(catalog: Catalog) -> None:
    provider = catalog.provider("kernels")
    files = {
        path
        for folder in provider.root.iterdir()
        if folder.is_dir() and folder.name not in NOT_ALGORITHMS
        for path in folder.iterdir()
        if path.suffix in (".c", ".S")
    }
    assert {variant.path for variant in provider.variants} == files
    for variant in provider.variants:
        assert variant.cites, f"{variant.path.name} cites nothing"


def test_every_algorithm_has_a_portable_variant_of_every_call_on_every_architecture(catalog: Catalog) -> None:
    provider = catalog.provider("kernels")
    for name, interface in provider.interfaces.items():
        for arch in ARCHITECTURES:
            portable = [v for v in provider.variants if v.algorithm == name and arch in v.arch and v.portable]
            assert {call for variant in portable for call in variant.provides} == set(interface.calls), (name, arch)


def test_a_line_in_a_message_is_one_of_the_file(tree: "Tree", small: Catalog) -> None:
    path = tree.kernel("hash", "fast", "x86_64")
    text = path.read_text()
    broken = text.replace("variant", "variant = = ", 1)
    path.write_text(broken)
    number = 1 + broken[: broken.index(" = = ")].count("\n")
    with pytest.raises(HeaderError) as caught:
        _read(tree, small, path)
    assert f"at line {number}," in caught.value.why
    assert number > 1


def test_a_header_reads_as_written(tree: "Tree", small: Catalog) -> None:
    path = tree.kernel(
        "hash",
        "fast",
        "x86_64",
        provides=["init", "update"],
        requires=["avx2", "adx"],
        priority=7,
        min_bytes={"update": 64},
        state={"ctx": {"bytes": 96, "align": 32}},
        constant_time=False,
        cites=["paper"],
        symbols={"init": "other_name"},
    )
    variant = _read(tree, small, path)
    assert (variant.algorithm, variant.name, variant.arch) == ("hash", "fast", ("x86_64",))
    assert variant.provides == ("init", "update")
    assert variant.requires == ("avx2", "adx")
    assert variant.min_bytes == {"update": 64}
    assert variant.state == {"ctx": State(96, 32, "fast")}, "a state without a layout has one of its own"
    assert variant.symbol("init") == "other_name"
    assert variant.symbol("update") == "hash_update_fast"
    assert variant.assembly
    assert not variant.portable
    assert not variant.constant_time


def test_portable_is_c_that_requires_nothing(tree: "Tree", small: Catalog) -> None:
    assert _read(tree, small, tree.kernel("cipher", "c")).portable
    needy = tree.put(
        "kernels/cipher/cipher_simd.c",
        '/*toml\nalgorithm = "cipher"\nvariant = "simd"\narch = "x86_64"\nprovides = ["xor"]\npriority = 3\n'
        'requires = ["ssse3"]\n*/\n',
    )
    assert not _read(tree, small, needy).portable


def test_any_means_every_architecture(tree: "Tree", small: Catalog) -> None:
    assert _read(tree, small, tree.kernel("cipher", "c")).arch == ARCHITECTURES


@pytest.mark.parametrize(
    ("header", "key", "reason"),
    [
        ({"algorithm": "hash"}, "algorithm", "'hash' stands in the folder of 'cipher'"),
        ({"algorithm": 3}, "algorithm", "str"),
        ({"algorithm": None}, "", "algorithm"),
        ({"variant": "wide"}, "variant", "cipher_wide"),
        ({"variant": "x_y"}, "variant", "x_y"),
        ({"variant": None}, "", "variant"),
        ({"arch": "arm64"}, "arch", "arm64"),
        ({"arch": ["any"]}, "arch", "any"),
        ({"arch": []}, "arch", "no architecture"),
        ({"arch": ["x86_64", "x86_64"]}, "arch", "twice"),
        ({"arch": ["x86_64", "arm32"], "requires": ["avx2"]}, "requires", "'avx2' is no capability of arm32"),
        ({"provides": []}, "provides", "no call"),
        ({"provides": ["xor", "xor"]}, "provides", "twice"),
        ({"provides": ["xo"]}, "provides", "'xo' is no call of cipher"),
        ({"provides": None}, "", "provides"),
        ({"requires": ["sse9"]}, "requires", "sse9"),
        ({"requires": ["avx2", "avx2"]}, "requires", "twice"),
        ({"requires": "avx2"}, "requires", "array"),
        ({"priority": None}, "", "priority"),
        ({"priority": "high"}, "priority", "int"),
        ({"min_bytes": {"xo": 64}}, "min_bytes", "xo"),
        ({"min_bytes": {"xor": -1}}, "min_bytes", "-1"),
        ({"min_bytes": 64}, "min_bytes", "object"),
        ({"symbols": {"xo": "name"}}, "symbols", "xo"),
        ({"symbols": {"xor": "a b"}}, "symbols", "a b"),
        ({"symbols": {"xor": "a$b"}}, "symbols", "a$b"),
        ({"calls": ["get time"]}, "calls", "get time"),
        ({"calls": ["malloc", "malloc"]}, "calls", "twice"),
        ({"calls": "malloc"}, "calls", "array"),
        ({"state": {"ctx": {"bytes": 8}}}, "state", "ctx"),
        ({"need": ["avx2"]}, "", "need"),
        ({"constant_time": 1}, "constant_time", "bool"),
    ],
)
def test_a_wrong_header_is_one_clear_error(
    tree: "Tree", small: Catalog, header: dict[str, object], key: str, reason: str
) -> None:
    path = tree.kernel("cipher", "test", "x86_64", **header)
    _assert_refused(tree, small, path, key, reason)


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"state": {}}, "'ctx' is used by a call but has no size"),
        ({"state": {"ctx": {"bytes": 0}}}, "1 to 65536 bytes"),
        ({"state": {"ctx": {"bytes": 1 << 44}}}, "1 to 65536 bytes"),
        ({"state": {"ctx": {"bytes": 64, "align": 24}}}, "power of two"),
        ({"state": {"ctx": {"bytes": 128, "align": 128}}}, "up to 64"),
        ({"state": {"ctx": {"bytes": 60, "align": 8}}}, "multiple of align"),
        ({"state": {"ctx": {"bytes": 64}, "other": {"bytes": 64}}}, "'other' is no state"),
        ({"state": {"ctx": {"size": 64}}}, "size"),
        ({"symbols": {"init": "same", "final": "same"}}, "'same' would be two calls"),
        ({"min_bytes": {"init": 1}}, "init = 1"),
        ({"provides": ["init", "final"], "min_bytes": {"update": 1}}, "update"),
    ],
)
def test_a_wrong_state_or_bound_is_one_clear_error(
    tree: "Tree", small: Catalog, header: dict[str, object], reason: str
) -> None:
    path = tree.kernel("hash", "test", "x86_64", **header)
    key = next((name for name in ("min_bytes", "symbols") if name in header), "state")
    _assert_refused(tree, small, path, key, reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("int x;\n", "0 blocks"),
        ("/*toml\nalgorithm = \n*/\n", "line 2"),
        ("/*toml\n*/\n/*toml\n*/\n", "2 blocks"),
        ("/*toml\nalgorithm = 'cipher'\n", "0 blocks"),
        ("/*toml\n*/\n", "algorithm"),
    ],
)
def test_a_file_without_one_readable_block_is_refused(tree: "Tree", small: Catalog, text: str, reason: str) -> None:
    _assert_refused(tree, small, tree.put("kernels/cipher/cipher_test.c", text), "", reason)


def test_a_file_that_is_no_text_is_refused(tree: "Tree", small: Catalog) -> None:
    path = tree.root / "kernels/cipher/cipher_test.c"
    path.write_bytes(b"\xff\xfe\x00")
    _assert_refused(tree, small, path, "", "not UTF-8")


def _assert_refused(tree: "Tree", small: Catalog, path: Path, key: str, reason: str) -> None:
    with pytest.raises(HeaderError) as caught:
        _read(tree, small, path)
    assert str(path) in caught.value.where
    assert key == "" or f"key {key}" in caught.value.where
    assert reason in caught.value.why
    assert caught.value.step


def test_two_files_may_not_be_one_variant_on_one_architecture(tree: "Tree") -> None:
    tree.kernel("cipher", "ssse3", priority=1)
    with pytest.raises(HeaderError) as caught:
        tree.load()
    assert "same variant" in caught.value.what
    assert "key variant" in caught.value.where
    assert "'ssse3' on x86_64" in caught.value.why


def test_two_variants_may_not_have_one_priority_on_one_architecture(tree: "Tree") -> None:
    tree.kernel("cipher", "other", "x86_64", priority=30)
    with pytest.raises(HeaderError) as caught:
        tree.load()
    assert "key priority" in caught.value.where
    assert "priority 30 on x86_64" in caught.value.why


def test_one_name_and_one_priority_are_fine_on_different_architectures(tree: "Tree") -> None:
    tree.kernel("cipher", "wide", "arm32", priority=30)
    tree.kernel("hash", "avx2", "arm32", priority=30)
    names = [variant.path.name for variant in tree.load().provider("kernels").variants]
    assert "cipher_wide_arm32.S" in names
    assert "hash_avx2_arm32.S" in names


@pytest.mark.parametrize(
    ("composes", "what", "why"),
    [
        (["hush"], "unknown part", "'hush'"),
        (["cipher"], "made of itself", "cipher"),
        (["hash"], "made of itself", "hash"),
    ],
)
def test_a_composition_is_made_of_other_algorithms(tree: "Tree", composes: list[str], what: str, why: str) -> None:
    tree.kernel("hash", "composed", priority=1, composes=["cipher"])
    assert tree.load().provider("kernels").variants
    path = tree.kernel("cipher", "composed", priority=1, composes=composes)
    with pytest.raises(HeaderError) as caught:
        tree.load()
    assert what in caught.value.what
    assert "key composes" in caught.value.where
    assert composes == ["hash"] or str(path) in caught.value.where
    assert why in caught.value.why
