"""The generated sources: they compile without a warning, and the dispatcher in C takes what the model takes.

Many random sets of kernel headers become one program for this machine; it is compiled once and asked over a pipe.
"""

import random
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from matrix.build.generate import NO_FUNCTION, dispatcher_source, table_source, thunks_source
from matrix.build.prototypes import (
    PINNED_BYTES,
    Function,
    dispatch_header,
    dispatch_state,
    function_table,
    prototype,
    variants_header,
)
from matrix.model.capability import CapabilityTable
from matrix.model.catalog import Catalog
from matrix.model.choice import chosen_for, length_classes, starting_calls, state_use
from matrix.model.interface import Interface, Operation, load_interface
from matrix.model.kernel import State, Variant

SETS = 36
COMPILER = shutil.which("gcc") or shutil.which("cc") or ""
WARNINGS = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")

STREAM = """
[call.init]
args = ["ctx:out", "key:in"]
[call.update]
args = ["ctx:inout", "data:in", "len(data)"]
[call.final]
args = ["ctx:inout", "tag:out"]
[state.ctx]
[op.mac]
in    = { key = "32", data = "0.." }
out   = { tag = "16" }
steps = ["init", "update*", "final"]
"""
SINGLE = """
[call.work]
args = ["out:out", "data:in", "len(data)", "tag:in", "count:u32"]
[op.work]
in      = { data = "0..", tag = "16", count = "u32" }
out     = { out = "len(data)" }
steps   = ["work"]
returns = "ok|reject"
"""
KEYED = """
[call.forward]
args = ["key:in", "ks:out"]
[call.backward]
args = ["key:in", "ks:out"]
[call.work]
args = ["out:out", "data:in", "len(data)", "ks:in"]
[state.ks]
[op.encrypt]
in    = { key = "16", data = "0.." }
out   = { out = "len(data)" }
steps = ["forward", "work*"]
[op.decrypt]
in    = { key = "16", data = "0.." }
out   = { out = "len(data)" }
steps = ["backward", "work*"]
"""
SHAPES = (STREAM, SINGLE, KEYED)

MAIN = r"""
#include <stdio.h>
#include <string.h>
#include "glue.h"
#include "worker.h"

uint64_t worker_mask, worker_detected;
const void *seen_state;
static uint8_t state[1 << 16] __attribute__((aligned(64)));

int main(void)
{
    unsigned long long a, b, length;
    unsigned f, op;
    char verb;

    for (unsigned i = 0; i < worker_capability_count; i++) {
        const struct worker_capability *row = &worker_capabilities[i];
        printf("c %s %llu %u %u %u\n", row->name, (unsigned long long)row->implies, row->word, row->bit, row->xcr0);
    }
    for (unsigned i = 0; i < worker_function_count; i++)
        printf("f %s %u %d\n", worker_functions[i].name, worker_functions[i].kind, worker_functions[i].thunk != 0);
    printf("end\n");
    while (scanf(" %c", &verb) == 1) {
        if (verb == 'c' && scanf("%u %llu %llu", &f, &length, &a) == 3) {
            printf("%u\n", worker_choose(f, length, a));
        } else if (verb == 'o' && scanf("%u %llu %llu %llu", &op, &length, &a, &b) == 4) {
            int value;
            memset(worker_entered, 0, 4 * worker_function_count);
            seen_state = NULL;
            value = operations[op](state, (size_t)length, a, b);
            printf("%d %d", value, seen_state ? (int)((const uint8_t *)seen_state - state) : -1);
            for (unsigned i = 0; i < worker_function_count; i++)
                if (worker_entered[i])
                    printf(" %u*%u", i, worker_entered[i]);
            printf("\n");
        } else {
            return 1;
        }
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Query:
    """One operation of one set, as the program knows it by number."""

    number: int
    interface: Interface
    operation: Operation
    variants: tuple[Variant, ...]


@dataclass
class Program:
    """The compiled sets, what the program said of its tables, and a way to ask it."""

    path: Path
    table: CapabilityTable
    functions: tuple[Function, ...]
    queries: list[Query]

    def ask(self, lines: list[str]) -> tuple[list[str], list[str]]:
        """(lines about the tables, one answer per line of ``lines``)."""
        done = subprocess.run(
            [self.path], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=60
        )
        said = done.stdout.splitlines()
        end = said.index("end")
        assert len(said) - end - 1 == len(lines)
        return said[:end], said[end + 1 :]

    def index(self, name: str) -> int:
        """The function's number."""
        return next(f.index for f in self.functions if f.name == name)


