"""Each way of losing a passage names its stage."""

import pytest

from rag_index.errors import UsageError
from rag_index.pipeline import build_documents
from rag_index.search import why
from rag_index.settings import EmbedSettings, SearchSettings, Settings
from rag_index.store import open_snapshot
from rag_index.types import Block, Document, Filter, Source, Status

TEXT = "The pump has a warranty of two years.\n\nMenu: home, about\n\nSecret words\n\nLunch is at noon.\n"


@pytest.fixture
def snapshot(tmp_path, embedder):
    blocks = (Block(39, 56, "paragraph", role="furniture"), Block(58, 70, "paragraph", role="hidden"))
    documents = [
        Document(Source("a.txt", sha256="a", format="text"), text=TEXT, blocks=blocks),
        Document(Source("scan.pdf", sha256="s", format="pdf"), Status.NO_TEXT, "3 of 3 pages have no text"),
        *(
            Document(Source(f"more/{n}.txt", sha256=str(n), format="text"), text=f"pump warranty {n} years " * 3)
            for n in range(9)
        ),
    ]
    settings = Settings(embed=EmbedSettings(model="hash"))
    build_documents(documents, tmp_path / "index", settings, embedder=embedder, publish=False)
    with open_snapshot(tmp_path / "index") as opened:
        yield opened


@pytest.mark.parametrize(
    ("path", "line", "stage", "said"),
    [
        ("b.txt", None, "not indexed", "b.txt is not in the index"),
        ("scan.pdf", None, "not extracted", "scan.pdf could not be read: no_text, 3 of 3 pages have no text"),
        ("a.txt", 3, "furniture", "running header"),
        ("a.txt", 5, "furniture", "hidden text"),
        ("a.txt", 2, "not in a chunk", "white space"),
        ("a.txt", 1, "found", "found: passage"),
        ("a.txt", 7, "outranked", "ranked"),
    ],
)
def test_the_stage_is_named(snapshot, embedder, path, line, stage, said):
    settings = SearchSettings(limit=20) if stage == "found" else SearchSettings(limit=1)
    reason = why(snapshot, embedder, "pump warranty", path, settings, line=line)
    assert (reason.stage, said in reason.text) == (stage, True), reason


def test_the_ranks_of_both_sides_are_told(snapshot, embedder):
    reason = why(snapshot, embedder, "lunch noon", "a.txt", SearchSettings(), line=7)
    assert (reason.passage, reason.dense, reason.keyword) == (1, 1, 1)
    assert "1st by dense and 1st by keyword" in reason.text


def test_a_filter_is_named(snapshot, embedder):
    where = Filter(paths=("more/**",))
    reason = why(snapshot, embedder, "pump", "a.txt", SearchSettings(), line=1, where=where)
    assert reason.stage == "filtered"


def test_what_no_side_ranks_is_not_matched(snapshot):
    reason = why(snapshot, None, "submarine", "a.txt", SearchSettings(mode="keyword"), line=1)
    assert reason.stage == "not matched"


def test_a_line_that_is_not_there_is_refused(snapshot, embedder):
    with pytest.raises(UsageError, match="no line 99"):
        why(snapshot, embedder, "pump", "a.txt", SearchSettings(), line=99)
