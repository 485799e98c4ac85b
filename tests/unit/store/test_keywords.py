"""What words are stored as, what a question asks for, and that FTS5 agrees."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.store.keywords import (
    TOKENIZER,
    find_words,
    fold_word,
    index_terms,
    lesser_terms,
    match_expression,
    parse_question,
    question_terms,
    stem,
)


def matches(text: str, question: str) -> bool:
    expression = match_expression(question)
    with sqlite3.connect(":memory:") as base:
        base.execute(f'CREATE VIRTUAL TABLE words USING fts5(terms, tokenize="{TOKENIZER}")')
        base.execute("INSERT INTO words VALUES (?)", (index_terms(text),))
        found = bool(expression) and base.execute("SELECT 1 FROM words WHERE words MATCH ?", (expression,)).fetchone()
    base.close()
    return bool(found)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param("", "", id="empty"),
        pytest.param(" -- * ( ) \x00", "", id="no word"),
        pytest.param("The Reactor", "the reactor", id="case"),
        pytest.param("Été à Évora", "ete a evora été à évora", id="accents folded, and as written"),
        pytest.param("re\u0301sume\u0301", "resume résumé resum", id="accents as marks of their own"),
        pytest.param(
            "Straße Œuvre Łódź", "strasse oeuvre lodz straße strass œuvre oeuvr łódź", id="letters that fold to two"
        ),
        pytest.param("İstanbul", "istanbul", id="dotted capital I"),
        pytest.param("ﬁne ＡＢＣ", "fine abc", id="ligature and full width"),
        pytest.param("hy\u00adphen", "hyphen", id="soft hyphen"),
        pytest.param("user_name", "user name username", id="snake case"),
        pytest.param("getUserName", "getusername getusernam get user name", id="camel case"),
        pytest.param("HTTPServer", "httpserver http server", id="capitals before a word"),
        pytest.param("e-mail l'eau", "e mail l eau email leau", id="hyphen and elision"),
        pytest.param("1,500 3.14 v1.2", "1 500 3 14 v1 2 1500 v12", id="numbers"),
        pytest.param("C++ C# #tag", "c c tag cplusplus csharp", id="languages with signs"),
        pytest.param("東京都", "東京 京都 都", id="pairs, and the last character"),
        pytest.param("鬼", "鬼", id="a lone character"),
        pytest.param("Web検索", "web 検索 索", id="two scripts in one run"),
        pytest.param("ﾊﾞｯｸ", "バッ ック ク", id="half width, voicing mark kept with its letter"),
        pytest.param("か\u3099く", "がく く", id="voicing mark of its own"),
        pytest.param("ไทยน้ำ", "ไท ทย ยน้ น้ํา ํา", id="Thai tone marks stay with their letter"),
        pytest.param("한국어", "한국 국어 어", id="Hangul"),
        pytest.param("हिन्दी में", "हिन्दी में", id="Hindi vowel signs stay"),
        pytest.param("كِتَابٌ", "كتاب", id="Arabic vowels go"),
        pytest.param("שָׁלוֹם", "שלום", id="Hebrew points go"),
    ],
)
def test_words_of_every_script_become_terms(text, terms):
    assert index_terms(text).split() == terms.split()


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("?! ()", "", id="no word"),
        pytest.param("What is the net income", '"net" OR "income" OR "incom"', id="stop words go"),
        pytest.param("the who", '"the" OR "who"', id="unless there is nothing else"),
        pytest.param("US law", '"us" OR "law"', id="capitals are a name"),
        pytest.param("thé vert", '"thé" OR "vert"', id="an accent makes another word"),
        pytest.param("income income", '"income" OR "incom"', id="each term once"),
        pytest.param('"net income" tax', '("net income") AND ("net" OR "income" OR "incom" OR "tax")', id="phrase"),
        pytest.param("tax -loss", '("tax") NOT ("loss")', id="exclusion"),
        pytest.param('tax -"net loss" -gain', '("tax") NOT ("net loss" OR "gain")', id="excluded phrase"),
        pytest.param("-v", '"v"', id="nothing but an exclusion is literal"),
        pytest.param("well-known", '"well" OR "known" OR "wellknown"', id="a hyphen inside excludes nothing"),
        pytest.param("5 - 3", '"5" OR "3"', id="a minus"),
        pytest.param('"open quote', '"open" OR "quote" OR "quot"', id="a lone quote"),
        pytest.param('"" -""', "", id="empty quotes"),
        pytest.param("NEAR(a b) AND b*", '"near" OR "b" OR "and"', id="operators are words"),
        pytest.param("ship's", '"ship" OR "ships"', id="letters of compounds go"),
        pytest.param("東京 鬼", '"東京" OR "鬼"*', id="one character stands for its pairs"),
    ],
)
def test_a_question_asks_for(question, expression):
    assert match_expression(question) == expression


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        ("The net income rose.", '"net income"', True),
        ("Income, net of tax", '"net income"', False),
        ("net income and loss", "income -loss", False),
        ("Das Rotkäppchen", "rotkappchen", True),
        ("rotkappchen", "Rotkäppchen", True),
        ("call user_name now", "userName", True),
        ("call getUserName now", "user name", True),
        ("東京都に住む", "京都", True),
        ("東京都に住む", "住", True),
        ("東京都に住む", '"京都に"', True),
        ("東京都に住む", '"都京"', False),
        ("赤鬼", "鬼", True),
        ("น้ำท่วม", "น้ำ", True),
        ("हिन्दी में", "हिन्दी", True),
        ("हिन्दी में", "हिन्द", False),
        ("l'été à Évora", '"l\'ete a evora"', True),
        ("AND OR NOT", "NOT", True),
        ("a^b {c} col:on", "{c}: ^b", True),
    ],
)
def test_fts5_finds(text, question, found):
    assert matches(text, question) is found


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("run runs running", "run"),
        ("change changes changed changing", "chang"),
        ("stopped stopping stops", "stop"),
        ("company companies", "company"),
        ("regulation regulations regulate", "regulat"),
        ("press pressed presses", "press"),
        ("quick quickly", "quick"),
        ("gas", "gas"),
        ("bus", "bus"),
        ("analysis", "analysis"),
        ("e4s", "e4s"),
        ("été", "été"),
        ("ing", "ing"),
    ],
)
def test_english_words_of_one_stem(words, expected):
    assert {stem(word) for word in words.split()} == {expected}


ANY_TEXT = st.text(st.sampled_from("aB1é-'_.,+#\" 東がﾞ한ไน้हिً\u00ad\u0301\x00*()😀"), max_size=24)


@given(ANY_TEXT)
def test_words_are_slices_in_order_and_never_empty(text):
    words = list(find_words(text))
    assert all(0 <= word.start < word.end <= len(text) for word in words)
    assert all(word.terms or word.forms for word in words)
    assert [word.start for word in words] == sorted(word.start for word in words)


@given(ANY_TEXT)
def test_stored_terms_are_the_terms_of_the_words(text):
    words = list(find_words(text))
    assert index_terms(text).split() == [*(t for w in words for t in w.terms), *(f for w in words for f in w.forms)]


@given(ANY_TEXT)
def test_any_question_is_one_that_fts5_can_read_and_finds_its_own_text(text):
    wanted = parse_question(text)
    if wanted.excluded or wanted.phrases:
        matches(text, text)
    else:
        assert matches(text, text) is bool(match_expression(text))


@given(st.text(max_size=12))
def test_folding_a_word_twice_changes_nothing(word):
    once = fold_word(word)
    assert fold_word(once) == once


@pytest.mark.parametrize(
    ("question", "english", "lesser"),
    [
        pytest.param("repaired pumps", True, {"repaired", "pumps"}, id="an English word beside its stem"),
        pytest.param("reparar bombas", False, {"bomba"}, id="an English stem elsewhere"),
        pytest.param("Été à Évora", False, {"évora"}, id="an accented form beside the folded one"),
        pytest.param("thé vert", False, set(), id="an accent that makes another word"),
        pytest.param("pump NV-P20", True, set(), id="compounds and plain words"),
    ],
)
def test_each_word_counts_once(question, english, lesser):
    wanted = parse_question(question)
    assert lesser_terms(wanted, english=english) & set(question_terms(wanted)) == lesser
