from __future__ import annotations

import pytest

from rag_index.embed.languages import MULTILINGUAL_LANGUAGES, declared_languages, multilingual_installed


@pytest.mark.parametrize(
    ("card", "languages"),
    [
        pytest.param("---\nlanguage: en\nlicense: mit\n---\n# Model\n", ("en",), id="one"),
        pytest.param(
            "---\nlicense: mit\nlanguage:\n- pt\n- fr\ntags:\n- de\n---\n", ("fr", "pt"), id="a list of lines"
        ),
        pytest.param("---\nlanguage: [ja, en]\n---\n", ("en", "ja"), id="a list in brackets"),
        pytest.param("---\nlanguage: multilingual\n---\n", (), id="no code"),
        pytest.param("---\nlicense: mit\n---\nlanguage: en\n", (), id="only in the text"),
        pytest.param("# Model\n\nlanguage: en\n", (), id="no front matter"),
    ],
)
def test_a_model_card_names_its_languages(tmp_path, card, languages) -> None:
    (tmp_path / "README.md").write_text(card, encoding="utf-8")
    assert declared_languages(tmp_path) == languages


def test_a_model_without_a_card_names_none(tmp_path) -> None:
    assert declared_languages(tmp_path) == ()


def test_the_multilingual_package_is_looked_for_without_importing_it() -> None:
    assert multilingual_installed() in {True, False}
    assert len(MULTILINGUAL_LANGUAGES) == 15
