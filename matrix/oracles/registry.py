"""Find the oracle of an operation: the function ``<algorithm>_<operation>`` of a module of this package.

Modules named ``pyca*`` are the first model, modules named ``spec*`` the second; nothing registers itself.
"""

import importlib
import inspect
import pkgutil
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType

from matrix import oracles
from matrix.errors import MatrixError, OracleError
from matrix.model.interface import Interface, Operation

Answer = dict[str, bytes] | None
"""Outputs by name, or None when the operation must refuse."""
OracleFunction = Callable[..., Answer]
"""Takes the inputs of an operation as keyword arguments."""


@cache
def model_modules() -> tuple[ModuleType, ...]:
    """The modules that hold oracle functions, the first model's before the second's."""
    names = sorted(module.name for module in pkgutil.iter_modules(oracles.__path__))
    ordered = [name for model in ("pyca", "spec") for name in names if name.startswith(model)]
    with reporting("the oracles cannot be imported"):
        return tuple(importlib.import_module(f"{oracles.__name__}.{name}") for name in ordered)


@contextmanager
def reporting(what: str) -> Iterator[None]:
    """Around code that answers or makes cases: what it raises becomes an OracleError that says ``what`` and where."""
    try:
        yield
    except MatrixError:
        raise
    except Exception as problem:
        frame = traceback.extract_tb(problem.__traceback__)[-1]
        where = f"{frame.filename}, line {frame.lineno}, in {frame.name}"
        raise OracleError(what, where=where, why=f"{type(problem).__name__}: {problem}", step=_MEND) from problem


_MEND = "mend it there; the other algorithms run on"


def oracle(interface: Interface, operation: str, modules: tuple[ModuleType, ...] | None = None) -> OracleFunction:
    """The function that answers ``operation``. Raises OracleError: there is none, or its names are wrong."""
    return models(interface, operation, modules)[0]


def models(
    interface: Interface, operation: str, modules: tuple[ModuleType, ...] | None = None
) -> tuple[OracleFunction, ...]:
    """All functions that answer ``operation``, the preferred one first; at least one, or OracleError.

    Each is checked here (parameters named like the inputs) and on each call (outputs named like the outputs).
    """
    wanted = f"{interface.algorithm}_{operation}"
    found = []
    for module in model_modules() if modules is None else modules:
        function = vars(module).get(wanted)
        # A model may import another's function; only the module that defines it answers with it.
        if callable(function) and function.__module__ == module.__name__:
            found.append(_checked(function, interface, interface.operations[operation]))
    if not found:
        why = f"no module of matrix/oracles defines {wanted}"
        raise OracleError(f"{interface.algorithm}: operation {operation} has no oracle", why=why)
    return tuple(found)


def _checked(function: OracleFunction, interface: Interface, operation: Operation) -> OracleFunction:
    where = f"{function.__module__}.{function.__name__}"
    parameters = set(inspect.signature(function).parameters)
    if parameters != set(operation.inputs):
        why = f"parameters {_listed(parameters)}, inputs of {interface.path.name} {_listed(operation.inputs)}"
        raise OracleError("an oracle function has other parameters than its operation", where=where, why=why)

    def answer(**inputs: bytes | int) -> Answer:
        with reporting(f"the oracle of {interface.algorithm} {operation.name} fails"):
            outputs = function(**inputs)
            if outputs is None and not operation.refuses:
                raise OracleError("an oracle refuses where the operation cannot", where=where, why=_listed(inputs))
            if outputs is not None and set(outputs) != set(operation.outputs):
                why = f"outputs {_listed(outputs)}, interface {_listed(operation.outputs)}"
                raise OracleError("an oracle function returns other outputs than its operation", where=where, why=why)
            return outputs

    return answer


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
