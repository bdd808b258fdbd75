"""Interface files: those of the repository load; every kind of mistake is one error that names file, key and reason."""

from typing import TYPE_CHECKING

import pytest

from matrix.errors import TableError
from matrix.model.catalog import Catalog
from matrix.model.interface import Length, Pointer, Size, Step, Word, load_interface

if TYPE_CHECKING:
    from tests.unit.conftest import Tree

CIPHER = "kernels/cipher/cipher.toml"
HASH = "kernels/hash/hash.toml"


def test_the_repositorys_interfaces_load(catalog: Catalog) -> None:
    interfaces = catalog.provider("kernels").interfaces
    assert {"chacha20", "poly1305"} <= set(interfaces)
    for name, interface in interfaces.items():
        assert interface.algorithm == name == interface.path.parent.name
        assert interface.operations, name


def test_a_stateless_call_reads_as_written(small: Catalog) -> None:
    interface = small.provider("kernels").interfaces["cipher"]
    call, operation = interface.calls["xor"], interface.operations["xor"]
    assert call.args == (
        Pointer("out", "out"),
        Pointer("data", "in"),
        Length("data"),
        Pointer("key", "in"),
        Word("counter", "data", 64),
    )
    assert call.length_role == "data"
    assert operation.inputs == {"key": Size(choices=(32,)), "counter": Size(word=True), "data": Size(minimum=0)}
    assert operation.outputs == {"out": Size(like="data")}
    assert operation.steps == (Step("xor", True),)
    assert (operation.split_role, operation.split_unit) == ("data", 64)
    assert operation.alias == (("out", "data"),)
    assert operation.secret == ("key", "data")
    assert not operation.refuses


def test_a_streaming_operation_reads_as_written(small: Catalog) -> None:
    interface = small.provider("kernels").interfaces["hash"]
    assert interface.states == ("ctx",)
    assert interface.operations["mac"].steps == (Step("init", False), Step("update", True), Step("final", False))
    assert [interface.calls[name].length_role for name in ("init", "update", "final")] == ["", "data", ""]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16", Size(choices=(16,))),
        ("16|24|32", Size(choices=(16, 24, 32))),
        ("0..", Size(minimum=0)),
        ("1..64", Size(minimum=1, maximum=64)),
        ("u32", Size(word=True)),
    ],
)
def test_sizes(tree: "Tree", text: str, size: Size) -> None:
    args = "counter:u32" if size.word else "counter:in"
    tree.change(CIPHER, 'counter = "u32"', f'counter = "{text}"')
    path = tree.change(CIPHER, "counter:u32+data/64", args)
    assert load_interface(path).operations["xor"].inputs["counter"] == size


def test_an_output_may_be_longer_than_its_input(tree: "Tree") -> None:
    path = tree.change(CIPHER, 'len(data)" }', 'len(data)+16" }')
    assert load_interface(path).operations["xor"].outputs["out"] == Size(like="data", extra=16)


def test_an_operation_that_may_refuse(tree: "Tree") -> None:
    path = tree.change(CIPHER, "steps ", 'returns = "ok|reject"\non_reject = "out all zero"\nsteps ')
    operation = load_interface(path).operations["xor"]
    assert operation.refuses
    assert operation.on_reject == "out all zero"


