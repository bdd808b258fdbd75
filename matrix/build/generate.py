"""Generated sources of a worker: capability table, function table, thunks and the dispatcher."""

from collections.abc import Iterable

from matrix.build.prototypes import PINNED_BYTES, Function, argument_names, prototype, returns_value
from matrix.model.capability import RAW_WORDS, CapabilityTable
from matrix.model.choice import StateUse, candidates, starting_calls, state_use

NO_FUNCTION = 0xFFFF


def thunks_source(functions: Iterable[Function]) -> str:
    """``thunks.S``: one counted veneer per function of the table."""
    lines = ['#include "thunk.h"']
    lines += [f"THUNK {function.index}, {function.symbol}" for function in functions]
    return "\n".join(lines) + "\n"


def table_source(arch: str, table: CapabilityTable, functions: tuple[Function, ...]) -> str:
    """``table.c``: what the worker knows of capabilities and functions; the only place where algorithms have names."""
    words = {name: index for index, name in enumerate(RAW_WORDS[arch])}
    lines = ['#include "worker.h"', f'const char worker_arch[] = "{arch}";']
    lines.append("const struct worker_capability worker_capabilities[] = {")
    for row in table.rows:
        implies = table.bits(table.closure(row.implies))
        lines.append(
            f'    {{ "{row.name}", {implies}u, {words[row.detect.word]}, {row.detect.bit}, {row.detect.xcr0} }},'
        )
    lines += ["};", f"const unsigned worker_capability_count = {len(table.rows)};"]
    lines += [f"extern void worker_thunk_{function.index}(void);" for function in functions]
    lines.append("const struct worker_function worker_functions[] = {")
    for function in functions:
        kind = 0 if function.variant else 1
        assembly = int(bool(function.variant and function.variant.assembly))
        lines.append(f'    {{ "{function.name}", worker_thunk_{function.index}, {kind}, {assembly} }},')
    lines += ["};", f"const unsigned worker_function_count = {len(functions)};"]
    lines.append(f"uint32_t worker_entered[{max(1, len(functions))}];")
    return "\n".join(lines) + "\n"


def dispatcher_source(table: CapabilityTable, functions: tuple[Function, ...]) -> str:
    """``dispatch.c``: the dispatch functions and ``worker_choose``."""
    lines = [
        '#include "worker.h"',
        '#include "dispatch.h"',
        "struct pinned { uint64_t mask; uint32_t home; };",
        f"#define STATE_BEHIND(pinned) ((uint8_t *)(pinned) + {PINNED_BYTES})",
    ]
    dispatched = [function for function in functions if not function.variant]
    for function in functions:
        if function.variant:
            lines.append(prototype(function.interface, function.call, f"worker_thunk_{function.index}") + ";")
    for function in dispatched:
        lines += _chooser(table, function, functions)
    for function in dispatched:
        lines += _dispatch_function(function, functions)
    lines += [
        "unsigned worker_choose(unsigned function, uint64_t length, uint64_t mask)",
        "{",
        "    switch (function) {",
    ]
    for function in dispatched:
        lines.append(f"    case {function.index}: return {_choice_from_scratch(function, functions)};")
    lines += [f"    default: return {NO_FUNCTION};", "    }", "}"]
    return "\n".join(lines) + "\n"


def _use(function: Function) -> StateUse | None:
    use = state_use(function.call, function.interface)
    return use if use and starting_calls(function.interface, use.state) else None


def _rows(function: Function, functions: tuple[Function, ...]) -> list[Function]:
    """The variants' functions for the same call, best first."""
    algorithm, call = function.interface.algorithm, function.call.name
    by_variant = {
        f.variant: f for f in functions if f.variant and f.interface.algorithm == algorithm and f.call.name == call
    }
    return [by_variant[variant] for variant in candidates(by_variant, call)]


