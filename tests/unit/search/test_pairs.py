"""Questions in scripts without spaces between words are looked for as pairs of characters."""

import pytest

from rag_index.search.ranking import MIX, PAIRS, ask
from rag_index.settings import SearchSettings


@pytest.mark.parametrize(
    ("question", "sentence", "before"),
    [
        ("how long is the warranty", MIX.sentence, MIX.before),
        ("ポンプの保証期間はどのくらいですか", PAIRS * MIX.sentence, 0.0),
        ("水泵的保修期是多长", PAIRS * MIX.sentence, 0.0),
        ("NV-P20 warranty 保証", MIX.sentence, MIX.before),
    ],
)
def test_sentences_weigh_less_where_most_terms_are_pairs(index_of, question, sentence, before) -> None:
    asked = ask(index_of({"a.txt": "A pump."}), None, question, SearchSettings(mode="keyword"))
    assert (asked.mix.sentence, asked.mix.before) == (sentence, before)
