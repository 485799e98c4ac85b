from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_index.errors import UsageError
from rag_index.evaluate.speed import measure_speed
from rag_index.settings import EmbedSettings, Settings

HASH = replace(Settings(), embed=EmbedSettings(model="hash"))


def test_a_measurement_counts_what_was_built_and_leaves_nothing_beside_the_files(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.txt").write_text(f"Room {number} has a pump. " * 60)
    speed = measure_speed([tmp_path], HASH)
    assert (speed.files, speed.engine, speed.model) == (12, "hash", "hash")
    assert speed.chunks >= 12
    assert speed.tokens > 0
    assert 0 <= speed.waited < 1
    assert 0 < speed.model_s <= speed.build_s
    assert 0 < speed.question_ms < speed.warm_ms
    assert speed.cold_s > 0
    assert speed.padding is None
    assert len(list(tmp_path.iterdir())) == 12


def test_no_more_files_are_taken_than_asked_for(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.txt").write_text("pump " * 2_000)
    speed = measure_speed([tmp_path], HASH, most_mb=0.05)
    assert 1 <= speed.files <= 5
    assert speed.megabytes <= 0.05


def test_where_there_are_no_files_nothing_can_be_measured(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files"):
        measure_speed([tmp_path], HASH)
