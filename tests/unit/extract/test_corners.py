"""Corners of the readers that no ordinary file reaches."""

from pathlib import Path
from shutil import rmtree

import pytest

from rag_index.extract import discover
from rag_index.extract.archive import Archive, Refused
from rag_index.extract.blocks import nest, sections
from rag_index.extract.positions import heading_path, locate, pack_blocks, unpack_blocks
from rag_index.extract.runs import source_lines, unpack_runs
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, PositionMap, Source, Status
from tests.unit.extract.samples import zipped


def test_parts_that_are_missing_or_too_large_are_refused() -> None:
    archive = Archive(zipped({"a": "x" * 3000}, 0), ExtractSettings(max_unpacked_mb=0.004))
    assert "a" in archive
    with pytest.raises(Refused, match="is missing"):
        archive.read("b")
    archive.read("a")
    with pytest.raises(Refused, match="unpacks to more than max_unpacked_mb"):
        archive.read("a")
    with pytest.raises(Refused, match="unpacks to more than"):
        Archive(zipped({"a": "x" * 9000}, 0), ExtractSettings(max_unpacked_mb=0.004))


def test_a_folder_that_vanishes_while_others_are_read_is_named(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text("x")
    found = discover([tmp_path], ExtractSettings(), root=tmp_path)
    assert next(found).name == "a/x.txt"
    rmtree(tmp_path / "b")
    assert [(one.name, one.status, one.reason) for one in found] == [
        ("b/", Status.UNREADABLE, "No such file or directory")
    ]


def test_files_outside_the_root_have_their_whole_name(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "b.txt").write_text("x")
    (found,) = discover([tmp_path / "b.txt"], ExtractSettings(), root=tmp_path / "root")
    assert found.name == (tmp_path / "b.txt").resolve().as_posix()


def test_pages_are_nobodys_parents_and_sections_run_across_them() -> None:
    headings = [Block(0, 2, "heading", "A", level=1), Block(6, 8, "heading", "B", level=2)]
    blocks = nest(
        [
            *headings,
            *sections(headings, 20),
            Block(0, 10, "page", "1"),
            Block(10, 20, "page", "2"),
            Block(10, 20, "page", "3"),
        ]
    )
    document = Document(Source("a"), text="x" * 20, blocks=blocks)
    assert heading_path(document, 15) == ("A", "B")
    assert all(blocks[block.parent].kind != "page" for block in blocks if block.parent >= 0)


def test_blocks_of_another_form_are_refused() -> None:
    with pytest.raises(ValueError, match="packed in form 9"):
        unpack_blocks(b"\x09" + pack_blocks([])[1:])


def test_maps_without_records_locate_nothing() -> None:
    assert unpack_runs(b"") == ()
    assert source_lines(b"", 0, 1) == (0, 0, 0)
    bare = Document(Source("a.pdf"), text="x", positions=PositionMap("pdf"))
    assert (locate(bare, 0, 1).label, locate(bare, 0, 1).page) == ("", None)
    page = Document(Source("a.html"), text="x", positions=PositionMap("runs"))
    assert locate(page, 0, 1).line is None
    unnamed = Document(Source("a.docx"), text="x", positions=PositionMap("blocks"))
    assert locate(unnamed, 0, 1).label == "L1"
