from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.errors import ConfigError, UsageError
from rag_index.settings import (
    ChunkSettings,
    EmbedSettings,
    ExtractSettings,
    SearchSettings,
    Settings,
    find_config,
    fingerprint,
    load_settings,
)

NOTHING: dict[str, str] = {}


def test_defaults_hold_where_nothing_is_given(tmp_path) -> None:
    resolved = load_settings(near=tmp_path, environ=NOTHING)
    assert resolved.settings == Settings()
    assert set(resolved.origins.values()) == {"default"}


def test_a_flag_beats_a_variable_beats_the_project_beats_the_user(tmp_path) -> None:
    user = tmp_path / "home" / "rag-index" / "config.toml"
    project = tmp_path / "project" / "rag-index.toml"
    for file in (user, project):
        file.parent.mkdir(parents=True)
    user.write_text("[search]\nlimit = 1\ncontext = 1\nbudget = 1\nmax_per_file = 1\n")
    project.write_text("[search]\ncontext = 2\nbudget = 2\nmax_per_file = 2\n")
    environ = {
        "XDG_CONFIG_HOME": str(tmp_path / "home"),
        "RAG_INDEX_SEARCH_BUDGET": "3",
        "RAG_INDEX_SEARCH_MAX_PER_FILE": "3",
    }
    below = project.parent / "a" / "b"
    below.mkdir(parents=True)

    found = load_settings({"search.max_per_file": 4, "search.limit": None}, near=below, environ=environ)

    search = found.settings.search
    assert (search.limit, search.context, search.budget, search.max_per_file) == (1, 2, 3, 4)
    assert [found.origins[f"search.{name}"] for name in ("limit", "context", "budget", "max_per_file", "mode")] == [
        str(user),
        str(project),
        "RAG_INDEX_SEARCH_BUDGET",
        "flag",
        "default",
    ]


def test_the_user_file_is_in_the_home_where_xdg_is_not_set(tmp_path) -> None:
    file = tmp_path / ".config" / "rag-index" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[search]\nlimit = 9\n")
    assert load_settings(near=tmp_path, environ={"HOME": str(tmp_path)}).settings.search.limit == 9


def test_a_named_file_is_read_instead_of_the_one_found_upward(tmp_path) -> None:
    (tmp_path / "rag-index.toml").write_text("[search]\nlimit = 1\n")
    (tmp_path / "other.toml").write_text("[search]\nlimit = 2\n")
    found = load_settings(near=tmp_path, config=tmp_path / "other.toml", environ=NOTHING)
    assert found.settings.search.limit == 2


def test_the_nearest_file_upward_is_found(tmp_path) -> None:
    (tmp_path / "rag-index.toml").touch()
    assert find_config(tmp_path / "no" / "such") == tmp_path / "rag-index.toml"


@pytest.mark.parametrize(
    ("flags", "expected", "origins"),
    [
        pytest.param({"chunk.size": 500}, (500, 100), ("flag", "a fifth of the size"), id="size alone"),
        pytest.param({"chunk.overlap": 10}, (1000, 10), ("default", "flag"), id="overlap alone"),
        pytest.param({"chunk.size": "50", "chunk.overlap": "0"}, (50, 0), ("flag", "flag"), id="both, as text"),
        pytest.param(
            {"chunk.unit": "tokens"}, (250, 50), ("default for the unit", "a fifth of the size"), id="unit alone"
        ),
        pytest.param(
            {"chunk.unit": "tokens", "chunk.size": 100}, (100, 20), ("flag", "a fifth of the size"), id="both"
        ),
    ],
)
def test_size_follows_the_unit_and_overlap_the_size(tmp_path, flags, expected, origins) -> None:
    found = load_settings(flags, near=tmp_path, environ=NOTHING)
    chunk = found.settings.chunk
    assert (chunk.size, chunk.overlap) == expected
    assert (found.origins["chunk.size"], found.origins["chunk.overlap"]) == origins


