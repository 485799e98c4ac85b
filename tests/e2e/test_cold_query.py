"""Build and query with the real model, in processes of their own that may not use the network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.model

GUARDED = """
import sys
from tests.network import refuse
refused = []
refuse(refused.append)
from rag_index.cli.app import main
code = main(sys.argv[1:])
heavy = {"torch", "transformers", "sentence_transformers", "nltk", "chromadb", "openvino_telemetry"}
print(sorted(heavy & {name.split(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(f"network: {refused}" if refused else code)
"""


def guarded(*arguments: str) -> tuple[dict[str, Any], str]:
    """Run the program; returns its JSON, and which heavy modules it has loaded."""
    command = [sys.executable, "-c", GUARDED, *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.strip().splitlines()[-1]


def test_a_cold_query_loads_no_torch_and_neither_it_nor_the_build_leaves_the_machine(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pump.md").write_text("# Pump\n\nThe repaired pump has a guarantee of one year.\n\nLunch is at noon.\n")
    built, loaded = guarded("build", str(docs), "--quiet")
    assert built["engine"] == "openvino"
    assert built["embedded"] == built["chunks"]["live"]
    assert "torch" not in loaded
    found, loaded = guarded("query", "how long is the warranty", "--index", str(docs / ".rag-index"))
    assert "guarantee of one year" in found["hits"][0]["text"]
    assert loaded == "[]"


def test_chunks_are_shown_without_torch(tmp_path: Path) -> None:
    (tmp_path / "pump.md").write_text("The repaired pump has a guarantee of one year. Lunch is at noon.\n")
    shown, loaded = guarded("chunk", str(tmp_path / "pump.md"))
    assert shown["chunks"][0]["tokens"] > 10
    assert loaded == "[]"
