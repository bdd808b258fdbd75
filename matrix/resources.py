"""Where the data of the matrix lies: in a source tree beside the package, in a wheel inside it."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
CELL_TEST = "test_cells.py::test_cell"
"""The conformance test that runs the cells, one node each, below ``conformance_root()``."""


def data_root() -> Path:
    """The folder that holds ``kernels/``, ``images/`` and ``vectors/``."""
    beside = _PACKAGE.parent
    return beside if (beside / "kernels" / "capabilities.toml").exists() else _PACKAGE / "data"


def conformance_root() -> Path:
    """The folder of the conformance tests."""
    return data_root() / "tests" / "conformance"


def other_checkout(folder: Path) -> Path | None:
    """The checkout that ``folder`` lies in, when it is another one than that whose kernels are in use."""
    for place in (folder, *folder.parents):
        if (place / "kernels" / "capabilities.toml").is_file() and (place / "matrix" / "resources.py").is_file():
            return None if place.resolve() == data_root() else place
    return None
