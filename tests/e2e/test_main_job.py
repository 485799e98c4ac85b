"""The main job on real documents, with the real model, as a person runs it: one process a command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise, product
from pathlib import Path

import pytest

HANDBOOK = Path(__file__).resolve().parents[2] / "data" / "handbook"


def rag_index(*arguments: str | Path, given: str = "", cwd: Path | None = None, code: int = 0) -> str:
    """Run the program; return what it prints on stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "rag_index", *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"HOME": os.environ["RAG_INDEX_CACHE_DIR"], "RAG_INDEX_STORE_PUBLISH": "true"},
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def as_json(*arguments: str | Path, **options) -> dict:
    return json.loads(rag_index(*arguments, "--json", **options))


def overlap(a: dict, b: dict) -> bool:
    return a["path"] == b["path"] and a["start"] < b["end"] and b["start"] < a["end"]


@pytest.fixture(scope="module")
def reports(shared, tmp_path_factory):
    """The five reference corpora, indexed twice with the default model."""
    index = tmp_path_factory.mktemp("reports") / "X"
    corpora = shared / "data" / "chunking_evaluation" / "corpora"
    first = as_json("build", corpora, "--index", index)
    second = as_json("build", corpora, "--index", index)
    return corpora, index, first, second


@pytest.mark.slow
@pytest.mark.model
def test_five_reports_are_indexed_and_nothing_is_cut(reports) -> None:
    _, _, first, _ = reports
    assert first["files"] == {"seen": 5, "indexed": 5, "unchanged": 0, "removed": 0, "skipped": 0}
    assert first["tokens"]["cut"] == 0
    assert first["tokens"]["seen"] == first["tokens"]["embedded"] > 250_000
    assert first["model"] == "sentence-transformers/all-MiniLM-L6-v2"


@pytest.mark.slow
@pytest.mark.model
def test_a_second_build_embeds_nothing(reports) -> None:
    _, _, first, second = reports
    assert (second["embedded"], second["files"]["unchanged"]) == (0, 5)
    assert second["chunks"] == {"live": first["chunks"]["live"], "added": 0, "removed": 0}


@pytest.mark.slow
@pytest.mark.model
def test_answers_are_slices_of_the_files_and_none_overlaps_another(reports) -> None:
    corpora, index, _, _ = reports
    question = "What was the year-over-year change in net income?"
    shown = as_json("query", question, "--index", index, "-n", "5")
    hits = shown["hits"]
    assert len(hits) == 5
    for hit in hits:
        text = (corpora / hit["path"]).read_bytes().decode("utf-8")
        assert text[hit["start"] : hit["end"]] == hit["text"]
        for mark in hit["highlights"]:
            assert hit["start"] <= mark["start"] < mark["end"] <= hit["end"]
    assert not any(overlap(a, b) for a, b in product(hits, hits) if a["rank"] < b["rank"])
    assert all(a["score"] >= b["score"] for a, b in pairwise(hits))
    assert hits[0]["path"] == "finance.md"


def test_every_chunk_is_the_slice_of_its_document_and_what_chroma_holds(shared, tmp_path) -> None:
    from rag_index.store import open_snapshot

    corpora, index = shared / "data" / "chunking_evaluation" / "corpora", tmp_path / "X"
    first = as_json("build", corpora, "--index", index, "--model", "hash")
    assert as_json("check", "--index", index)["ok"]
    with open_snapshot(index) as snapshot:
        rows = [row for document in snapshot.documents() for row in snapshot.chunks_of(document.id)]
        names = {document.id: document.path for document in snapshot.documents()}
        assert len(rows) == first["chunks"]["live"]
        files = {id_: (corpora / name).read_bytes().decode("utf-8") for id_, name in names.items()}
        for row in rows:
            assert snapshot.document(row.document).text[row.start : row.end] == files[row.document][row.start : row.end]
    published = in_chroma(index)
    assert {row.uid for row in rows} == published.keys()
    for row in rows:
        assert published[row.uid] == files[row.document][row.start : row.end]


def in_chroma(index: Path) -> dict[str, str]:
    """Return id -> text of what any Chroma client finds in the published folder."""
    code = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "import chromadb\n"
        "from rag_index.store.published import chroma_folder\n"
        "client = chromadb.PersistentClient(str(chroma_folder(Path(sys.argv[1]))))\n"
        "got = client.get_collection('rag_index', embedding_function=None).get(include=['documents'])\n"
        "print(json.dumps(dict(zip(got['ids'], got['documents']))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, index], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def handbook(tmp_path_factory):
    """The sample handbook, indexed with the default model: a copy without the index that `make demo` leaves in it."""
    folder = tmp_path_factory.mktemp("handbook")
    shutil.copytree(HANDBOOK, folder / "handbook", ignore=shutil.ignore_patterns(".rag-index"))
    return folder / "index", as_json("build", folder / "handbook", "--index", folder / "index")


@pytest.mark.slow
@pytest.mark.model
def test_the_sample_handbook_is_indexed_whole_and_answers_with_the_marked_passage(handbook) -> None:
    index, report = handbook
    assert report["skipped"] == []
    out = rag_index(
        "query", "How long is the warranty on a repaired pump?", "--index", index, cwd=index.parent / "handbook"
    )
    assert out.startswith("policies/warranty-and-returns.md:")
    assert "covered for 12 months from the date on the" in out
    assert "[[" in out


@pytest.mark.slow
@pytest.mark.model
def test_the_place_of_an_answer_can_be_shown_in_every_format(handbook) -> None:
    index, _ = handbook
    hits = as_json("query", "pump warranty price battery", "--index", index, "-n", "60", "--passages", "chunk")["hits"]
    first = {Path(hit["path"]).suffix: hit for hit in reversed(hits)}
    assert {".md", ".html", ".txt", ".pdf"} <= first.keys()
    for hit in first.values():
        span = ("--start", str(hit["start"]), "--end", str(hit["end"]))
        shown = as_json("show", hit["path"], *span, "-C", "0", "--index", index)
        assert shown["text"][hit["start"] - shown["start"] : hit["end"] - shown["start"]] == hit["text"]
        assert shown["location"] == hit["location"]


SENTENCES = (
    "The Go programming language favors standard libraries and simple tools. The use of iterators, introduced in "
    "recent versions, simplifies the construction of complex pipelines."
)


@pytest.mark.slow
@pytest.mark.model
def test_a_text_from_stdin_is_cut_into_the_four_windows() -> None:
    shown = as_json("chunk", "-", "--chunker", "window", "--size", "60", "--overlap", "15", given=SENTENCES)
    assert [chunk["text"] for chunk in shown["chunks"]] == [
        "The Go programming language favors standard libraries and",
        "libraries and simple tools. The use of iterators, introduced",
        "introduced in recent versions, simplifies the construction",
        "construction of complex pipelines.",
    ]
