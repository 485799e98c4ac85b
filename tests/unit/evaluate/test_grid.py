"""Which configurations a grid spells out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag_index.errors import UsageError
from rag_index.evaluate.grid import Grid, names
from rag_index.settings import ChunkSettings, SearchSettings, Settings


def shape(grid: Grid, base: Settings | None = None) -> list[tuple[int, int]]:
    return [(cell.chunk.size, cell.chunk.overlap) for cell in grid.cells(base or Settings())[0]]


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        pytest.param(Grid(), [(1000, 200)], id="nothing given: the settings at hand"),
        pytest.param(
            Grid(sizes=(500, 1000)), [(500, 100), (1000, 200)], id="sizes alone keep the share of the overlap"
        ),
        pytest.param(Grid(overlaps=("0", "100")), [(1000, 0), (1000, 100)], id="overlaps in units"),
        pytest.param(Grid(sizes=(200, 500), overlaps=("0.25",)), [(200, 50), (500, 125)], id="overlap as a share"),
        pytest.param(Grid(sizes=(10, 20), overlaps=("0.1", "2")), [(10, 1), (10, 2), (20, 2)], id="each one once"),
        pytest.param(Grid(sizes=(100,), overlaps=("0", "100", "1.0")), [(100, 0)], id="overlap >= size is left out"),
    ],
)
def test_sizes_and_overlaps(grid, expected):
    assert shape(grid) == expected


def test_what_is_left_out_is_said():
    _, warnings = Grid(sizes=(100, 500), overlaps=("0", "100")).cells(Settings())
    assert [warning.message for warning in warnings] == [
        "character 100 with overlap 100 is left out: overlap must be less than the size"
    ]


def test_all_dimensions_are_combined_and_everything_else_stays():
    base = Settings(chunk=ChunkSettings(sections=True), search=SearchSettings(context=1))
    grid = Grid(
        ("character", "sentence"),
        (500,),
        ("0",),
        ("characters", "tokens"),
        ("hash", "m"),
        ("dense",),
        ("chunk", "sentence"),
    )
    cells, _ = grid.cells(base)
    assert len(cells) == 16
    assert all(cell.chunk.sections and cell.search.context == 1 for cell in cells)
    assert len({cell.key for cell in cells}) == 16
    assert len({cell.build_key for cell in cells}) == 8


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (Grid(sizes=(100,), overlaps=("100",)), "no configuration is left"),
        (Grid(overlaps=("x",)), "overlap 'x' is no number"),
        (Grid(overlaps=("-5",)), "overlap is -5 but must be at least 0"),
        (Grid(sizes=(0,)), "no configuration is left"),
        (Grid(sizes=(-5,), overlaps=("0",)), "no configuration is left"),
        (Grid(modes=("fuzzy",)), "search.mode: unknown value 'fuzzy'"),
    ],
)
def test_what_can_not_be_meant_is_refused(grid, words):
    with pytest.raises(UsageError) as caught:
        grid.cells(Settings())
    assert words in str(caught.value)


def test_names_say_what_differs_and_no_more():
    cells, _ = Grid(sizes=(200, 500), overlaps=("0",)).cells(Settings())
    assert names(cells) == ["character 200/0", "character 500/0"]
    more = [replace(cells[0], search=SearchSettings(mode=mode)) for mode in ("dense", "hybrid")]
    assert names(more) == ["character 200/0 dense", "character 200/0 hybrid"]
    assert names([]) == []
