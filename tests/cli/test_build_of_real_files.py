"""A build over what people really have: it ends well, and each file that can't be found later is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_index.cli.app import main
from tests.unit.extract.test_worker import tricks  # noqa: F401 (a fixture)

CASES = Path(__file__).resolve().parents[2] / ".." / "shared" / "cases" / "extraction"


@pytest.mark.skipif(not CASES.exists(), reason="the shared cases are not on this machine")
def test_real_files_are_indexed_or_named_with_their_status(tmp_path: Path, capsys) -> None:
    rows = [json.loads(line) for line in (CASES / "index.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        (tmp_path / row["file"]).write_bytes((CASES / row["file"]).read_bytes())
    assert main(["build", str(tmp_path), "--model", "hash", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    wrong = {row["file"]: row["expect"] for row in rows if row["expect"] not in {"ok", "partial"}}
    assert len(rows) == 28
    assert wrong
    assert {file["path"]: file["status"] for file in report["skipped"]} == wrong
    assert main(["status", "--index", str(tmp_path / ".rag-index")]) == 0
    shown = capsys.readouterr().out
    assert [name for name in wrong if name not in shown] == []


def test_a_file_that_ends_its_reader_is_named_and_the_others_are_found(tricks: Path, capsys) -> None:  # noqa: F811
    (tricks / "bad.trick").write_text("abort")
    (tricks / "good.txt").write_text("the pump hums\n")
    assert main(["build", str(tricks), "--model", "hash", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [(file["path"], file["status"]) for file in report["skipped"]] == [("bad.trick", "crashed")]
    assert main(["query", "pump", "--index", str(tricks / ".rag-index"), "--json"]) == 0
    assert "the pump hums" in capsys.readouterr().out
