"""What an evaluation is asked for: tables, flags, and the settings file that takes the answer."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from rag_index.errors import ConfigError, UsageError
from rag_index.evaluate.adopt import adopt
from rag_index.evaluate.grid import Grid
from rag_index.evaluate.plan import read_plan
from rag_index.evaluate.scoring import BUDGETS
from rag_index.settings import Settings, load_settings


def write(tmp_path, text: str):
    file = tmp_path / "sweep.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_nothing_given_measures_the_settings_at_hand():
    plan = read_plan({"sizes": None}, None)
    assert plan.grid == Grid()
    assert (plan.measure.k, plan.measure.budgets, plan.metric) == (5, BUDGETS, "recall@3000")


def test_flags_are_lists():
    plan = read_plan({"sizes": "200,500", "overlaps": "0, 0.25", "chunkers": "character,sentence", "k": "3"}, None)
    assert plan.grid == Grid(chunkers=("character", "sentence"), sizes=(200, 500), overlaps=("0", "0.25"))
    assert plan.measure.k == 3


def test_the_table_of_a_settings_file_is_read_and_flags_come_before_it(tmp_path):
    file = write(
        tmp_path, '[sweep]\nsizes = [200, 500]\noverlaps = [0, 0.25]\nmodes = ["dense"]\nk = 4\n[chunk]\nsize = 9\n'
    )
    assert read_plan({}, file).grid == Grid(sizes=(200, 500), overlaps=("0", "0.25"), modes=("dense",))
    plan = read_plan({"sizes": "300", "k": None}, file)
    assert (plan.grid.sizes, plan.measure.k) == ((300,), 4)


def test_the_profile_for_sweeps_is_a_grid():
    plan = read_plan({}, Path(__file__).resolve().parents[3] / "configs" / "sweep.toml")
    assert plan.grid == Grid(("character", "sentence"), (200, 500, 1000), ("0", "0.2"))


def test_the_settings_leave_the_table_alone(tmp_path):
    assert load_settings(config=write(tmp_path, "[sweep]\nsizes = [1]\n"), environ={}).settings == Settings()


@pytest.mark.parametrize(
    ("flags", "budgets"),
    [
        ({"metric": "recall@1500"}, (500, 1000, 1500, 2000, 3000, 4000, 6000)),
        ({"budgets": "800,1600"}, (800, 1600, 3000)),
        ({"budgets": "800,1600", "metric": "iou@k"}, (800, 1600)),
    ],
    ids=["a new budget", "the default metric", "a metric without a budget"],
)
def test_what_decides_is_measured(flags, budgets):
    assert read_plan(flags, None).measure.budgets == budgets


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"sizes": "200,x"}, "sizes: 'x' is no whole number"),
        ({"sizes": "200,,300"}, "sizes is '200,,300' but must be a list"),
        ({"budgets": "0"}, "budget is 0 but must be at least 1"),
        ({"k": "0"}, "k is 0"),
        ({"k": "many"}, "k: 'many' is no whole number"),
        ({"metric": "recal@3000"}, "unknown metric 'recal@3000'"),
    ],
)
def test_a_flag_that_can_not_be_meant_is_refused(flags, words):
    with pytest.raises(UsageError) as caught:
        read_plan(flags, None)
    assert words in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sweep", "is not valid TOML"),
        ("sweep = 3", "sweep is no table"),
        ("[sweep]\nsize = [3]", "unknown setting 'sweep.size'"),
        ("[sweep]\nmodes = [true]", "modes is [True] but must be a list"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path, text, words):
    with pytest.raises(UsageError) as caught:
        read_plan({}, write(tmp_path, text))
    assert words in str(caught.value)


def test_a_settings_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="can't read"):
        read_plan({}, tmp_path / "none.toml")


def cell():
    return Grid(("sentence",), (500,), ("50",), modes=("dense",), passages=("chunk",), models=("hash",)).cells(
        Settings()
    )[0][0]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param(
            "# mine\n[chunk]\nsize = 99  # small\nlanguage = 'fr'\n\n[extract]\nhidden = true\n", id="with others"
        ),
        pytest.param("[search]\nlimit = 9\n[chunk]", id="a header at the end"),
        pytest.param('[chunk] # here\noverlap=1\n[search]\nmode = "hybrid"', id="a comment at the header"),
    ],
)
def test_the_recommended_settings_go_into_the_file_and_the_rest_stays(tmp_path, text):
    file = write(tmp_path, text)
    before = tomllib.loads(text)
    wanted = adopt(cell(), file)
    after = tomllib.loads(file.read_text(encoding="utf-8"))
    assert after == {**before, **{table: {**before.get(table, {}), **values} for table, values in wanted.items()}}
    assert all(line in file.read_text(encoding="utf-8") for line in text.splitlines() if line.startswith("#"))
    settings = load_settings(config=file, environ={}).settings
    assert (settings.chunk.chunker, settings.chunk.size, settings.search.mode) == ("sentence", 500, "dense")
    once = file.read_text(encoding="utf-8")
    adopt(cell(), file)
    assert file.read_text(encoding="utf-8") == once


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[chunk", "is not valid TOML"),
        ("chunk.size = 3", "can't be edited line by line"),
        ("chunk = {size = 3}", "line by line"),
    ],
)
def test_a_file_that_can_not_be_edited_is_left_alone(tmp_path, text, words):
    file = write(tmp_path, text)
    with pytest.raises(ConfigError, match=words):
        adopt(cell(), file)
    assert file.read_text(encoding="utf-8") == text


def test_a_file_that_can_not_be_written_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="can't write"):
        adopt(cell(), tmp_path / "none" / "rag-index.toml")