def _chooser(table: CapabilityTable, function: Function, functions: tuple[Function, ...]) -> list[str]:
    """``choose_<symbol>``: the first row whose needs are in the mask and whose ``min_bytes`` the length reaches."""
    use = _use(function)
    continues = use is not None and not use.starts
    home = ", unsigned layout" if continues else ""
    lines = [
        f"static unsigned choose_{function.symbol}(uint64_t length, uint64_t mask{home})",
        "{",
        "    (void)length; (void)mask;",
    ]
    for row in _rows(function, functions):
        assert row.variant
        needs = table.bits(table.closure(row.variant.requires))
        conditions = [f"(mask & {needs}u) == {needs}u"] if needs else []
        bound = row.variant.min_bytes.get(function.call.name, 0)
        if bound:
            conditions.append(f"length >= {bound}u")
        if continues:
            assert use
            conditions.append(f"layout == {_layout_number(row, use.state, functions)}u")
        test = f"if ({' && '.join(conditions)}) " if conditions else ""
        lines.append(f"    {test}return {row.index};")
        if not test:
            break
    if lines[-1].lstrip().startswith("if"):
        lines.append(f"    return {NO_FUNCTION};")
    return [*lines, "}"] + (_layout_of_home(function, functions) if continues else [])


def _layout_number(row: Function, state: str, functions: tuple[Function, ...]) -> int:
    """A number for the layout of ``row``'s state: the index of the first function of the algorithm that has it."""
    assert row.variant
    layout = row.variant.state[state].layout
    return next(
        function.index
        for function in functions
        if function.interface is row.interface
        and function.variant
        and state in function.variant.state
        and function.variant.state[state].layout == layout
    )


def _layout_of_home(function: Function, functions: tuple[Function, ...]) -> list[str]:
    use = _use(function)
    assert use
    starts = starting_calls(function.interface, use.state)
    lines = [f"static unsigned layout_{function.symbol}(unsigned home)", "{", "    switch (home) {"]
    for row in functions:
        if row.interface is function.interface and row.variant and row.call.name in starts:
            lines.append(f"    case {row.index}: return {_layout_number(row, use.state, functions)};")
    return [*lines, f"    default: return {NO_FUNCTION};", "    }", "}"]


def _choice_from_scratch(function: Function, functions: tuple[Function, ...]) -> str:
    """C expression: the choice for a call; for a continuing one as if its state had just been started with this mask,
    by the first of its starting calls that this worker has."""
    use = _use(function)
    if use is None or use.starts:
        return f"choose_{function.symbol}(length, mask)"
    own = [other for other in functions if other.interface is function.interface and not other.variant]
    here = {other.call.name: other.symbol for other in own}
    starts = [here[call] for call in starting_calls(function.interface, use.state) if call in here]
    if not starts:
        return str(NO_FUNCTION)
    return f"choose_{function.symbol}(length, mask, layout_{function.symbol}(choose_{starts[0]}(0, mask)))"


def _dispatch_function(function: Function, functions: tuple[Function, ...]) -> list[str]:
    call, interface = function.call, function.interface
    use = _use(function)
    length = f"{call.length_role}_len" if call.length_role else "0"
    names = argument_names(call)
    lines = [prototype(interface, call, function.symbol), "{"]
    if use is None:
        lines.append(f"    unsigned chosen = choose_{function.symbol}({length}, worker_mask);")
    elif use.starts:
        lines.append(f"    struct pinned *pinned = (struct pinned *){use.state};")
        lines.append(f"    unsigned chosen = choose_{function.symbol}({length}, worker_mask);")
        lines.append("    pinned->mask = worker_mask;")
        lines.append("    pinned->home = chosen;")
    else:
        lines.append(f"    const struct pinned *pinned = (const struct pinned *){use.state};")
        layout = f"layout_{function.symbol}(pinned->home)"
        lines.append(f"    unsigned chosen = choose_{function.symbol}({length}, pinned->mask, {layout});")
    if use:
        names = [f"STATE_BEHIND({name})" if name == use.state else name for name in names]
    value = "return " if returns_value(interface, call) else ""
    after = "" if value else " return;"
    lines.append("    switch (chosen) {")
    for row in _rows(function, functions):
        lines.append(f"    case {row.index}: {value}worker_thunk_{row.index}({', '.join(names)});{after}")
    return [*lines, "    default: __builtin_trap();", "    }", "}"]
