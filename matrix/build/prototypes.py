"""C prototypes of calls, generated from interfaces, and the index of the worker's function table."""

from collections.abc import Iterable
from dataclasses import dataclass

from matrix.model.interface import Argument, Call, Interface, Length, Pointer
from matrix.model.kernel import State, Variant

PINNED_BYTES = 64
"""Bytes in front of a dispatched state that remember the mask and the variant that started it."""
MAX_ALIGN = 64


@dataclass(frozen=True, eq=False)
class Function:
    """One row of a worker's function table; ``variant`` is None for a dispatch function. Compared by identity."""

    index: int
    interface: Interface
    call: Call
    variant: Variant | None

    @property
    def name(self) -> str:
        """The name in HELLO: ``algorithm.call.variant`` or ``algorithm.call``."""
        stem = f"{self.interface.algorithm}.{self.call.name}"
        return f"{stem}.{self.variant.name}" if self.variant else stem

    @property
    def symbol(self) -> str:
        """The C symbol that the thunk jumps to."""
        if self.variant:
            return self.variant.symbol(self.call.name)
        return f"{self.interface.algorithm}_{self.call.name}"


def function_table(interfaces: Iterable[Interface], variants: tuple[Variant, ...]) -> tuple[Function, ...]:
    """All functions of a worker: for each algorithm its variants' calls, then its dispatch functions."""
    functions: list[Function] = []
    for interface in interfaces:
        own = [variant for variant in variants if variant.algorithm == interface.algorithm]
        for variant in own:
            for call in variant.provides:
                functions.append(Function(len(functions), interface, interface.calls[call], variant))
        provided = {call for variant in own for call in variant.provides}
        for call in interface.calls:
            if call in provided:
                functions.append(Function(len(functions), interface, interface.calls[call], None))
    return tuple(functions)


def returns_value(interface: Interface, call: Call) -> bool:
    """Whether ``call`` returns an int: it is the last step of an operation that may refuse."""
    return any(op.refuses and op.steps[-1].call == call.name for op in interface.operations.values())


def _parameter(arg: Argument, interface: Interface) -> str:
    if isinstance(arg, Pointer):
        const = "const " if arg.direction == "in" else ""
        kind = "void" if arg.role in interface.states else "uint8_t"
        return f"{const}{kind} *{arg.role}"
    if isinstance(arg, Length):
        return f"size_t {arg.role}_len"
    return f"uint32_t {arg.role}"


def argument_names(call: Call) -> list[str]:
    """The parameter names of a prototype, for passing them on."""
    return [f"{arg.role}_len" if isinstance(arg, Length) else arg.role for arg in call.args]


def prototype(interface: Interface, call: Call, symbol: str) -> str:
    """The C prototype of ``call`` under the name ``symbol``, without the semicolon."""
    kind = "int" if returns_value(interface, call) else "void"
    return f"{kind} {symbol}({', '.join(_parameter(arg, interface) for arg in call.args)})"


def dispatch_state(interface: Interface, variants: Iterable[Variant], state: str) -> State:
    """Size and alignment of a dispatched state: the pinned choice, then the largest variant's state."""
    states = [v.state[state] for v in variants if v.algorithm == interface.algorithm and state in v.state]
    largest = max((one.bytes for one in states), default=0)
    size = PINNED_BYTES + (largest + MAX_ALIGN - 1) // MAX_ALIGN * MAX_ALIGN
    return State(size, MAX_ALIGN, "dispatch", any(one.own_address for one in states))


def variants_header(interface: Interface, variants: Iterable[Variant]) -> str:
    """The header that every C kernel of an algorithm is compiled with, so that a wrong prototype does not compile."""
    lines = ["#pragma once", "#include <stddef.h>", "#include <stdint.h>"]
    for variant in variants:
        if variant.algorithm == interface.algorithm:
            for call in variant.provides:
                lines.append(prototype(interface, interface.calls[call], variant.symbol(call)) + ";")
    return "\n".join(lines) + "\n"


def dispatch_header(interfaces: Iterable[Interface], variants: tuple[Variant, ...]) -> str:
    """``dispatch.h``: dispatch prototypes and state sizes of every algorithm, for compositions."""
    lines = ["#pragma once", "#include <stddef.h>", "#include <stdint.h>"]
    for interface in interfaces:
        provided = {call for v in variants if v.algorithm == interface.algorithm for call in v.provides}
        for name in interface.states:
            state = dispatch_state(interface, variants, name)
            macro = f"{interface.algorithm}_{name}".upper()
            lines.append(f"#define {macro}_BYTES {state.bytes}")
            lines.append(f"#define {macro}_ALIGN {state.align}")
        for call in interface.calls.values():
            if call.name in provided:
                lines.append(prototype(interface, call, f"{interface.algorithm}_{call.name}") + ";")
    return "\n".join(lines) + "\n"
