"""The journal: one JSON object per line, on disk as soon as it is written, read back without a line that a kill cut."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matrix.errors import StoreError, TableError
from matrix.report.journal import Journal, journal_path, read_journal


def test_lines_come_back_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "journal.jsonl")
    journal.write("run", seed=1, names=["a", "b"])
    journal.write("cell", id="x64/hard/none/hash", verdict="passed", text="two\nlines ü")
    journal.close()
    assert list(read_journal(journal.path)) == [
        {"line": "run", "seed": 1, "names": ["a", "b"]},
        {"line": "cell", "id": "x64/hard/none/hash", "verdict": "passed", "text": "two\nlines ü"},
    ]


def test_a_line_is_on_disk_before_the_journal_is_closed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("cell", id="a")
    assert [row["id"] for row in read_journal(journal.path)] == ["a"]
    journal.close()


def test_a_run_begins_a_journal_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for number in (1, 2):
        journal = Journal(path)
        journal.write("run", number=number)
        journal.close()
    assert [row["number"] for row in read_journal(path)] == [2]


def test_two_runs_do_not_share_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first = Journal(path)
    first.write("run", number=1)
    with pytest.raises(StoreError) as caught:
        Journal(path)
    assert caught.value.where == str(path)
    assert "--journal" in caught.value.step
    assert [row["number"] for row in read_journal(path)] == [1]
    first.close()
    second = Journal(path)
    assert list(read_journal(path)) == []
    second.close()


def test_a_journal_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "journal.jsonl", tmp_path):
        with pytest.raises(StoreError) as caught:
            Journal(path)
        assert "--journal" in caught.value.step


@given(cut=st.integers(0, 200))
def test_a_killed_run_loses_at_most_the_line_being_written(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    rows = [{"line": "cell", "id": f"x64/soft/none/{number}"} for number in range(4)]
    whole = "".join(json.dumps(row) + "\n" for row in rows)
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    path.write_text(whole[:cut])
    found = list(read_journal(path))
    complete = whole[:cut].count("\n")
    assert found[:complete] == rows[:complete]
    assert len(found) <= complete + 1
    assert found == rows[: len(found)]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"line": "run"}\nnonsense\n', "line 2"),
        ('{"line": "run"\n{"line": "cell"}\n', "line 1"),
        ('{"line": "run"}\n\n{"line": "cell"}\n', "line 2"),
        ("[1]\n", "line 1"),
        ("5\n", "line 1"),
        ("nonsense\n", "line 1"),
    ],
)
def test_a_line_that_is_no_object_is_an_error(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(text)
    with pytest.raises(TableError) as caught:
        list(read_journal(path))
    assert str(path) in caught.value.where
    assert where in caught.value.where
    assert caught.value.why


def test_no_journal_and_no_text_are_errors(tmp_path: Path) -> None:
    with pytest.raises(TableError):
        list(read_journal(tmp_path / "absent"))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(TableError):
        list(read_journal(tmp_path / "binary"))


def test_a_line_begins_with_what_it_is_about(tmp_path: Path) -> None:
    """In the order of whoever writes it, so that a reader of the file sees the cell and its verdict first."""
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("cell", id="x64/hard/none/hash", verdict="passed", cases=3, arguments=[])
    journal.close()
    assert journal.path.read_text() == (
        '{"line": "cell", "id": "x64/hard/none/hash", "verdict": "passed", "cases": 3, "arguments": []}\n'
    )


def test_a_journal_is_printable_ascii_and_comes_back(tmp_path: Path) -> None:
    text = "\x1b[2J \x7f \x9b \u202e \x00 \ud800 \u2028 \r\n ü"
    journal = Journal(tmp_path / "journal.jsonl")
    journal.write("cell", text=text)
    journal.close()
    (line,) = journal.path.read_text("ascii").splitlines()
    assert line.isprintable()
    assert [row["text"] for row in read_journal(journal.path)] == [text]


def test_shards_have_journals_of_their_own() -> None:
    folder = Path("work")
    assert journal_path(folder) == Path("work", ".capmatrix", "journal.jsonl")
    assert journal_path(folder, shard="2/3") == Path("work", ".capmatrix", "journal-2-of-3.jsonl")
    assert journal_path(folder, "other.jsonl", "2/3") == Path("work", "other.jsonl")
    assert journal_path(folder, "/tmp/other.jsonl") == Path("/tmp/other.jsonl")


@pytest.mark.parametrize(
    "content", ["notes\n", "{}", '{"line": "cell"}\n', "\n", "[" * 5000, '{"line": "runs"}\n', "\0"]
)
def test_what_is_no_journal_is_not_overwritten(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(StoreError) as caught:
        Journal(path)
    assert caught.value.where == str(path)
    assert "first line" in caught.value.why
    assert "--journal" in caught.value.step
    assert path.read_text() == content


@pytest.mark.parametrize(
    "first", ["", '{"line": "run", "seed": 1}\n', '{"line": "run", "se', '{"seed": 1, "line": "run"}\n']
)
def test_a_journal_is_overwritten(tmp_path: Path, first: str) -> None:
    """Also one that a full disk cut off, and one whose keys stand in another order."""
    path = tmp_path / "journal.jsonl"
    path.write_text(first)
    journal = Journal(path)
    journal.write("run", number=2)
    journal.close()
    assert [row["number"] for row in read_journal(path)] == [2]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """Neither to a file, be it a journal, nor to what is not there yet."""
    there, absent = tmp_path / "there", tmp_path / "absent"
    there.write_text('{"line": "run"}\n')
    for target in (there, absent, Path("/dev/null")):
        link = tmp_path / "link"
        link.symlink_to(target)
        with pytest.raises(StoreError) as caught:
            Journal(link)
        assert "it is a link" in caught.value.why
        link.unlink()
    assert there.read_text() == '{"line": "run"}\n'
    assert not absent.exists()


def test_a_journal_is_a_regular_file(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, kind in ((fifo, "a FIFO"), (tmp_path, "a folder"), (Path("/dev/null"), "a device")):
        with pytest.raises(StoreError) as caught:
            Journal(path)
        assert kind in caught.value.why
        assert "--journal" in caught.value.step
    for path in (fifo, tmp_path, Path("/dev/zero")):
        with pytest.raises(TableError):
            list(read_journal(path))


def test_a_line_nested_too_deep_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text("[" * 5000 + "\n{}\n")
    with pytest.raises(TableError) as caught:
        list(read_journal(path))
    assert "line 1" in caught.value.where
