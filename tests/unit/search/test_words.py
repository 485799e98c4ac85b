"""The question's words are found in any spelling, where they stand."""

import pytest

from rag_index.search.words import Weights
from rag_index.store.keywords import parse_question, question_terms


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("warranties", "A Warranty, two WARRANTIES.", ["Warranty", "WARRANTIES"]),
        ("run", "running rune runs", ["running", "runs"]),
        ("résumé", "Resume and RÉSUMÉ", ["Resume", "RÉSUMÉ"]),
        ("resume", "Resume and RÉSUMÉ", ["Resume", "RÉSUMÉ"]),
        ("resume", "re\u0301sume\u0301 done", ["re\u0301sume\u0301"]),
        ("oeuvre", "Une œuvre", ["œuvre"]),
        ("strasse", "Die Straße", ["Straße"]),
        ("user", "getUserName user_name", ["UserName", "user"]),
        ("東京", "東京都と東京", ["東京", "東京"]),
        ("東京都", "東京都", ["東京", "京都"]),
        ("pump", "no such word", []),
    ],
)
def test_words_are_found(question, text, marked):
    terms = question_terms(parse_question(question))
    weights = Weights.of(terms, dict.fromkeys(terms, 1), 100)
    assert [text[hit.start : hit.end] for hit in weights.find(text)] == marked


def test_frequent_terms_are_left_out_where_rarer_ones_are_found():
    weights = Weights.of(["pump", "seal"], {"pump": 9000, "seal": 3}, 20_000)
    assert weights.common(5000) == {"pump"}
    assert Weights.of(["pump"], {"pump": 9000}, 20_000).common(5000) == set()


def test_a_share_lies_between_0_and_1():
    weights = Weights.of(["pump"], {"pump": 1}, 10)
    assert [weights.share(value) for value in (-1, 0, 1e9)] == [0, 0, 1]
    assert Weights.of([], {}, 0).share(3) == 0
