from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rag_index.chunk import check_chunker, chunk
from rag_index.chunk.languages import PUNKT
from rag_index.chunk.sentences import Sentences
from rag_index.errors import UnknownNameError
from rag_index.settings import ChunkSettings

sys.path.insert(0, str(Path(__file__).parent))
from labelled import LANGUAGES, f1, load


def sentences(text: str, language: str = "auto") -> list[str]:
    found, begin = [], 0
    for end, start in Sentences(text, language).ends():
        found.append(text[begin:end].strip())
        begin = start
    return [part for part in [*found, text[begin:].strip()] if part]


@pytest.mark.parametrize("language", LANGUAGES)
def test_borders_of_the_labelled_sentences_are_found(language):
    text, gold = load(language)
    found = [len(text[:end].rstrip()) for end, _ in Sentences(text).ends()]
    assert len(gold) >= 80
    assert f1(gold, [*found, len(text)]) >= 0.95


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("No. 5 is out. Is it? No. We left.", ["No. 5 is out.", "Is it?", "No.", "We left."], id="no"),
        pytest.param("“Go!” she said. He went.", ["“Go!” she said.", "He went."], id="speech goes on"),
        pytest.param("Wait... Then run. I... see.", ["Wait...", "Then run.", "I... see."], id="three stops"),
        pytest.param("He left… She stayed… and sang.", ["He left…", "She stayed… and sang."], id="ellipsis"),
        pytest.param("See a.b.c.com/x.y?z=1. Then go.", ["See a.b.c.com/x.y?z=1.", "Then go."], id="address"),
        pytest.param("It is 3.5 kg. It fits.", ["It is 3.5 kg.", "It fits."], id="decimal"),
        pytest.param("1. Open it.\n2. Close it.", ["1. Open it.", "2. Close it."], id="numbered items"),
        pytest.param("- one\n- two\n* three", ["- one", "- two", "* three"], id="items"),
        pytest.param("# Is 1. first?\nText. More.", ["# Is 1. first?", "Text.", "More."], id="heading"),
        pytest.param("Head\n\nText one", ["Head", "Text one"], id="blank line"),
        pytest.param("Head\r\n\r\nText one", ["Head", "Text one"], id="blank line of CRLF"),
        pytest.param("Code:\n```\nx = 1. \n```\nEnd.", ["Code:", "```", "x = 1.", "```", "End."], id="fence"),
        pytest.param("値は３．５です。終わり。", ["値は３．５です。", "終わり。"], id="full-width decimal"),
        pytest.param("本当！？はい。", ["本当！？", "はい。"], id="two stops"),
        pytest.param("「行こう。」と言った。次。", ["「行こう。」と言った。", "次。"], id="quotation goes on"),
        pytest.param("「行こう。」彼は立った。", ["「行こう。」", "彼は立った。"], id="quotation ends"),
        pytest.param("Yahoo! is old. Stop!", ["Yahoo! is old.", "Stop!"], id="name with a stop"),
        pytest.param("It came. Sgt. Miles saw it.", ["It came.", "Sgt. Miles saw it."], id="title"),
        pytest.param("It is fair. E. B. White wrote it.", ["It is fair.", "E. B. White wrote it."], id="initials"),
        pytest.param("(It rained.) We stayed.", ["(It rained.)", "We stayed."], id="bracket"),
        pytest.param("a" * 2000 + ". Next one.", ["a" * 2000 + ".", "Next one."], id="long word"),
        pytest.param("", [], id="empty"),
    ],
)
def test_a_sentence_ends_where_a_reader_says(text, expected):
    assert sentences(text, "ja" if not text.isascii() and "。" in text else "en") == expected


SAMPLES = {
    "cs": "Dr. Novák přišel v 9 hodin. Potom odešel.", "da": "Han kom kl. 9 til mødet. Så gik han hjem.",
    "de": "Sie fuhr z.B. nach Berlin. Er blieb hier.", "el": "Ο Γιώργος έφυγε χθες. Η Μαρία έμεινε.",
    "en": "Dr. Hall left at nine. She stayed.", "es": "El Sr. Gil salió a las nueve. Ella se quedó.",
    "et": "Jaan tuli koju hilja. Mari jäi sinna.", "fi": "Matti tuli kotiin illalla. Liisa jäi sinne.",
    "fr": "Mme. Roy est partie à neuf heures. Il est resté.", "it": "Il sig. Neri partì alle nove. Lei rimase.",
    "ml": "അവൻ വീട്ടിൽ പോയി. അവൾ അവിടെ നിന്നു.", "nl": "De heer Vis vertrok om negen uur. Zij bleef.",
    "no": "Han kom hjem sent. Hun ble der.", "pl": "Pan Nowak wyszedł o dziewiątej. Ona została.",
    "pt": "O Sr. Pinto saiu às nove. Ela ficou.", "ru": "Иван ушёл вечером. Мария осталась.",
    "sl": "Janez je odšel zvečer. Ana je ostala.", "sv": "Han kom hem sent. Hon stannade kvar.",
    "tr": "Ali akşam eve gitti. Ayşe orada kaldı.",
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(PUNKT))
def test_every_punkt_language_cuts_two_sentences_in_two(language):
    assert len(sentences(SAMPLES[language], language)) == 2
    assert len(list(chunk(SAMPLES[language], "sentence", len(SAMPLES[language]) - 1, 0, language=language))) == 2


def test_each_passage_of_a_mixed_document_has_the_rules_of_its_own_language():
    english = "Nobody knows what the engineers did with it, and that is all there is to say. " * 110
    french = "Personne ne sait ce que les ingénieurs en ont fait, et c'est tout pour cette fois. " * 110
    last = "Voir le vol. Dupont pour la suite."
    assert sentences(english + french + last)[-1] == last


@pytest.mark.parametrize("language", ["ja", "zh", "ko", "th", "auto"])
def test_languages_without_a_model_are_accepted(language):
    check_chunker(ChunkSettings("sentence", language=language))


def test_an_unknown_language_is_an_error_before_any_work():
    with pytest.raises(UnknownNameError, match="unknown language 'xx'"):
        chunk("One. Two.", "sentence", language="xx")


def test_a_sentence_longer_than_a_chunk_is_cut_like_any_text_and_nothing_is_lost():
    text = "Short one. " + "Word " * 40 + "end. Last one."
    parts = [item.text for item in chunk(text, "sentence", 50, 10)]
    assert parts[0] == "Short one."
    assert parts[-1].endswith("Last one.")
    assert all(len(part) <= 50 for part in parts)


def test_the_overlap_is_whole_sentences():
    parts = [item.text for item in chunk("One is. Two is. Three is. Four is.", "sentence", 17, 9)]
    assert parts == ["One is. Two is.", "Two is. Three is.", "Four is."]
