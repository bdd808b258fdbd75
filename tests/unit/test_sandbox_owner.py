"""Whose a container is, and which ones are left behind by the dead."""

import os
import subprocess
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from matrix.sandbox.owner import LABEL, Owner, labels, remove_leftovers


def ended_process() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_this_process_lives_and_survives_its_text() -> None:
    owner = Owner.this_process()
    assert owner.pid == os.getpid()
    assert not owner.dead()
    assert Owner.parse(str(owner)) == owner


def test_an_ended_process_is_dead() -> None:
    assert replace(Owner.this_process(), pid=ended_process()).dead()


def test_a_pid_that_is_used_again_is_another_process() -> None:
    assert replace(Owner.this_process(), started="1").dead()


def test_nothing_is_known_of_other_machines() -> None:
    assert not replace(Owner.this_process(), machine="elsewhere", pid=ended_process()).dead()


@pytest.mark.parametrize("text", ["", "x", "machine pid start"])
def test_other_texts_name_no_owner(text: str) -> None:
    assert Owner.parse(text) is None


@dataclass
class Listing:
    """An engine that has these containers."""

    found: list[dict[str, Any]]
    removed: list[str] = field(default_factory=list)

    def containers(self, label: str) -> list[dict[str, Any]]:
        assert label == LABEL
        return self.found

    def remove_container(self, container: str) -> None:
        self.removed.append(container)


def test_only_containers_of_ended_processes_are_removed() -> None:
    owner = Owner.this_process()
    engine = Listing(
        [
            {"Id": "mine", "Labels": labels("worker", owner)},
            {"Id": "dead", "Labels": labels("build", replace(owner, pid=ended_process()))},
            {"Id": "elsewhere", "Labels": labels("worker", replace(owner, machine="other", pid=ended_process()))},
            {"Id": "by hand", "Labels": labels("image")},
        ]
    )
    assert remove_leftovers(engine) == 1  # type: ignore[arg-type]  # stands in for an Engine
    assert engine.removed == ["dead"]
