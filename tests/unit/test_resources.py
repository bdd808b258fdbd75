"""Which checkout is in use, and which one somebody stands in."""

from pathlib import Path

import pytest

from matrix.command_line import main
from matrix.resources import data_root, other_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("kernels/capabilities.toml", "matrix/resources.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    return tmp_path


def test_a_folder_of_another_checkout_is_told(checkout: Path) -> None:
    assert other_checkout(checkout) == checkout
    assert other_checkout(checkout / "kernels") == checkout


def test_the_own_checkout_and_any_other_folder_are_not(tmp_path: Path) -> None:
    assert other_checkout(data_root()) is None
    assert other_checkout(data_root() / "kernels") is None
    assert other_checkout(tmp_path) is None


def test_the_command_line_says_so_and_goes_on(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(checkout)
    monkeypatch.setattr("sys.argv", ["capmatrix", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    told = capsys.readouterr()
    assert told.err == (
        f"note: you are in the checkout {checkout}, but this program runs the kernels of {data_root()}: "
        "an environment belongs to one checkout\n"
    )