def _variants(interface: Interface, draw: random.Random, table: CapabilityTable) -> tuple[Variant, ...]:
    """A few variants with random needs, priorities, bounds, calls and layouts."""
    found = []
    priorities = draw.sample(range(20), draw.randint(1, 5))
    for number, priority in enumerate(priorities):
        calls = [call for call in interface.calls if draw.random() < 0.8] or list(interface.calls)[:1]
        requires = draw.sample(table.names, draw.choice((0, 0, 1, 2)))
        bounded = [call for call in calls if interface.calls[call].length_role and draw.random() < 0.5]
        state = {n: State(64 * draw.randint(1, 3), 8, draw.choice("ab")) for n in interface.states}
        found.append(
            Variant(
                interface.algorithm,
                f"v{number}",
                ("x86_64",),
                Path(f"{interface.algorithm}_v{number}.c"),
                tuple(calls),
                tuple(requires),
                priority,
                {call: draw.choice((1, 16, 65, 1 << 33)) for call in bounded},
                state,
                True,
                (),
                {calls[0]: f"{interface.algorithm}_other_name_{number}"} if draw.random() < 0.2 else {},
            )
        )
    return tuple(sorted(found, key=lambda v: v.priority))


def _stub(function: Function) -> str:
    """A kernel that does nothing but remember where its state lies; one that may refuse returns its own index."""
    head = prototype(function.interface, function.call, function.symbol)
    names = head[head.index("(") + 1 : -1].replace("*", " ").split(",")
    body = [f"(void){part.split()[-1]};" for part in names]
    use = state_use(function.call, function.interface)
    body += [f"seen_state = {use.state};"] if use else []
    body += [f"return {function.index};"] if head.startswith("int ") else []
    return f"{head} {{ {' '.join(body)} }}"


def _glue(query: Query, available: set[str]) -> str:
    """A C function that does the operation: the mask is ``a`` when it starts and ``b`` afterwards."""
    lines = [f"static int operation_{query.number}(uint8_t *state, size_t length, uint64_t a, uint64_t b)", "{"]
    lines += [
        "    static uint8_t bytes[64]; int value = 0;",
        "    (void)state; (void)length; (void)b; (void)bytes; (void)value; worker_mask = a;",
    ]
    for position, step in enumerate(query.operation.steps):
        call = query.interface.calls[step.call]
        words = []
        for arg in call.args:
            kind = type(arg).__name__
            is_state = kind == "Pointer" and arg.role in query.interface.states
            words.append("state" if is_state else {"Pointer": "bytes", "Length": "length", "Word": "7"}[kind])
        name = f"{query.interface.algorithm}_{step.call}"
        if name not in available:
            lines.append("    return -1;")
            break
        value = "value = " if query.operation.refuses else ""
        lines.append(f"    {value}{name}({', '.join(words)});")
        lines += ["    worker_mask = b;"] if position == 0 else []
    else:
        lines.append("    return value;")
    return "\n".join([*lines, "}"])


