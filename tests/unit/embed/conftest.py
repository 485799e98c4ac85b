import json
from pathlib import Path

import pytest

from rag_index.embed.files import find_model
from rag_index.settings import DEFAULT_MODEL


@pytest.fixture
def model_copy(tmp_path) -> Path:
    """A folder of links to the packaged model's files, so that some can be changed."""
    source, folder = find_model(DEFAULT_MODEL).folder, tmp_path / "model"
    for path in source.rglob("*"):
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            target.symlink_to(path)
    return folder


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory) -> Path:
    """A model of 12,000 random weights in the form of sentence-transformers, with prompts: loads in no time."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters), *"0123456789.,:;-"]
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=32, **special).save_pretrained(folder / "t")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder / "t")
    transformer = Transformer(str(folder / "t"), max_seq_length=32)
    prompts = {"query": "query: ", "document": "passage: "}
    model = SentenceTransformer(modules=[transformer, Pooling(32), Normalize()], prompts=prompts, device="cpu")
    model.save(str(folder / "model"))
    assert json.loads((folder / "model" / "modules.json").read_bytes())
    return folder / "model"
