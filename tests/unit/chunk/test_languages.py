from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_index.chunk import detect_language

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the best way to do this?", "en"),
        ("Quelle est la meilleure façon de le faire ?", "fr"),
        ("Qual é a melhor forma de o fazer quando não há mais?", "pt"),
        ("¿Cuál es la mejor manera de hacerlo?", "es"),
        ("Wie ist das und was wird es nicht sein?", "de"),
        ("Questo è il modo migliore della città.", "it"),
        ("Dit is niet de beste manier om het te doen.", "nl"),
        ("Det är inte så att han och hon kan vara här.", "sv"),
        ("Hva er det vi ikke kan gjøre etter dette?", "no"),
        ("Hvad er det vi ikke kan gøre efter det hele?", "da"),
        ("Se on hyvä kun hän oli ja ei ole.", "fi"),
        ("See ei ole hea kui ka tema on siis.", "et"),
        ("Nie wiem, czy to jest dobre i jak się to robi.", "pl"),
        ("To je ale jen jak se to dělá, že by být.", "cs"),
        ("To je lahko tudi samo ena, ker pa ne bi bilo.", "sl"),
        ("Bu çok iyi bir şey ama daha var ve gibi.", "tr"),
        ("Это не то, что он думает.", "ru"),
        ("Αυτό είναι το καλύτερο.", "el"),
        ("これは日本語の文章です。", "ja"),
        ("这是中文的文章。", "zh"),
        ("이것은 한국어 문장입니다.", "ko"),
        ("ഇത് മലയാളം ആണ്", "ml"),
        ("هذا نص عربي", "ar"),
        ("זה טקסט", "he"),
        ("यह हिन्दी है", "hi"),
        ("นี่คือภาษาไทย", "th"),
        ("中文的文章里提到了の这个字，其余都是汉字和更多的汉字。", "zh"),
        ("", ""),
        ("12345 67 !!", ""),
        ("Xyzzy plugh", ""),
        ("naïve café 東", ""),
    ],
)
def test_the_language_of_a_text(text, language):
    assert detect_language(text) == language


@pytest.mark.skipif(not SHARED.exists(), reason="the shared question sets are not beside this repository")
@pytest.mark.parametrize(
    ("language", "file"),
    [
        ("en", "xquad/xquad.en.json"),
        ("es", "xquad/xquad.es.json"),
        ("zh", "xquad/xquad.zh.json"),
        ("ja", "jsquad/valid-v1.3.json"),
    ],
)
def test_paragraphs_of_encyclopedias_are_recognised(language, file):
    articles = json.loads((SHARED / file).read_bytes())["data"]
    found = [detect_language(part["context"]) for article in articles for part in article["paragraphs"]]
    assert found.count(language) / len(found) >= 0.99
