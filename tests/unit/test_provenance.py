"""Where a result comes from: the state of the tree, and digests of what was compiled."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from matrix.model.catalog import load_catalog
from matrix.resources import data_root
from matrix.run.provenance import Tree, differing, digests, source_files, tree_state


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs git in a new repository, whatever the user's own configuration says."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    monkeypatch.delenv("GIT_DIR", raising=False)

    def run(*arguments: str) -> str:
        who = ["-c", "user.name=tester", "-c", "user.email=tester@localhost"]
        command = ["git", *who, "-C", str(tmp_path), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()

    run("init", "--quiet")
    return run


def _write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{path.stat().st_size if path.exists() else 0}")


def test_a_tree_says_its_commit_and_what_differs_from_it(tmp_path: Path, git: Callable[..., str]) -> None:
    _write(tmp_path, "kernels/capabilities.toml", "kernels/a.c", "notes.txt")
    git("add", "--all")
    git("commit", "--quiet", "--message", "start")
    commit = git("rev-parse", "HEAD")
    assert tree_state(tmp_path) == Tree(commit, ())
    tree_state.cache_clear()
    _write(tmp_path, "kernels/a.c", "kernels/b \x1b[2J.c", "notes.txt", "failures/x.json")
    tree = tree_state(tmp_path)
    assert tree == Tree(commit, ("kernels/a.c", "kernels/b \x1b[2J.c"))
    assert tree.as_json() == {"commit": commit, "dirty": ["kernels/a.c", "kernels/b \x1b[2J.c"]}
    _write(tmp_path, "kernels/c.c")
    assert tree_state(tmp_path) is tree, "looked at once per process"
    tree_state.cache_clear()
    _write(tmp_path, *(f"kernels/{number}/x.c" for number in range(90)))
    changed = tree_state(tmp_path).changed
    assert changed
    assert changed[-1] == "and 43 more"
    tree_state.cache_clear()


def test_sources_that_git_does_not_know_have_no_commit(tmp_path: Path, git: Callable[..., str]) -> None:
    """Such as a package that is installed inside a checkout of somebody else's."""
    _write(tmp_path, "other.c")
    git("add", "--all")
    git("commit", "--quiet", "--message", "start")
    _write(tmp_path, "kernels/capabilities.toml")
    assert tree_state(tmp_path) == Tree("", None)
    tree_state.cache_clear()
    assert Tree("", None).as_json() == {"commit": "", "dirty": None}


def test_a_worker_is_made_of_its_kernels_its_own_sources_and_the_tables() -> None:
    catalog = load_catalog(data_root())
    files = source_files(catalog, "arm32-noneon", "kernels", "chacha20_poly1305")
    assert "kernels/worker/main.c" in files
    assert "kernels/capabilities.toml" in files
    assert "images/targets.toml" in files
    kernels = {name for name in files if name.endswith(("_c.c", "_armv7_arm32.S", "_neon_arm32.S", "_avx2_x86_64.S"))}
    assert kernels == {
        "kernels/chacha20/chacha20_armv7_arm32.S",
        "kernels/chacha20/chacha20_c.c",
        "kernels/poly1305/poly1305_armv7_arm32.S",
    }, "with what it is composed of, and without what the target does not take"
    whole = source_files(catalog, "arm32-noneon", "kernels")
    assert files.items() < whole.items()
    assert all(catalog.root / name == path for name, path in whole.items())


def test_what_differs_is_named(tmp_path: Path) -> None:
    _write(tmp_path, "a", "b")
    before = digests({"a": tmp_path / "a", "b": tmp_path / "b", "gone": tmp_path / "gone"})
    assert sorted(before) == ["a", "b"]
    assert before["a"] == "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9", "sha256sum of '0'"
    (tmp_path / "a").write_text("other")
    (tmp_path / "b").unlink()
    _write(tmp_path, "c")
    assert differing(before, digests({name: tmp_path / name for name in "abc"})) == ["a", "b", "c"]
    assert differing(before, before) == []
