"""Which files are read, which are left alone, and what is said about them."""

import os
import tempfile
from pathlib import Path

import pytest

from rag_index.errors import UsageError
from rag_index.extract import discover, read_document
from rag_index.settings import ExtractSettings
from rag_index.types import Status
from tests.privilege import unprivileged


def tree(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}")
    return root


def names(root: Path, *, status: Status | None = None, **options) -> list[str]:
    settings = ExtractSettings(**options)
    return [found.name for found in discover([root], settings, root=root) if found.status == status]


def reasons(root: Path, **options) -> dict[str, str]:
    found = discover([root], ExtractSettings(**options), root=root)
    return {one.name: one.reason for one in found if one.status}


def test_files_come_sorted_by_their_whole_name(tmp_path: Path) -> None:
    tree(tmp_path, "b.txt", "a/z.txt", "a.txt", "a/b/c.txt", "a-b.txt")
    assert names(tmp_path) == sorted(["b.txt", "a/z.txt", "a.txt", "a/b/c.txt", "a-b.txt"])


def test_ignore_files_apply_below_them_and_the_nearest_decides(tmp_path: Path) -> None:
    tree(tmp_path, "a.log", "keep/a.log", "keep/b.log", "build/x.txt", "notes.txt")
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    (tmp_path / "keep" / ".ragignore").write_text("!a.log\n")
    assert names(tmp_path) == ["keep/a.log", "notes.txt"]
    assert reasons(tmp_path)["build/"] == "ignored by .gitignore"
    assert "build/x.txt" in names(tmp_path, no_ignore=True)


def test_ignore_files_above_count_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    tree(tmp_path, "docs/a.txt", "docs/b.tmp")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.tmp\n")
    assert names(tmp_path / "docs") == ["a.txt"]


def test_what_is_left_out_has_a_reason(tmp_path: Path) -> None:
    tree(tmp_path, "a.txt", ".secret", "~$a.docx", "Thumbs.db", "x/y.md", "__MACOSX/._a")
    (tmp_path / "link").symlink_to(tmp_path / "a.txt")
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert reasons(tmp_path, exclude=("x/",)) == {
        ".secret": "hidden",
        "Thumbs.db": "left behind by another program",
        "__MACOSX/": "left behind by another program",
        "link": "a symbolic link",
        "loop": "a symbolic link",
        "out": "a symbolic link out of the folder",
        "pipe": "not a regular file but a FIFO",
        "x/": "excluded",
        "~$a.docx": "left behind by another program",
    }
    assert names(tmp_path, exclude=("x/",)) == ["a.txt"]


def test_the_settings_file_is_no_document_unless_it_is_named_outright(tmp_path: Path) -> None:
    tree(tmp_path, "a.txt", "rag-index.toml", "sub/rag-index.toml")
    assert names(tmp_path) == ["a.txt"]
    assert set(reasons(tmp_path).values()) == {"settings of rag-index"}
    (found,) = discover([tmp_path / "rag-index.toml"], ExtractSettings(), root=tmp_path)
    assert (found.name, found.status) == ("rag-index.toml", None)


def test_what_may_not_be_read_is_named_and_the_rest_is_read() -> None:
    settings = ExtractSettings()
    with unprivileged(), tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        tree(root, "good.txt", "locked.txt", "shut/inside.txt")
        (root / "locked.txt").chmod(0)
        (root / "shut").chmod(0)
        read = [read_document(found, settings) for found in discover([root], settings, root=root)]
        (root / "shut").chmod(0o700)
    assert [(one.source.path, one.status, one.reason) for one in read] == [
        ("good.txt", Status.OK, ""),
        ("locked.txt", Status.UNREADABLE, "Permission denied"),
        ("shut/", Status.UNREADABLE, "Permission denied"),
    ]


def test_only_included_names_are_read_when_any_are_given(tmp_path: Path) -> None:
    tree(tmp_path, "a.md", "b.txt", "c/d.md")
    assert names(tmp_path, include=("*.md",)) == ["a.md", "c/d.md"]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "big.txt").write_bytes(b"x" * 2000)
    (found,) = discover([tmp_path], ExtractSettings(max_file_mb=0.001), root=tmp_path)
    assert (found.status, found.reason) == (Status.TOO_LARGE, "0.0 MB is more than max_file_mb = 0.001")


def test_a_missing_path_is_an_error_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        discover([tmp_path, tmp_path / "gone"], ExtractSettings(), root=tmp_path)


def test_a_file_named_outright_is_read_and_comes_once(tmp_path: Path) -> None:
    tree(tmp_path, ".hidden.txt", "b.txt")
    found = discover([tmp_path / ".hidden.txt", tmp_path / "b.txt", tmp_path], ExtractSettings(), root=tmp_path)
    assert [one.name for one in found if one.status is None] == [".hidden.txt", "b.txt"]


def test_folders_are_read_only_when_their_turn_comes(tmp_path: Path) -> None:
    tree(tmp_path, "a/1.txt", "b/2.txt")
    found = discover([tmp_path], ExtractSettings(), root=tmp_path)
    assert next(found).name == "a/1.txt"
    tree(tmp_path, "b/0.txt")
    assert [one.name for one in found] == ["b/0.txt", "b/2.txt"]
