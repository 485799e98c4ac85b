"""Isolation: what a file does to its process costs that file, and no other."""

import os
import sys
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from rag_index.extract import Workers, discover, formats, isolated, read_document, wire
from rag_index.extract.drawing import Drawing, Mark, draw
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, PositionMap, Source, Status, Warn
from tests.unit.extract.samples import lines, pdf

PLUGIN = """
import os, time
from dataclasses import replace
from rag_index.extract.formats import Format
from rag_index.types import Document

TRICK = Format("trick_reader:read", (".trick",))

def read(data, source, options):
    text = data.decode()
    if "abort" in text: os.abort()
    if "hang" in text: time.sleep(600)
    if "grow" in text: return Document(source, text="x" * (8 << 30))
    if "raise" in text: raise ValueError("what a surprise")
    if "recurse" in text: raise RecursionError
    if "starve" in text: raise MemoryError
    if "print" in text: print("noise on the standard output", flush=True)
    return Document(source, text=text)
"""


@pytest.fixture
def tricks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a plug-in that does what the file says, and give a folder for such files."""
    site = tmp_path / "site"
    info = site / "trick-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "trick_reader.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: trick\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rag_index.formats]\ntrick = trick_reader:TRICK\n")
    monkeypatch.syspath_prepend(str(site))
    folder = tmp_path / "files"
    folder.mkdir()
    yield folder
    sys.modules.pop("trick_reader", None)


def read_all(folder: Path, **options) -> dict[str, Document]:
    settings = ExtractSettings(**options)
    with Workers(settings) as workers:
        return {doc.source.path: doc for doc in workers.documents(discover([folder], settings, root=folder))}


def test_a_file_that_ends_its_process_costs_only_itself(tricks: Path) -> None:
    (tricks / "a.trick").write_text("fine")
    (tricks / "b.trick").write_text("abort")
    (tricks / "c.txt").write_text("fine too")
    read = read_all(tricks, workers=1)
    assert [(name, doc.status) for name, doc in read.items()] == [
        ("a.trick", Status.OK),
        ("b.trick", Status.CRASHED),
        ("c.txt", Status.OK),
    ]
    assert read["b.trick"].reason == "the reader's process ended with signal 6"


def test_a_file_that_hangs_times_out(tricks: Path) -> None:
    (tricks / "a.trick").write_text("hang")
    (tricks / "b.txt").write_text("fine")
    read = read_all(tricks, workers=1, timeout_s=2)
    assert (read["a.trick"].status, read["a.trick"].reason) == (Status.TIMEOUT, "took longer than timeout_s = 2")
    assert read["b.txt"].status is Status.OK


def test_a_file_that_grows_is_stopped_at_the_limit(tricks: Path) -> None:
    (tricks / "a.trick").write_text("grow")
    (tricks / "b.txt").write_text("fine")
    read = read_all(tricks, memory_mb=512)
    assert (read["a.trick"].status, read["a.trick"].reason) == (Status.CRASHED, "needs more than memory_mb = 512")
    assert read["b.txt"].status is Status.OK


def test_what_a_reader_raises_or_prints_stays_with_its_file(tricks: Path) -> None:
    (tricks / "a.trick").write_text("raise")
    (tricks / "b.trick").write_text("print")
    read = read_all(tricks)
    assert (read["a.trick"].status, read["a.trick"].reason) == (Status.DAMAGED, "ValueError: what a surprise")
    assert read["b.trick"].text == "print"


def test_a_process_that_was_ended_from_outside_is_replaced_and_the_file_tried_again(tricks: Path) -> None:
    for name in "abc":
        (tricks / f"{name}.txt").write_text(name)
    settings = ExtractSettings(workers=1)
    with Workers(settings) as workers:
        files = list(discover([tricks], settings, root=tricks))
        assert [doc.text for doc in workers.documents(files[:1])] == ["a"]
        (worker,) = workers._live
        worker.process.kill()
        assert [doc.text for doc in workers.documents(files[1:])] == ["b", "c"]


def test_a_worker_of_a_large_process_is_not_taken_for_a_large_one(tricks: Path) -> None:
    (tricks / "a.txt").write_text("a")
    large = bytearray(b"x") * (1100 << 20)
    settings = ExtractSettings(workers=1)
    with Workers(settings) as workers:
        for _ in range(2):
            list(workers.documents(discover([tricks], settings, root=tricks)))
        (worker,) = workers._live
        assert worker.files == 2
    assert len(large) == 1100 << 20


def test_workers_give_what_reading_in_process_gives_in_the_order_given(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.md").write_text(f"# Title {number}\n\ntext \U0001f600 {number}\n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing else")
    (tmp_path / ".hidden").write_text("not read")
    settings = ExtractSettings(workers=2)
    files = list(discover([tmp_path], settings, root=tmp_path))
    with Workers(settings) as workers:
        assert list(workers.documents(files)) == [read_document(one, settings) for one in files]


def test_a_module_in_the_indexed_folder_is_never_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the indexed folder')")
    monkeypatch.chdir(tmp_path)
    assert read_all(tmp_path)["json.py"].status is Status.OK


def test_leaving_early_ends_all_processes(tricks: Path) -> None:
    (tricks / "a.txt").write_text("quick")
    (tricks / "b.trick").write_text("hang")
    settings = ExtractSettings(workers=2)
    with Workers(settings) as workers:
        files = list(discover([tricks], settings, root=tricks))
        assert next(workers.documents(files[:1])).text == "quick"
        pending = workers.documents(files)
        workers._threads.submit(lambda: list(pending))
        live = set(workers._live)
        deadline = time.monotonic() + 20
        while len(workers._live) < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        live |= workers._live
    assert live
    assert all(worker.process.poll() is not None for worker in live)


def test_a_file_that_vanishes_or_is_no_file_is_unreadable(tmp_path: Path) -> None:
    settings = ExtractSettings()
    (tmp_path / "a.txt").write_text("here")
    (found,) = discover([tmp_path], settings, root=tmp_path)
    found.path.unlink()
    assert read_document(found, settings).status is Status.UNREADABLE
    os.mkfifo(found.path)
    assert read_document(found, settings).reason == "not a regular file"
    found.path.unlink()
    found.path.symlink_to("/etc/hostname")
    assert read_document(found, settings).status is Status.UNREADABLE


def test_a_file_that_grew_after_it_was_found_is_too_large(tmp_path: Path) -> None:
    settings = ExtractSettings(max_file_mb=0.001)
    (tmp_path / "a.txt").write_text("small")
    (found,) = discover([tmp_path], settings, root=tmp_path)
    found.path.write_bytes(b"x" * 2000)
    assert read_document(found, settings).status is Status.TOO_LARGE


def test_documents_survive_the_pipe() -> None:
    document = Document(
        Source("a\udcff.txt", "00", 3, 4, "text", "utf-8", 3, "text/1"),
        Status.PARTIAL,
        "reason",
        "text with \ud800 and \U0001f600",
        (Block(0, 4, "section", "title", "hidden", 2), Block(1, 2, "paragraph", parent=0)),
        PositionMap("runs", b"\x00\x01"),
        (Warn("code", "message", 7),),
        {"title": "é"},
    )
    assert wire.document_of(wire.document_parts(document)) == document


def test_the_isolated_process_answers_each_request_until_its_input_ends(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    settings = ExtractSettings(memory_mb=1 << 20)
    (found,) = discover([tmp_path], settings, root=tmp_path)
    requests, answers = BytesIO(), BytesIO()
    wire.write_parts(requests.write, [wire.settings_bytes(settings), *[wire.found_bytes(found)] * 2])
    requests.seek(0)
    isolated.serve(requests, answers)
    answers.seek(0)
    assert wire.read_parts(answers.read, 1) == [b"ready"]
    for _ in range(2):
        *parts, peak = wire.read_parts(answers.read, wire.DOCUMENT_PARTS + 1)
        assert wire.document_of(parts).text == "hello"
        assert int(peak) > 1


def test_the_isolated_process_draws_pages(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(lines("hello there")))
    marks = (Mark((30, 345, 60, 360), (255, 0, 0)),)
    requests, answers = BytesIO(), BytesIO()
    asked = [
        wire.drawing_bytes(tmp_path / "a.pdf", Drawing(1, marks, "hello there", ((0, 5),))),
        wire.drawing_bytes(tmp_path / "a.pdf", Drawing(1, marks, "other text", ((0, 5),))),
        wire.drawing_bytes(tmp_path / "a.pdf", Drawing(7)),
    ]
    wire.write_parts(requests.write, [wire.settings_bytes(ExtractSettings(memory_mb=1 << 20)), *asked])
    requests.seek(0)
    isolated.serve(requests, answers)
    answers.seek(0)
    wire.read_parts(answers.read, 1)
    shaded, outlined, missing = (wire.read_parts(answers.read, wire.DOCUMENT_PARTS + 1)[0] for _ in asked)
    assert shaded.startswith(b"\x89PNG")
    assert outlined.startswith(b"\x89PNG")
    assert shaded != outlined
    assert missing == b""
    assert draw(b"no PDF", Drawing(1)) == b""


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("raise", Status.DAMAGED, "ValueError: what a surprise"),
        ("recurse", Status.DAMAGED, "nested too deeply"),
        ("starve", Status.CRASHED, "needs more than memory_mb = 2048"),
    ],
)
def test_what_a_reader_raises_is_the_reason(tricks: Path, text: str, status: Status, reason: str) -> None:
    (tricks / "a.trick").write_text(text)
    (found,) = discover([tricks], ExtractSettings(), root=tricks)
    formats._plugin_formats.cache_clear()
    document = read_document(found, ExtractSettings())
    formats._plugin_formats.cache_clear()
    assert (document.status, document.reason) == (status, reason)


def test_an_answer_that_makes_no_sense_is_the_end_of_the_stream() -> None:
    with pytest.raises(EOFError, match="nonsense"):
        wire.read_parts(BytesIO(b"\xff" * 8).read, 1)
    with pytest.raises(EOFError, match="gone"):
        wire.read_parts(BytesIO(b"\x01").read, 1)