@pytest.fixture(scope="module")
def program(small: Catalog, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Program:
    if not COMPILER:
        pytest.skip("no C compiler on this machine")
    folder = tmp_path_factory.mktemp("generated")
    table = small.capabilities["x86_64"]
    draw = random.Random(20)
    interfaces: list[Interface] = []
    variants: list[Variant] = []
    queries: list[Query] = []
    for number in range(SETS):
        path = folder / f"set{number}.toml"
        path.write_text(SHAPES[number % len(SHAPES)])
        interface = load_interface(path)
        own = _variants(interface, draw, table)
        interfaces.append(interface)
        variants += own
        for operation in interface.operations.values():
            queries.append(Query(len(queries), interface, operation, own))
    functions = function_table(interfaces, tuple(variants))
    available = {function.symbol for function in functions if not function.variant}
    stubs = ["extern const void *seen_state;", *(_stub(f) for f in functions if f.variant)]
    glue = ["#pragma once", '#include "worker.h"', '#include "dispatch.h"', *(_glue(q, available) for q in queries)]
    glue.append("static int (*const operations[])(uint8_t *, size_t, uint64_t, uint64_t) = {")
    glue += [*(f"    operation_{q.number}," for q in queries), "};"]
    files = {
        "table.c": table_source("x86_64", table, functions),
        "dispatch.c": dispatcher_source(table, functions),
        "thunks.S": thunks_source(functions),
        "dispatch.h": dispatch_header(interfaces, tuple(variants)),
        "stubs.c": "\n".join([*(f'#include "{i.algorithm}.h"' for i in interfaces), *stubs, ""]),
        "glue.h": "\n".join([*glue, ""]),
        "main.c": MAIN,
        **{f"{i.algorithm}.h": variants_header(i, variants) for i in interfaces},
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    sources = ["table.c", "dispatch.c", "thunks.S", "stubs.c", "main.c"]
    include = ["-I", str(catalog.worker_root), "-I", "."]
    command = [COMPILER, *WARNINGS, "-fno-pie", "-no-pie", *include, *sources, "-o", "program"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[:4000]
    return Program(folder / "program", table, functions, queries)


def _masks(table: CapabilityTable) -> list[frozenset[str]]:
    return list({table.closure(s) for size in range(len(table.names) + 1) for s in combinations(table.names, size)})


def _cases(program: Program) -> Iterator[tuple[Query, frozenset[str], int]]:
    for query in program.queries:
        for mask in _masks(program.table):
            for length in length_classes(query.operation, query.variants):
                yield query, mask, length


def test_the_tables_say_what_the_model_says(program: Program) -> None:
    said, _ = program.ask([])
    words = {"1.ecx": 0, "7.ebx": 2}
    for row, line in zip(program.table.rows, said, strict=False):
        implied = program.table.bits(program.table.closure([row.name]) - {row.name})
        assert line == f"c {row.name} {implied} {words[row.detect.word]} {row.detect.bit} {row.detect.xcr0}"
    functions = said[len(program.table.rows) :]
    assert functions == [f"f {f.name} {0 if f.variant else 1} 1" for f in program.functions]


def test_choose_agrees_with_the_model_for_every_set_mask_and_length(program: Program) -> None:
    lines, expected = [], []
    for query, mask, length in _cases(program):
        first = query.operation.steps[0].call
        if first == "backward" or not any(first in v.provides for v in query.variants):
            continue  # CHOOSE cannot say which call started the state; it means the first that the worker has
        for call, taken in chosen_for(query.operation, query.interface, query.variants, mask, length):
            name = f"{query.interface.algorithm}.{call}"
            if name in {f.name for f in program.functions}:
                lines.append(f"c {program.index(name)} {length} {program.table.bits(mask)}")
                expected.append(program.index(f"{name}.{taken.name}") if taken else NO_FUNCTION)
    assert len(set(expected)) > 60
    assert NO_FUNCTION in expected
    _, answers = program.ask(lines)
    assert [int(answer) for answer in answers] == expected


def test_a_run_enters_what_the_model_takes_and_the_mask_is_pinned_by_the_start(program: Program) -> None:
    lines, expected = [], []
    for query, mask, length in _cases(program):
        chosen = chosen_for(query.operation, query.interface, query.variants, mask, length)
        if not all(taken for _, taken in chosen):
            continue  # a dispatch function traps when no variant fits
        later = program.table.names if length % 2 else ()
        lines.append(f"o {query.number} {length} {program.table.bits(mask)} {program.table.bits(later)}")
        stem = query.interface.algorithm
        entered = [program.index(f"{stem}.{call}.{taken.name}") for call, taken in chosen if taken]
        value = entered[-1] if query.operation.refuses else 0
        place = PINNED_BYTES if query.interface.states else -1
        expected.append(f"{value} {place} " + " ".join(f"{index}*1" for index in sorted(entered)))
    assert len(lines) > 200
    _, answers = program.ask(lines)
    assert answers == expected


def test_choose_knows_dispatch_functions_only(program: Program) -> None:
    variant = next(f.index for f in program.functions if f.variant)
    _, answers = program.ask([f"c {variant} 0 15", f"c {len(program.functions)} 0 15"])
    assert answers == [str(NO_FUNCTION)] * 2


def test_a_dispatched_state_has_room_for_the_largest_variant(program: Program) -> None:
    for query in program.queries:
        for name in query.interface.states:
            state = dispatch_state(query.interface, query.variants, name)
            assert state.bytes >= PINNED_BYTES + max(v.state[name].bytes for v in query.variants)
            assert state.bytes % state.align == 0
            assert state.align >= max(v.state[name].align for v in query.variants)


def test_the_function_table_is_numbered_and_every_call_has_one_dispatch_function(program: Program) -> None:
    assert [f.index for f in program.functions] == list(range(len(program.functions)))
    names = [f.name for f in program.functions]
    assert len(set(names)) == len(names)
    for query in program.queries:
        for call in query.interface.calls:
            provided = any(call in v.provides for v in query.variants)
            assert names.count(f"{query.interface.algorithm}.{call}") == provided


def test_starting_calls_of_a_keyed_state(program: Program) -> None:
    interface = next(q.interface for q in program.queries if "ks" in q.interface.states)
    assert starting_calls(interface, "ks") == ("forward", "backward")


def test_a_capability_in_bit_63_fits_the_generated_text(small: Catalog) -> None:
    row = small.capabilities["x86_64"].by_name["adx"]
    rows = tuple(type(row)(f"c{n}", row.arch, row.detect, "nop", [f"c{n - 1}"] if n else []) for n in range(64))
    text = table_source("x86_64", CapabilityTable("x86_64", rows), ())
    assert f'{{ "c63", {(1 << 63) - 1}u,' in text
    assert "worker_capability_count = 64;" in text


def test_the_repositorys_own_dispatchers_compile(catalog: Catalog, tmp_path: Path) -> None:
    if not COMPILER:
        pytest.skip("no C compiler on this machine")
    provider = catalog.provider("kernels")
    sources = []
    for target in catalog.targets.targets:
        table = catalog.capabilities[target.arch]
        variants = provider.for_target(target, table)
        functions = function_table(provider.interfaces.values(), variants)
        folder = tmp_path / target.name
        folder.mkdir()
        (folder / "dispatch.h").write_text(dispatch_header(provider.interfaces.values(), variants))
        for name, text in (
            ("table.c", table_source(target.arch, table, functions)),
            ("dispatch.c", dispatcher_source(table, functions)),
        ):
            (folder / name).write_text(text)
            sources.append(str(folder / name))
    command = [COMPILER, *WARNINGS, "-fsyntax-only", "-I", str(catalog.worker_root), *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[:4000]
