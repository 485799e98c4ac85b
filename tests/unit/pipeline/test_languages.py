"""What a model can't read is said as soon as enough was read to tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_index.embed.hashing import HashEmbedder
from rag_index.pipeline import build
from rag_index.pipeline.languages import NAMES, advice, knows, language_of, unread
from rag_index.pipeline.report import BuildReport
from rag_index.settings import ChunkSettings, EmbedSettings, Settings
from rag_index.store import LanguageRow, open_snapshot
from rag_index.types import Document, Event, ModelInfo, Source

if TYPE_CHECKING:
    from rag_index.types import Matrix

SETTINGS = Settings(embed=EmbedSettings(model="hash"))
ENGLISH = ModelInfo("small-en", "f", 3, languages=("en",))
SILENT = ModelInfo("silent", "f", 3)
TEXTS = {
    "en.md": "The pump is in the cellar and it has been there for two years, unlike the boat.\n",
    "fr.md": "La pompe est dans la cave et elle est là depuis deux ans, avec le bateau des voisins.\n",
    "ja.md": "ポンプは地下室にあります。二年前からそこにあり、まだ一度も故障していません。\n",
}


class EnglishEmbedder(HashEmbedder):
    """The `hash` embedder, saying that it knows English only, and counting what it embeds."""

    embedded = 0

    @property
    def info(self) -> ModelInfo:
        return replace(super().info, languages=("en",))

    def embed(self, texts: Sequence[str]) -> Matrix:
        self.embedded += len(texts)
        return super().embed(texts)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "my docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text * 3, encoding="utf-8")
    return folder


def built(docs: Path, settings: Settings) -> tuple[BuildReport, list[int]]:
    """Return the report of a build, and how many texts were embedded when each warning came."""
    embedder = EnglishEmbedder(settings.embed)
    embedded: list[int] = []

    def note(event: Event) -> None:
        if event.stage == "warning":
            embedded.append(embedder.embedded)

    return build([docs], docs / ".rag-index", settings, embedder=embedder, report=note), embedded


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        pytest.param(TEXTS["fr.md"], "", "fr", id="what the text shows"),
        pytest.param(TEXTS["fr.md"], "en", "fr", id="the text wins over what the file declares"),
        pytest.param("42", "pt-BR", "pt", id="too little text: what the file declares"),
        pytest.param("42", "", "", id="neither"),
        pytest.param("هذه مضخة مياه جديدة وهي في القبو منذ عامين", "", "ar", id="written from right to left"),
    ],
)
def test_the_language_of_a_document(text, declared, language) -> None:
    assert language_of(Document(Source("x"), text=text, meta={"language": declared})) == language


@pytest.mark.parametrize(
    ("model", "row", "known"),
    [
        pytest.param(ENGLISH, LanguageRow("en", 1, 100, 0), True, id="made for it"),
        pytest.param(ENGLISH, LanguageRow("fr", 1, 100, 0), False, id="made for another"),
        pytest.param(ENGLISH, LanguageRow("", 1, 100, 2), True, id="language not recognised, tokens known"),
        pytest.param(ENGLISH, LanguageRow("", 1, 100, 40), False, id="language not recognised, tokens unknown"),
        pytest.param(SILENT, LanguageRow("fr", 1, 100, 0), True, id="model says nothing, tokens known"),
        pytest.param(SILENT, LanguageRow("zh", 1, 100, 38), False, id="model says nothing, tokens unknown"),
    ],
)
def test_whether_a_model_knows_a_language(model, row, known) -> None:
    assert knows(model, row) is known


@pytest.mark.parametrize(("tokens", "named"), [(49, []), (50, ["fr"])])
def test_a_language_counts_from_five_percent_on(tokens, named) -> None:
    rows = [LanguageRow("en", 9, 1000 - tokens), LanguageRow("fr", 1, tokens)]
    assert [row.language for row in unread(ENGLISH, rows)] == named


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param(
            [LanguageRow("en", 5, 600, 0), LanguageRow("fr", 2, 250, 0), LanguageRow("ja", 1, 150, 30)],
            "small-en does not know French (25% of the text), Japanese (15% of the text, 20% of its tokens unknown): "
            "found by their words alone. Run: rag-index build docs --model use-multilingual",
            id="the packaged model reads them",
        ),
        pytest.param(
            [LanguageRow("sv", 1, 10, 0)],
            "small-en does not know Swedish (100% of the text): found by their words alone. "
            "Take a model that knows it: rag-index build docs --model NAME",
            id="neither model reads it",
        ),
        pytest.param(
            [LanguageRow("", 1, 10, 9)],
            "small-en does not know a language that was not recognised (100% of the text, 90% of its tokens unknown): "
            "found by their words alone. Take a model that knows it: rag-index build docs --model NAME",
            id="not even its name is known",
        ),
    ],
)
def test_the_advice_names_shares_and_the_command_that_mends_it(rows, message) -> None:
    warning = advice(ENGLISH, rows, "docs")
    assert warning
    assert warning.message.replace("python -m pip install 'rag-index[multilingual]' && ", "") == message


@pytest.mark.parametrize("rows", [[], [LanguageRow("en", 1, 10, 0)]])
def test_there_is_no_advice_where_none_is_needed(rows) -> None:
    assert advice(ENGLISH, rows, "docs") is None


def test_a_build_warns_once_and_before_it_embeds(docs) -> None:
    done, embedded = built(docs, SETTINGS)
    assert embedded == [0]
    (warning,) = done.warnings
    assert "French (" in warning.message
    assert "Japanese (" in warning.message
    assert f"rag-index build '{docs}' --model use-multilingual" in warning.message


@pytest.mark.parametrize(
    ("files", "share"),
    [
        pytest.param(5, "French (51% of the text)", id="all of a small corpus"),
        pytest.param(90, "French (13% of the text)", id="the first 1,024 chunks of a larger one"),
    ],
)
def test_the_warning_tells_the_shares_of_what_was_read_before_the_model_begins(
    monkeypatch, tmp_path, files, share
) -> None:
    # However slow this machine is, the first unit is a full one.
    monkeypatch.setattr("rag_index.pipeline.unit.FIRST_S", 1000)
    for language in ("en", "fr"):
        for number in range(files):
            text = "".join(f"{TEXTS[language + '.md']}{number} {line}\n\n" for line in range(10))
            (tmp_path / f"{language}{number:03}.md").write_text(text, "utf-8")
    settings = replace(SETTINGS, chunk=ChunkSettings(size=100, overlap=0))
    done, embedded = built(tmp_path, settings)
    (warning,) = done.warnings
    assert done.chunks.live == 20 * files
    assert share in warning.message
    assert embedded == [0]


def test_a_dry_run_warns_as_the_build_would(docs) -> None:
    embedder = EnglishEmbedder(SETTINGS.embed)
    index = docs / ".rag-index"
    rehearsed = build([docs], index, SETTINGS, embedder=embedder, dry_run=True)
    assert not embedder.embedded
    assert rehearsed.warnings == build([docs], index, SETTINGS, embedder=embedder).warnings != []
    assert build([docs], index, SETTINGS, embedder=embedder, dry_run=True).warnings == []


def test_a_source_too_slow_to_show_its_languages_is_judged_when_it_has(monkeypatch, docs) -> None:
    # The model begins with the first document, not after two seconds of them.
    monkeypatch.setattr("rag_index.pipeline.unit.FIRST_S", 0)
    done, embedded = built(docs, SETTINGS)
    assert len(done.warnings) == 1
    assert embedded != [0]


def test_a_build_that_embeds_nothing_warns_of_nothing(docs) -> None:
    embedder = EnglishEmbedder(SETTINGS.embed)
    build([docs], docs / ".rag-index", SETTINGS, embedder=embedder)
    assert build([docs], docs / ".rag-index", SETTINGS, embedder=embedder).warnings == []


def test_a_model_that_knows_every_token_is_not_warned_about(docs) -> None:
    assert build([docs], docs / ".rag-index", SETTINGS).warnings == []


def test_the_report_and_the_index_say_how_much_is_in_which_language(docs) -> None:
    done = build([docs], docs / ".rag-index", SETTINGS)
    with open_snapshot(docs / ".rag-index") as snapshot:
        assert snapshot.by_language() == done.languages
        languages = {row.path: row.language for row in snapshot.documents()}
    assert languages == {"en.md": "en", "fr.md": "fr", "ja.md": "ja"}
    assert sum(row.tokens for row in done.languages) == done.tokens.seen
    assert [row.tokens for row in done.languages] == sorted((row.tokens for row in done.languages), reverse=True)


def test_every_language_that_is_recognised_has_a_name() -> None:
    from rag_index.chunk.languages import _SCRIPTS, STOP_WORDS

    assert {*STOP_WORDS, *(language for language, _ in _SCRIPTS)} <= NAMES.keys()


@pytest.mark.model
def test_the_default_model_is_said_not_to_know_french_and_japanese(docs) -> None:
    done = build([docs], docs / ".rag-index", Settings())
    (warning,) = done.warnings
    assert warning.message.startswith("sentence-transformers/all-MiniLM-L6-v2 does not know ")
    japanese = next(row for row in done.languages if row.language == "ja")
    share = japanese.tokens / sum(row.tokens for row in done.languages)
    assert f"Japanese ({share:.0%} of the text" in warning.message