@pytest.mark.parametrize(
    ("file", "old", "new", "key", "reason"),
    [
        (CIPHER, "[call.xor]", "[call.xor", CIPHER, "line 2"),
        (CIPHER, "[call.xor]", "[cal.xor]", CIPHER, "cal"),
        (CIPHER, "[call.xor]", '[call."x or"]', "op.xor.steps", "xor"),
        (CIPHER, "[op.xor]", '[op."x.or"]', "op", "x.or"),
        (CIPHER, "[op.xor]", "[op.Xor]", "op", "Xor"),
        (HASH, "[state.ctx]", '[state."c-x"]\n[state.ctx]', "state", "c-x"),
        (HASH, "[state.ctx]", "[state.ctx]\nbytes = 64", "state[...]", "bytes"),
        (CIPHER, "args = ", "arg = ", "call[...]", "arg"),
        (CIPHER, '"out:out"', '"out:outin"', "call.xor.args", "out:outin"),
        (CIPHER, '"out:out"', '"out"', "call.xor.args", "'out'"),
        (CIPHER, '"key:in"', '"key:in", "key:in"', "call.xor.args", "twice"),
        (CIPHER, '"key:in"', '"key:in", "len(data)"', "call.xor.args", "twice"),
        (CIPHER, '"key:in"', '"key:in", "a:in", "b:in", "c:in", "d:in"', "call.xor.args", "9 arguments"),
        (CIPHER, '"key:in"', '"kee:in"', "op.xor", "kee"),
        (CIPHER, '"key:in"', '"key:out"', "op.xor", "writes 'key'"),
        (CIPHER, '"key:in"', '"key:inout"', "op.xor", "writes 'key'"),
        (CIPHER, '"key:in"', '"key:u32"', "op.xor", "no input of that kind"),
        (CIPHER, '"key:in"', '"len(key)"', "op.xor", "takes the length of 'key'"),
        (CIPHER, "counter:u32+data/64", "counter:in", "op.xor", "passed as bytes"),
        (CIPHER, "counter:u32+data/64", "len(counter)", "op.xor", "passed as bytes"),
        (CIPHER, "counter:u32+data/64", "counter:u32+date/64", "op.xor", "date"),
        (CIPHER, "counter:u32+data/64", "counter:u32+counter/64", "op.xor", "no input of bytes"),
        (CIPHER, "counter:u32+data/64", "counter:u32+data/0", "op.xor", "0 bytes"),
        (CIPHER, 'key = "32"', 'key = "many"', "op.xor.in.key", "many"),
        (CIPHER, 'key = "32"', 'key = "32..16"', "op.xor.in.key", "32..16 is empty"),
        (CIPHER, 'key = "32"', 'key = "len(key)"', "op.xor.in.key", "'key' is no other input"),
        (CIPHER, 'out = "len(data)"', 'out = "len(date)"', "op.xor.out.out", "date"),
        (CIPHER, 'out = "len(data)"', 'out = "len(counter)"', "op.xor.out.out", "counter"),
        (CIPHER, 'out = "len(data)"', 'out = "0.."', "op.xor.out.out", "fixed size"),
        (CIPHER, 'out = "len(data)"', 'out = "16|32"', "op.xor.out.out", "fixed size"),
        (CIPHER, 'out = "len(data)"', 'out = "u32"', "op.xor.out.out", "fixed size"),
        (CIPHER, 'out = "len(data)"', 'out = "len(data)", tag = "16"', "op.xor.out.tag", "writes it"),
        (HASH, 'tag = "16"', 'tag = "16", ctx = "64"', "op.mac.out.ctx", "state"),
        (CIPHER, '"xor*"', '"xoor*"', "op.xor.steps", "xoor"),
        (CIPHER, '["xor*"]', "[]", "op.xor.steps", "no call"),
        (CIPHER, '["xor*"]', '"xor*"', "op[...].steps", "array"),
        (HASH, '"init", "update*"', '"update*"', "op.mac.steps", "update uses ctx"),
        (HASH, '"init", "update*"', '"update*", "init"', "op.mac.steps", "update uses ctx"),
        (CIPHER, 'data/64"\nalias', 'data"\nalias', "op.xor.split", "role/unit"),
        (CIPHER, 'data/64"\nalias', 'data/0"\nalias', "op.xor.split", "role/unit"),
        (CIPHER, 'data/64"\nalias', 'date/64"\nalias', "op.xor.split", "date"),
        (CIPHER, 'data/64"\nalias', 'counter/64"\nalias', "op.xor.split", "no pieces"),
        (CIPHER, '["xor*"]', '["xor"]', "op.xor.split", "ends with *"),
        (CIPHER, "out=data", "data=out", "op.xor.alias", "data=out"),
        (CIPHER, "out=data", "out", "op.xor.alias", "'out'"),
        (CIPHER, 'secret = ["key"', 'secret = ["kee"', "op.xor.secret", "kee"),
        (HASH, '"tag:out"]', '"tag:out"]\nends = ["tag"]', "call.final.ends", "'tag' is no state"),
        (HASH, '"ctx:out", "key:in"]', '"ctx:out", "key:in"]\nends = ["cxt"]', "call.init.ends", "'cxt' is no state"),
        (CIPHER, "split ", 'returns = "ok"\nsplit ', "op[...].returns", "ok"),
        (CIPHER, "split ", 'on_reject = "out all zero"\nsplit ', "op.xor.on_reject", "returns"),
        (CIPHER, "split ", 'returns = "ok|reject"\non_reject = "oot all zero"\nsplit ', "op.xor.on_reject", "oot"),
        (CIPHER, "split ", 'returns = "ok|reject"\non_reject = "out zero"\nsplit ', "op.xor.on_reject", "out zero"),
    ],
)
def test_a_mistake_is_one_clear_error(tree: "Tree", file: str, old: str, new: str, key: str, reason: str) -> None:
    path = tree.change(file, old, new)
    with pytest.raises(TableError) as caught:
        load_interface(path)
    assert str(path) in caught.value.where
    assert key in caught.value.where
    assert reason in caught.value.why


def test_a_name_that_no_symbol_can_hold_is_refused(tree: "Tree") -> None:
    tree.change(CIPHER, "[call.xor]", '[call."x-r"]')
    path = tree.change(CIPHER, '["xor*"]', '["x-r*"]')
    with pytest.raises(TableError, match="x-r"):
        load_interface(path)


def test_an_algorithm_folder_without_interface_is_refused(tree: "Tree") -> None:
    (tree.root / CIPHER).rename(tree.root / "kernels/cipher/sipher.toml")
    with pytest.raises(TableError, match=r"cipher\.toml"):
        tree.load()


def test_an_algorithm_with_a_name_that_no_symbol_can_hold_is_refused(tree: "Tree") -> None:
    path = tree.put("kernels/ci-pher/ci-pher.toml", (tree.root / CIPHER).read_text())
    with pytest.raises(TableError) as caught:
        load_interface(path)
    assert "ci-pher" in caught.value.why


def test_outputs_may_be_secret_and_calls_may_end_a_state(tree: "Tree") -> None:
    secret = load_interface(tree.change(CIPHER, '"key", "data"]', '"key", "data", "out"]')).operations["xor"].secret
    assert secret == ("key", "data", "out")
    calls = load_interface(tree.change(HASH, '"tag:out"]', '"tag:out"]\nends = ["ctx"]')).calls
    assert (calls["final"].ends, calls["init"].ends) == (("ctx",), ())
