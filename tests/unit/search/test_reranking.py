"""Reranking with a real cross-encoder: tiny, made here, its weights random."""

import pytest

from rag_index.errors import ModelError
from rag_index.types import Place

TEXT = "The pump costs five euros.\n\nLunch is at noon.\n\nThe office opens at nine.\n"


@pytest.fixture(scope="module")
def reranker(tmp_path_factory):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "pump", "lunch", "office", "the", "noon", "five", "euros"]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=64,
    )  # fmt: skip
    config = BertConfig(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        max_position_embeddings=64, num_labels=1,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("reranker")
    BertForSequenceClassification(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return str(folder)


def test_scores_and_order_are_those_of_the_cross_encoder(index_of, ask, reranker):
    from rag_index.embed.rerank import Reranker

    snapshot = index_of({"a.txt": TEXT})
    passages = ask(snapshot, "pump", rerank=reranker, limit=3, passages="chunk")
    assert passages
    scores = [passage.score for passage in passages]
    assert scores == sorted(scores, reverse=True)
    assert all(passage.parts["rerank"] == passage.score for passage in passages)
    assert all(0 < score < 1 for score in scores)
    assert Reranker(reranker).scores("pump", []) == []
    assert passages[0].also == ()
    assert Place("a.txt", 0, 1).path == passages[0].path


def test_a_reranker_that_is_not_there_is_named(index_of, ask, tmp_path):
    with pytest.raises(ModelError, match="can't load the reranker"):
        ask(index_of({"a.txt": TEXT}), "pump", rerank=str(tmp_path / "none"))
