from __future__ import annotations

import json

import pytest

from rag_index.cli.app import main


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("RAG_INDEX_CACHE_DIR", str(folder))
    return folder


def test_cache_tells_what_is_kept(capsys, cache_folder, snapshot) -> None:
    entry = cache_folder / "models" / "0123-1"
    entry.mkdir(parents=True)
    (entry / "about.json").write_text('{"name": "a/model"}')
    (entry / "model.bin").write_bytes(bytes(2_000_000))
    assert main(["cache"]) == 0
    snapshot(capsys.readouterr().out, "cache.txt", replace={str(cache_folder): "CACHE"})
    assert main(["cache", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["vectors"] == {"count": 0, "mb": 0.0, "limit_mb": 2048}
    assert [model["name"] for model in found["models"]] == ["a/model"]


@pytest.mark.parametrize("flags", [["--clear"], ["--clear", "--json"], ["--prune", "0"]])
def test_cache_can_be_made_smaller(capsys, cache_folder, flags) -> None:
    entry = cache_folder / "models" / "0123-1"
    entry.mkdir(parents=True)
    assert main(["cache", *flags]) == 0
    assert entry.exists() == ("--prune" in flags)
    assert capsys.readouterr().out


@pytest.mark.parametrize("as_json", [True, False])
def test_bench_measures_the_files_that_are_named(capsys, tmp_path, as_json) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("The pump stands in the cellar. " * 50)
    assert main(["bench", str(docs), "--model", "hash", "--quiet", *(["--json"] if as_json else [])]) == 0
    out = capsys.readouterr().out
    if as_json:
        found = json.loads(out)
        assert {"tokens_per_s", "padding", "waited", "cold_s", "warm_ms", "question_ms", "build_s"} <= found.keys()
        assert found["files"] == 1
    else:
        assert [line.split()[0] for line in out.splitlines()] == [
            "files", "model", "embedding", "build", "question", "cold",
        ]  # fmt: skip