@pytest.mark.parametrize(
    ("toml", "message", "hint"),
    [
        pytest.param(
            "[chunk]\nsise = 1\n", "{file}: unknown setting 'chunk.sise'", "Did you mean 'chunk.size'?", id="key"
        ),
        pytest.param("size = 1\n", "{file}: unknown setting 'size'", "Choose one of: ", id="key outside a table"),
        pytest.param(
            "[chunck]\nsize = 1\n", "{file}: unknown setting 'chunck.size'", "Did you mean 'chunk.size'?", id="table"
        ),
        pytest.param("[chunk\n", "{file} is not valid TOML: ", "Mend the line", id="broken TOML"),
        pytest.param(
            "[chunk]\nsize = 'many'\n", "chunk.size is 'many' ({file}) but must be of type int", "Mend", id="word"
        ),
        pytest.param(
            "[chunk]\nsize = true\n", "chunk.size is True ({file}) but must be of type int", "Mend", id="bool"
        ),
        pytest.param(
            "[chunk]\nsize = 1.5\n", "chunk.size is 1.5 ({file}) but must be of type int", "Mend", id="fraction"
        ),
        pytest.param("[embed]\nmodel = 3\n", "embed.model is 3 ({file}) but must be of type str", "Mend", id="number"),
        pytest.param("[chunk]\nsections = 'maybe'\n", "chunk.sections is 'maybe'", "Mend", id="not a bool"),
        pytest.param("[extract]\ninclude = [1]\n", "extract.include is [1]", "Mend", id="list of numbers"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path, toml, message, hint) -> None:
    file = tmp_path / "rag-index.toml"
    file.write_text(toml)
    with pytest.raises(ConfigError) as caught:
        load_settings(near=tmp_path, environ=NOTHING)
    assert caught.value.message.startswith(message.format(file=file))
    assert caught.value.hint.startswith(hint)


def test_a_file_that_is_not_utf8_is_named(tmp_path) -> None:
    (tmp_path / "rag-index.toml").write_bytes(b"[chunk]\n# \xff\n")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        load_settings(near=tmp_path, environ=NOTHING)


def test_a_named_file_that_is_missing_is_an_error(tmp_path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_settings(config=tmp_path / "nowhere.toml", environ=NOTHING)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        pytest.param(("chunk.size", 0), "size is 0 but must be at least 1", id="size"),
        pytest.param(("chunk.overlap", 1000), "overlap is 1000 but must be from 0 to size - 1 (999)", id="overlap"),
        pytest.param(("chunk.overlap", -1), "overlap is -1", id="negative overlap"),
        pytest.param(("chunk.unit", "words"), "chunk.unit: unknown value 'words'", id="unit"),
        pytest.param(("search.limit", 0), "search.limit is 0 but must be at least 1", id="limit"),
        pytest.param(("search.mode", "sparse"), "search.mode: unknown value 'sparse'", id="mode"),
        pytest.param(("embed.engine", "onnx"), "embed.engine: unknown value 'onnx'", id="engine"),
        pytest.param(("extract.memory_mb", 1), "extract.memory_mb is 1 but must be at least 64", id="memory"),
        pytest.param(("extract.max_file_mb", float("nan")), "extract.max_file_mb is nan", id="not a number"),
    ],
)
def test_a_value_out_of_its_range_is_an_error_before_any_work(tmp_path, flag, message) -> None:
    with pytest.raises(UsageError) as caught:
        load_settings(dict([flag]), near=tmp_path, environ=NOTHING)
    assert caught.value.message.startswith(message)


def test_an_unknown_flag_name_is_an_error(tmp_path) -> None:
    with pytest.raises(ConfigError, match="unknown setting"):
        load_settings({"chunk.sise": 1}, near=tmp_path, environ=NOTHING)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("true", True, id="true"),
        pytest.param("0", False, id="0"),
        pytest.param("YES", True, id="YES"),
    ],
)
def test_variables_are_read_as_the_kind_of_their_setting(tmp_path, text, value) -> None:
    environ = {
        "RAG_INDEX_CHUNK_SECTIONS": text,
        "RAG_INDEX_EXTRACT_EXCLUDE": "*.log,tmp/**",
        "RAG_INDEX_EMBED_QUERY_PROMPT": "query: ",
        "RAG_INDEX_EXTRACT_TIMEOUT_S": "2.5",
    }
    found = load_settings(near=tmp_path, environ=environ).settings
    assert found.chunk.sections is value
    assert found.extract.exclude == ("*.log", "tmp/**")
    assert found.embed.query_prompt == "query: "
    assert found.extract.timeout_s == 2.5


PARTS = {
    "extract": st.builds(
        ExtractSettings,
        hidden_text=st.sampled_from(["drop", "flag", "keep"]),
        include=st.lists(st.text()).map(tuple),
        max_file_mb=st.floats(0, 1e6),
        workers=st.integers(0, 64),
    ),
    "chunk": st.builds(ChunkSettings, size=st.integers(300, 9000), separators=st.lists(st.text()).map(tuple)),
    "embed": st.builds(EmbedSettings, model=st.text(min_size=1), query_prompt=st.none() | st.text()),
    "search": st.builds(SearchSettings, limit=st.integers(1, 99), min_score=st.floats(0, 1)),
}


@given(st.builds(Settings, **PARTS))
def test_settings_come_back_whole_from_their_plain_form(settings) -> None:
    assert Settings.from_dict(settings.to_dict()) == settings


def test_stored_settings_of_another_version_are_named() -> None:
    with pytest.raises(ConfigError, match="unknown setting"):
        Settings.from_dict({"chunk": {"colour": "red"}})


def test_the_fingerprint_changes_with_every_chunk_setting() -> None:
    base = ChunkSettings()
    other = {
        "chunker": "window",
        "size": 999,
        "overlap": 1,
        "unit": "tokens",
        "separators": ("\n",),
        "language": "fr",
        "sections": True,
        "heading_context": True,
        "percentile": 50,
        "neighbours": 1,
        "min_size": 7,
    }
    prints = {fingerprint(replace(base, **{name: value})) for name, value in other.items()}
    assert set(other) == {part.name for part in fields(base)}
    assert len(prints | {fingerprint(base)}) == len(other) + 1
    assert fingerprint(base) == fingerprint(ChunkSettings())
