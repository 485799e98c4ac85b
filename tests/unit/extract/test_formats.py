"""The table of formats, and formats that installed packages add, as the how-to page shows them."""

import re
import sys
from pathlib import Path

import pytest

from rag_index.extract import Workers, discover
from rag_index.extract.formats import FORMATS, kind_of, plugins
from rag_index.extract.positions import heading_path
from rag_index.settings import ExtractSettings
from rag_index.types import Status

PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "plug-ins.md"


def test_every_format_has_a_reader_and_no_suffix_is_claimed_twice() -> None:
    suffixes = [suffix for form in FORMATS.values() for suffix in form.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(callable(form.extractor()) for form in FORMATS.values())


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("Makefile", b"all:\n\tmake\n", "config"),
        ("README", b"words", "text"),
        ("LICENSE.old", b"words", "text"),
        ("tool", b"#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("tool", b"#!/bin/sh\necho\n", "shell"),
        ("page.unknown", b"some words", "text"),
        ("A.PY", b"x = 1", "python"),
        ("notes.md", b"<html>", "markdown"),
    ],
)
def test_names_decide_where_content_does_not(name: str, data: bytes, kind: str) -> None:
    assert kind_of(data, name).name == kind


def test_the_plug_in_of_the_how_to_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = PAGE.read_text("utf-8").partition("## A file format")[2]
    code, declared = re.findall(r"```(?:python|toml)\n(.*?)```", example, re.DOTALL)
    site = tmp_path / "site"
    (site / "songbook").mkdir(parents=True)
    (site / "songbook" / "__init__.py").write_text("")
    (site / "songbook" / "reading.py").write_text(code)
    info = site / "songbook-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: songbook\nVersion: 1.0\n")
    group = declared.replace('[project.entry-points."rag_index.formats"]', "[rag_index.formats]").replace('"', "")
    (info / "entry_points.txt").write_text(group)
    monkeypatch.syspath_prepend(str(site))
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.song").write_text("Refrain\n\nla la la")
    (files / "b.song").write_bytes(b"\xff\xfe\xff")
    settings = ExtractSettings(workers=1)
    with Workers(settings) as workers:
        song, broken = workers.documents(discover([files], settings, root=files))
    assert (song.status, song.source.format, heading_path(song, 10)) == (Status.OK, "song", ("Refrain",))
    assert broken.status is Status.DAMAGED
    assert "song" in plugins.names()
    for name in [name for name in sys.modules if name.startswith("songbook")]:
        del sys.modules[name]
