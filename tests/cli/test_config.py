from __future__ import annotations

import json
import re

import pytest

from rag_index.cli.app import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "rag-index.toml").write_text('[chunk]\nsize = 400\nseparators = ["\\n"]\n')
    monkeypatch.setenv("RAG_INDEX_SEARCH_LIMIT", "7")
    return tmp_path


def test_every_value_is_shown_with_its_origin(folder, snapshot, capsys) -> None:
    assert main(["config", "--near", str(folder), "--mode", "dense", "--no-ignore"]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^\[(\w+)\]$", out, re.MULTILINE) == ["extract", "chunk", "embed", "store", "search"]
    part = out[out.index("[chunk]") : out.index("[embed]")] + out[out.index("[search]") :]
    snapshot(part, "config.txt", replace={str(folder): "<folder>"})


def test_the_same_as_json(folder, capsys) -> None:
    assert main(["config", "--near", str(folder), "--mode", "dense", "--exclude", "a", "--exclude", "b", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == ["extract", "chunk", "embed", "store", "search"]
    assert shown["chunk"]["size"] == {"value": 400, "origin": str(folder / "rag-index.toml")}
    assert shown["chunk"]["overlap"] == {"value": 80, "origin": "a fifth of the size"}
    assert shown["search"]["limit"] == {"value": 7, "origin": "RAG_INDEX_SEARCH_LIMIT"}
    assert shown["search"]["mode"] == {"value": "dense", "origin": "flag"}
    assert shown["extract"]["exclude"] == {"value": ["a", "b"], "origin": "flag"}
    assert shown["embed"]["query_prompt"] == {"value": None, "origin": "default"}


@pytest.mark.parametrize(
    ("toml", "error", "hint"),
    [
        pytest.param(
            "[chunk]\nchunksize = 3\n",
            "<file>: unknown setting 'chunk.chunksize'",
            "Did you mean 'chunk.chunker'?",
            id="key",
        ),
        pytest.param(
            "[chunk\n",
            "<file> is not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 7)",
            "Mend the line that the message names.",
            id="TOML",
        ),
    ],
)
def test_a_wrong_file_is_an_error_with_a_hint(tmp_path, toml, error, hint, capsys) -> None:
    file = tmp_path / "rag-index.toml"
    file.write_text(toml)
    assert main(["config", "--near", str(tmp_path)]) == 2
    assert capsys.readouterr() == ("", f"error: {error}\nhint: {hint}\n".replace("<file>", str(file)))
