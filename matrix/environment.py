"""What this program takes from its environment: its variables, all of them, and how many files it may open."""

import os
import resource
import sys

from matrix.errors import SelectionError, ToolError
from matrix.model.near import known_names, near
from matrix.sandbox.choose import NAMES as SANDBOXES

PREFIX = "CAPMATRIX_"
VARIABLES = {
    "CAPMATRIX_CACHE": "the folder of the cache",
    "CAPMATRIX_INSTALL": "1: a run installs what it lacks",
    "CAPMATRIX_REQUIRE_DOCKER": "1: the matrix's own tests fail where they have no container engine",
    "CAPMATRIX_SANDBOX": "auto, docker or host",
    "CAPMATRIX_STARTED_IN": "the folder that printed commands are for; toxw sets it",
}
"""Name and what it says."""


def check_environment() -> None:
    """Look at the variables that are set. One that is none of ours is told of on standard error.

    Raises SelectionError for one that looks like a misspelt name, and for a sandbox that there is not.
    """
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in VARIABLES:
            continue
        meant = near(name.removeprefix(PREFIX), [known.removeprefix(PREFIX) for known in VARIABLES])
        if meant:
            why = f"did you mean {PREFIX}{meant[0]}?"
            step = "correct its name, or unset it"
            raise SelectionError(f"unknown environment variable {name}", why=why, step=step)
        print(f"warning: {name} is no environment variable of capmatrix", file=sys.stderr)
    sandbox = os.environ.get("CAPMATRIX_SANDBOX")
    if sandbox and sandbox not in SANDBOXES:
        raise SelectionError(
            f"unknown sandbox {sandbox!r}",
            where="the environment variable CAPMATRIX_SANDBOX",
            why=known_names(sandbox, SANDBOXES),
            step="correct or unset the variable",
        )


_FILES = 128
"""Files that a process of a run may have to open: a guest puts its channel above 64."""


def allow_enough_files() -> None:
    """Raise the number of files that this process and its children may open, where it is too low for a run.

    Raises ToolError where the system does not let it be raised.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _FILES:
        return
    if hard != resource.RLIM_INFINITY and hard < _FILES:
        raise ToolError(
            "too few files may be open at once",
            where="ulimit -n",
            why=f"{hard} are allowed, {_FILES} are needed",
            step=f"raise the limit: `ulimit -n {_FILES}` in this shell, or in limits.conf, systemd or docker",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, hard))
