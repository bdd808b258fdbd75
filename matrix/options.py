"""The options of the conformance tests in pytest, and what they ask for.

Their names begin with ``capmatrix-``, so that they are nobody else's. The short names of earlier releases are
understood where no other plugin has them.
"""

import os
from typing import TYPE_CHECKING, Any

from matrix.model.target import EVERY_PROFILE
from matrix.plan.selection import CPU_HELP, FILTERS, Selection
from matrix.run.session import Settings

if TYPE_CHECKING:  # the command line, which takes only names from here, does not load pytest
    import pytest

PREFIX = "--capmatrix-"
RUN_ID = f"{PREFIX}run-id"
"""Option by which ``capmatrix run`` hands its number down; the journal carries it."""

PARENT = f"{PREFIX}parent"
"""Option by which it names the descriptor that it takes the journal from."""


def _many(text: str) -> dict[str, Any]:
    return {"action": "append", "default": [], "metavar": "NAME", "help": f"{text}; repeatable"}


OPTIONS: dict[str, dict[str, Any]] = {
    "target": _many("run this target"),
    **{name: _many(text) for name, text in FILTERS.items()},
    "profile": _many("build and run the targets this way too (`all`: every way)"),
    "cpu": {"default": "", "metavar": "STRING", "help": CPU_HELP},
    "shard": {"default": "", "metavar": "I/N", "help": "run part I of N"},
    "sandbox": {"choices": ("auto", "docker", "host"), "help": "where to build and run"},
    "placements": {
        "default": "quick",
        "choices": ("quick", "full"),
        "help": "quick: two for every case; full: all, with offsets, in place, cut into pieces",
    },
    "seed": {"type": int, "default": 1, "help": "seed of the random cases"},
    "exhaustive": {"action": "store_true", "help": "run the full corpus everywhere"},
    "journal": {"default": "", "metavar": "FILE", "help": "where the journal goes, if not to .capmatrix/"},
}
"""Name without prefix, and how pytest's parser is told of it."""


def _destination(name: str) -> str:
    return f"capmatrix_{name}"


def add_options(parser: "pytest.Parser") -> None:
    """Declare the options under their own names."""
    group = parser.getgroup("capmatrix", "conformance test matrix")
    sandbox = {"default": os.environ.get("CAPMATRIX_SANDBOX") or "auto"}
    for name, how in OPTIONS.items():
        more = sandbox if name == "sandbox" else {}
        group.addoption(f"{PREFIX}{name}", dest=_destination(name), **how, **more)
    group.addoption(RUN_ID, dest="capmatrix_run_id", default="", help="used by `capmatrix run`")
    group.addoption(PARENT, dest="capmatrix_parent", type=int, default=-1, help="used by `capmatrix run`")


def add_short_names(parser: "pytest.Parser") -> None:
    """Declare the names of earlier releases (``--target``) that nobody has: call it when other plugins are loaded."""
    group = parser.getgroup("capmatrix")
    for name, how in OPTIONS.items():
        if _free(parser, f"--{name}"):
            help_text = f"older name of {PREFIX}{name}"
            group.addoption(f"--{name}", dest=_destination(name), **{**how, "help": help_text})


def _free(parser: "pytest.Parser", word: str) -> bool:
    """Whether no plugin has declared the option ``word``."""
    import pytest

    try:
        return word in parser.parse_known_and_unknown_args([word, "1"])[1]
    except pytest.UsageError:
        return False  # it is known, and takes no such value


def option(config: "pytest.Config", name: str) -> Any:
    """The value of an option, by its name without prefix."""
    return config.getoption(_destination(name))


def wanted_cells(config: "pytest.Config") -> Selection:
    """Which cells are asked for."""
    return Selection(
        targets=tuple(option(config, "target")),
        providers=tuple(option(config, "provider")),
        enforcements=tuple(option(config, "enforcement")),
        masks=tuple(option(config, "mask")),
        algorithms=tuple(option(config, "algorithm")),
        variants=tuple(option(config, "variant")),
        cpu=option(config, "cpu"),
        shard=option(config, "shard"),
        profiles=tuple(option(config, "profile")) or ((EVERY_PROFILE,) if option(config, "exhaustive") else ()),
    )


def settings(config: "pytest.Config") -> Settings:
    """How they are to be run."""
    return Settings(option(config, "seed"), option(config, "exhaustive"), option(config, "placements"))
