from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.errors import LockedError, UnknownNameError, UsageError
from rag_index.pipeline import build, build_documents
from rag_index.settings import ChunkSettings, EmbedSettings, ExtractSettings, Settings, StoreSettings
from rag_index.store import Layout, WriterLock, open_snapshot
from rag_index.store.dump import dump
from rag_index.types import Document, Event, Filter, Source, Status
from tests.privilege import unprivileged

QUIET = StoreSettings(publish=False)
SETTINGS = Settings(chunk=ChunkSettings(size=80, overlap=20), embed=EmbedSettings(model="hash"), store=QUIET)
FILES = {
    "pump.md": "# Pumps\n\n## Warranty\n\nA repaired pump has a warranty of two years, from the day of the repair.\n",
    "notes/seals.txt": "Shaft seals wear out first. Keep two of each size in the van.\n" * 6,
    "notes/copy.txt": "Shaft seals wear out first. Keep two of each size in the van.\n" * 6,
    "page.html": "<html><body><h1>Orders</h1><p>Orders placed before noon leave the same day.</p></body></html>",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    write(folder, FILES)
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run(docs: Path, settings: Settings = SETTINGS, **options):
    return build([docs], docs / ".rag-index", settings, **options)


def content(docs: Path) -> list[str]:
    with open_snapshot(docs / ".rag-index") as snapshot:
        return list(dump(snapshot))


def fresh(docs: Path, tmp_path: Path, settings: Settings = SETTINGS) -> list[str]:
    """What a build from nothing gives for the same files."""
    copy = tmp_path / "fresh"
    shutil.copytree(docs, copy, ignore=shutil.ignore_patterns(".rag-index"))
    build([copy], copy / ".rag-index", settings)
    lines = content(copy)
    shutil.rmtree(copy)
    return lines


def test_while_one_unit_is_embedded_the_one_before_it_goes_live(tmp_path: Path, monkeypatch) -> None:
    # A unit holds 1,024 documents: lowered, four documents are four units.
    monkeypatch.setattr("rag_index.pipeline.unit.UNIT_DOCUMENTS", 1)
    hashing, live = load_embedder(SETTINGS.embed), []

    class Waiting:
        """Embeds a unit only when all units before it can be searched."""

        info, tokens, embed_query = hashing.info, hashing.tokens, hashing.embed_query

        def embed(self, texts):
            until = time.monotonic() + 20
            while (found := searchable()) < len(live) and time.monotonic() < until:
                time.sleep(0.01)
            live.append(found)
            return hashing.embed(texts)

    def searchable() -> int:
        with open_snapshot(tmp_path / "index") as snapshot:
            return len(list(snapshot.documents()))

    texts = [Document(Source(f"{n}.txt", sha256=str(n)), text=f"Text number {n}.") for n in range(4)]
    build_documents(texts, tmp_path / "index", SETTINGS, embedder=Waiting())
    assert live == [0, 1, 2, 3]


def test_progress_of_embedding_is_told_in_tokens_of_the_whole_build(docs: Path, monkeypatch) -> None:
    monkeypatch.setattr("rag_index.pipeline.unit.UNIT_DOCUMENTS", 1)
    events: list[Event] = []
    report = run(docs, report=events.append)
    told = [event for event in events if event.stage == "embed"]
    assert {event.note for event in told} == {"tokens"}
    assert [event.done for event in told] == sorted(event.done for event in told)
    assert told[0].done < told[0].total  # the other documents are reckoned in
    assert told[-1].done == told[-1].total
    assert 0 < told[-1].done <= report.tokens.seen


def test_a_second_build_reads_and_embeds_nothing(docs: Path) -> None:
    first, second = run(docs), run(docs)
    assert first.files.indexed == 4
    assert first.embedded > 0
    assert (second.embedded, second.files.indexed, second.files.unchanged) == (0, 0, 4)
    assert second.chunks.live == first.chunks.live


def test_every_stored_chunk_is_its_slice_of_the_document(docs: Path) -> None:
    run(docs)
    with open_snapshot(docs / ".rag-index") as snapshot:
        for row in snapshot.documents():
            text = snapshot.document(row.id).text
            chunks = snapshot.chunks_of(row.id)
            assert [chunk.index for chunk in chunks] == list(range(row.chunks))
            assert all(text[chunk.start : chunk.end].strip() for chunk in chunks)
            assert "".join(text[c.start : c.end] for c in chunks[:1]) == text[chunks[0].start : chunks[0].end]


def test_a_text_in_two_files_is_embedded_once_and_found_in_both(docs: Path) -> None:
    report = run(docs)
    with open_snapshot(docs / ".rag-index") as snapshot:
        assert report.embedded == snapshot.info.counts.texts < report.chunks.live
        embedder = load_embedder(SETTINGS.embed)
        (best, _), *_ = snapshot.dense(embedder.embed_query("shaft seals wear out"), 3)
        others = snapshot.same_text([best])[best]
        paths = {snapshot.document(row.document).source.path for row in snapshot.chunks([best, *others]).values()}
        assert paths == {"notes/copy.txt", "notes/seals.txt"}


EDITS = [
    pytest.param(lambda d: write(d, {"pump.md": "# Pumps\n\nA new text.\n"}), 1, 0, id="a file changes"),
    pytest.param(lambda d: write(d, {"new.txt": "Something else."}), 1, 0, id="a file is added"),
    pytest.param(lambda d: (d / "page.html").unlink(), 0, 1, id="a file is removed"),
    pytest.param(lambda d: shutil.rmtree(d / "notes"), 0, 2, id="a folder is removed"),
    pytest.param(lambda d: (d / "pump.md").rename(d / "moved.md"), 1, 1, id="a file is renamed"),
    pytest.param(lambda d: os.utime(d / "pump.md", (0, 0)), 0, 0, id="a time of 1970"),
    pytest.param(lambda d: os.utime(d / "pump.md", (4102444800, 4102444800)), 0, 0, id="a time of 2100"),
    pytest.param(lambda d: write(d, {"pump.md": ""}), 0, 0, id="a file is emptied"),
]


@pytest.mark.parametrize(("edit", "indexed", "removed"), EDITS)
def test_after_an_edit_the_index_equals_one_built_from_nothing(docs, tmp_path, edit, indexed, removed) -> None:
    run(docs)
    edit(docs)
    report = run(docs)
    assert (report.files.indexed, report.files.removed) == (indexed, removed)
    assert content(docs) == fresh(docs, tmp_path)


def test_a_renamed_file_is_not_embedded_again(docs: Path) -> None:
    run(docs)
    (docs / "pump.md").rename(docs / "moved.md")
    assert run(docs).embedded == 0


def test_a_word_at_the_top_embeds_only_the_chunks_that_it_touches(docs: Path) -> None:
    body = "\n\n".join(f"Paragraph {n} says something about part {n} of the machine in question." for n in range(40))
    write(docs, {"long.txt": body})
    run(docs)
    write(docs, {"long.txt": f"Attention. {body}"})
    assert 1 <= run(docs).embedded <= 2


def test_same_size_and_time_but_another_content_is_seen(docs: Path) -> None:
    run(docs)
    path = docs / "notes/copy.txt"
    before = path.stat()
    path.write_text(path.read_text().replace("two", "ten"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(docs).files.indexed == 1


def test_full_reads_everything_and_embeds_nothing_twice(docs: Path) -> None:
    run(docs)
    report = run(docs, full=True)
    assert (report.files.indexed, report.embedded, report.chunks.added, report.chunks.removed) == (4, 0, 0, 0)


def test_files_that_another_version_of_the_readers_has_read_are_read_again(docs: Path, monkeypatch) -> None:
    run(docs)
    before = content(docs)
    monkeypatch.setattr("rag_index.extract.read.VERSION", "another")
    report = run(docs)
    assert (report.files.indexed, report.files.unchanged, report.embedded) == (4, 0, 0)
    assert content(docs) == before


def test_a_dry_run_says_what_the_build_then_does_and_changes_nothing(docs: Path) -> None:
    rehearsed = run(docs, dry_run=True)
    assert not (docs / ".rag-index").exists()
    done = run(docs)
    assert (rehearsed.files, rehearsed.chunks, rehearsed.embedded) == (done.files, done.chunks, done.embedded)
    write(docs, {"pump.md": FILES["pump.md"] + "\nOne more line.\n"})
    (docs / "page.html").unlink()
    before = content(docs)
    rehearsed = run(docs, dry_run=True)
    assert content(docs) == before
    done = run(docs)
    assert (rehearsed.files, rehearsed.chunks, rehearsed.embedded) == (done.files, done.chunks, done.embedded)


OTHER = [
    Settings(chunk=ChunkSettings(size=40, overlap=10), embed=SETTINGS.embed, store=QUIET),
    Settings(chunk=ChunkSettings(chunker="window", size=80, overlap=20), embed=SETTINGS.embed, store=QUIET),
    Settings(chunk=SETTINGS.chunk, embed=EmbedSettings(model="hash", document_prompt="passage: "), store=QUIET),
    Settings(chunk=SETTINGS.chunk, embed=SETTINGS.embed, store=QUIET, extract=ExtractSettings(hidden_text="keep")),
]


@pytest.mark.parametrize("other", OTHER, ids=["size", "chunker", "prompt", "extraction"])
def test_changed_settings_give_what_a_build_from_nothing_gives(docs: Path, tmp_path: Path, other: Settings) -> None:
    run(docs)
    report = run(docs, other)
    assert report.files.indexed == 4
    assert content(docs) == fresh(docs, tmp_path, other)
    assert len(Layout(docs / ".rag-index").states()) == 1
    assert run(docs, other).embedded == 0


def test_a_build_of_one_folder_leaves_the_others_alone(docs: Path) -> None:
    run(docs)
    (docs / "pump.md").unlink()
    (docs / "notes/copy.txt").unlink()
    report = build([docs / "notes"], docs / ".rag-index", SETTINGS)
    assert (report.files.seen, report.files.removed) == (1, 1)
    other = Settings(chunk=ChunkSettings(size=50, overlap=5), embed=SETTINGS.embed, store=QUIET)
    build([docs / "notes"], docs / ".rag-index", other)
    with open_snapshot(docs / ".rag-index") as snapshot:
        assert [row.path for row in snapshot.documents()] == ["notes/seals.txt", "page.html", "pump.md"]


def test_a_missing_root_removes_nothing(docs: Path) -> None:
    run(docs)
    moved = docs.rename(docs.with_name("away"))
    with pytest.raises(UsageError, match="there is no"):
        build([docs], moved / ".rag-index", SETTINGS)
    with open_snapshot(moved / ".rag-index") as snapshot:
        assert len(snapshot.documents()) == 4


def test_files_that_are_not_searchable_are_named_with_the_reason_each_time(docs: Path) -> None:
    (docs / "blob.bin").write_bytes(b"\x7fELF" + bytes(range(256)))
    first, second = run(docs), run(docs)
    assert [(s.path, s.status) for s in first.skipped] == [("blob.bin", "unsupported")]
    assert first.skipped == second.skipped
    assert first.skipped[0].reason


def test_an_unknown_chunker_is_refused_before_anything_is_made(docs: Path) -> None:
    with pytest.raises(UnknownNameError):
        run(docs, Settings(chunk=ChunkSettings(chunker="charakter"), embed=SETTINGS.embed, store=QUIET))
    assert not (docs / ".rag-index").exists()


def test_an_empty_folder_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files"):
        run(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_second_writer_is_told_who_holds_the_index(docs: Path) -> None:
    run(docs)
    held = pytest.raises(LockedError, match=f"by process {os.getpid()} on .* since")
    with WriterLock(Layout(docs / ".rag-index").lock), held:
        run(docs)
    run(docs)


def test_documents_that_are_extracted_already_become_an_index(tmp_path: Path) -> None:
    embedder = load_embedder(SETTINGS.embed)
    texts = [Document(Source(f"{n}.txt"), text=f"Text number {n} speaks of pumps.") for n in range(3)]
    report = build_documents(texts, tmp_path / "x", SETTINGS, embedder=embedder, publish=False)
    assert (report.files.indexed, report.embedded) == (3, 3)
    again = build_documents(texts[:2], tmp_path / "x", SETTINGS, embedder=embedder, publish=False)
    assert (again.embedded, again.files.removed, again.chunks.live) == (0, 1, 2)


@pytest.mark.parametrize(
    ("where", "paths"),
    [
        (Filter(paths=("notes/**",)), {"notes/copy.txt", "notes/seals.txt"}),
        (Filter(paths=("*.txt",)), {"notes/copy.txt", "notes/seals.txt"}),
        (Filter(paths=("notes",)), {"notes/copy.txt", "notes/seals.txt"}),
        (Filter(paths=("p*.md", "*.html")), {"pump.md", "page.html"}),
        (Filter(formats=("html",)), {"page.html"}),
        (Filter(heading="warrant"), {"pump.md"}),
        (Filter(modified_since=4e9), set()),
        (Filter(meta=(("title", "none"),)), set()),
    ],
)
def test_filters_apply_before_the_best_are_chosen(docs: Path, where: Filter, paths: set[str]) -> None:
    run(docs)
    embedder = load_embedder(SETTINGS.embed)
    with open_snapshot(docs / ".rag-index") as snapshot:
        hits = snapshot.dense(embedder.embed_query("orders and seals and pumps"), 50, where)
        rows = snapshot.chunks([id_ for id_, _ in hits])
        found = {snapshot.document(row.document).source.path for row in rows.values()}
        # the copy has the same texts, so its chunks are not given beside the first ones
        assert found == paths - ({"notes/seals.txt"} if "notes/copy.txt" in paths else set())
        words = snapshot.keyword("orders OR seals OR warranty", 50, where)
        assert {snapshot.document(snapshot.chunks([i])[i].document).source.path for i, _ in words} <= paths


def test_a_file_that_has_become_unreadable_keeps_its_last_version(docs: Path) -> None:
    run(docs)
    (docs / "pump.md").chmod(0)
    with unprivileged():
        report = run(docs)
    assert [(s.path, s.status) for s in report.skipped] == [("pump.md", Status.UNREADABLE)]
    with open_snapshot(docs / ".rag-index") as snapshot:
        assert {row.path for row in snapshot.documents()} == set(FILES)
