"""A fault that only signals show: repro sends them too, and does not call a build good that has just failed."""

import json
import shlex
from pathlib import Path

from matrix.run.repro import BAD, CANNOT_TELL

from ..planted import plants
from . import support

PLANT = "chacha20/armv7-data-right-below-sp"


def test_data_below_the_stack_pointer(tmp_path: Path) -> None:
    repository = support.copy_repository(tmp_path / "repository")
    plant = plants.load(PLANT)
    plants.change_sources(plant, repository)
    work = tmp_path / "work"
    command = ("-m", "matrix", "run", plant.failing[0], "-n", "0", "--sandbox", "host", "--placements", "full")
    status, output = support.python(work, *command, root=repository)
    assert status == 1, output
    file = shlex.split(support.repro_lines(output)[0])[-1]
    status, output = support.python(work, "-m", "matrix", "repro", file, root=repository)
    assert status == BAD, output
    recorded = json.loads((work / file).read_text())
    recorded["settings"]["placements"] = "quick"
    (work / file).write_text(json.dumps(recorded))
    status, output = support.python(work, "-m", "matrix", "repro", file, root=repository)
    assert status == CANNOT_TELL, output
    assert "the same build passes" in output
