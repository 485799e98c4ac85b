import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag_index.embed import load_embedder
from rag_index.embed.batching import embed_all
from rag_index.embed.cache import vector_key
from rag_index.embed.convert import main
from rag_index.embed.converted import converted_folder, find_converted
from rag_index.embed.files import find_model
from rag_index.embed.openvino import TOLERANCE, choose_precision, import_openvino
from rag_index.errors import ModelError
from rag_index.settings import EmbedSettings

TEXTS = [
    "The warranty of a repaired pump lasts twelve months.",
    "A manutenção é feita às terças-feiras.",
    "保証期間は一年です。",
    "",
    "x",
    "a b " * 300,
    *(f"Sentence number {number} of many. " * (number % 12) for number in range(60)),
]


def has_bf16() -> bool:
    return "BF16" in import_openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


@pytest.fixture(scope="module")
def real():
    return load_embedder(EmbedSettings(engine="openvino", precision="fp32"))


@pytest.fixture
def unconverted(tiny_model, tmp_path, monkeypatch) -> EmbedSettings:
    """Settings for the tiny model, with an empty cache folder of the test's own."""
    monkeypatch.setenv("RAG_INDEX_CACHE_DIR", str(tmp_path / "cache"))
    return EmbedSettings(model=str(tiny_model), engine="openvino", precision="fp32")


@pytest.fixture(scope="module")
def conversion(tiny_model, tmp_path_factory) -> Path:
    """The conversion of the tiny model, made in this process."""
    files, target = find_model(str(tiny_model)), tmp_path_factory.mktemp("entry")
    assert main([files.name, str(files.folder), files.fingerprint, str(target)]) == 0
    return target


@pytest.fixture
def tiny(unconverted, conversion) -> EmbedSettings:
    """Settings for the tiny model, with a cache folder of the test's own that holds its conversion."""
    shutil.copytree(conversion, converted_folder(find_model(unconverted.model).fingerprint))
    load_embedder(unconverted)
    return unconverted


@pytest.mark.model
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_both_engines_give_the_same_vectors_within_the_tolerance(precision):
    if precision == "bf16" and not has_bf16():
        pytest.skip("this processor doesn't compute in bf16")
    settings = EmbedSettings(engine="openvino", precision=precision)
    fast, reference = load_embedder(settings), load_embedder(EmbedSettings(engine="sentence-transformers"))
    cosines = (fast.embed(TEXTS) * reference.embed(TEXTS)).sum(axis=1)
    least, mean = TOLERANCE[precision]
    assert cosines.min() >= least
    assert cosines.mean() >= mean
    assert fast.embed_query(TEXTS[0]) @ reference.embed_query(TEXTS[0]) >= least
    assert fast.info == replace(reference.info, engine="openvino", precision=precision)


@pytest.mark.model
def test_keys_of_the_engines_are_the_same_so_that_neither_embeds_what_the_other_did(real):
    reference = load_embedder(EmbedSettings(engine="sentence-transformers"))
    assert vector_key(real.info, "text") == vector_key(reference.info, "text")


@pytest.mark.model
def test_rows_come_back_in_the_order_of_the_texts_whatever_the_batches(real):
    one_by_one = np.stack([real.embed([text])[0] for text in TEXTS])
    assert np.allclose(real.embed(TEXTS), one_by_one, atol=2e-5)
    together = np.zeros_like(one_by_one)
    for indices, rows in embed_all(real, TEXTS):
        together[indices] = rows
    assert np.allclose(together, one_by_one, atol=2e-5)
    assert real.embed([]).shape == (0, 384)


def test_without_openvino_the_other_engine_is_used_and_that_is_said(unconverted, monkeypatch):
    monkeypatch.setitem(sys.modules, "openvino", None)
    events = []
    embedder = load_embedder(replace(unconverted, engine="auto"), report=events.append)
    assert embedder.info.engine == "sentence-transformers"
    assert [event.stage for event in events] == ["warning"]  # nothing was converted
    assert "can't import openvino" in events[0].note
    assert events[0].note.endswith("using sentence-transformers, which is slower")
    assert len(embedder.embed(["a text"])) == 1
    with pytest.raises(ModelError, match="can't import openvino"):
        load_embedder(unconverted)


def test_while_a_batch_is_computed_the_next_is_asked_for(tiny):
    embedder = load_embedder(tiny)
    asked = []

    def batches():
        for texts in (TEXTS, TEXTS[:2], [], TEXTS[3:]):
            asked.append(len(texts))
            yield texts

    made = embedder.embed_stream(batches())
    assert asked == []
    first = next(made)
    assert asked == [len(TEXTS), 2]
    rest = list(made)
    assert [len(rows) for rows in (first, *rest)] == [len(TEXTS), 2, 0, len(TEXTS) - 3]
    assert np.allclose(first, embedder.embed(TEXTS), atol=2e-5)
    assert np.allclose(rest[-1], first[3:], atol=2e-5)
    assert embedder.work.seconds > 0


def test_the_failure_of_a_lane_is_raised_and_the_embedder_can_be_asked_again(tiny, monkeypatch):
    embedder = load_embedder(tiny)
    whole = embedder.embed(TEXTS)

    def misshapen(rows, pad):
        return [np.zeros((len(rows), 5), np.int64), np.ones((len(rows), 4), np.int64)]

    monkeypatch.setattr("rag_index.embed.openvino._PATIENCE_S", 0.01)
    with monkeypatch.context() as patch:
        patch.setattr("rag_index.embed.openvino._padded", misshapen)
        with pytest.raises(RuntimeError):
            embedder.embed(TEXTS)
    assert np.array_equal(embedder.embed(TEXTS), whole)


@pytest.mark.model
def test_a_text_longer_than_the_model_reads_is_cut_as_sentence_transformers_cuts_it(real):
    long = "word " * 1000
    assert np.allclose(real.embed([long]), real.embed(["word " * 254]), atol=1e-6)


@pytest.mark.model
def test_once_converted_a_model_runs_without_torch_and_without_the_network_and_reports_nothing(real):
    code = """
import sys
from rag_index.embed import load_embedder
from rag_index.settings import EmbedSettings
from tests.network import refuse
refused = []
refuse(refused.append)
embedder = load_embedder(EmbedSettings())
embedder.embed_query("a question")
embedder.tokens("a text")
heavy = {"torch", "transformers", "sentence_transformers", "nltk", "openvino_telemetry", "huggingface_hub", "scipy"}
print(embedder.info.engine, sorted(heavy & {name.split(".")[0] for name in sys.modules}), refused)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "openvino [] []"


def test_openvino_is_imported_with_a_stand_in_that_sends_nothing():
    code = """
import sys
from rag_index.embed.openvino import import_openvino
assert "openvino.tools.ovc" not in sys.modules
import_openvino()
assert "openvino.tools.ovc" not in sys.modules
assert import_openvino(converter=True).convert_model
from openvino.tools.ovc import telemetry_utils
print(telemetry_utils.tm.__name__, "openvino_telemetry" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "openvino.tools.ovc.telemetry_stub False"


def test_others_still_find_the_converter_after_us():
    code = """
from rag_index.embed.openvino import import_openvino
import_openvino()
import openvino
print(openvino.convert_model.__name__, hasattr(openvino, "no_such_thing"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "convert_model False"


def test_what_others_imported_stays_as_it_was():
    marker = type(sys)("openvino_telemetry")
    sys.modules["openvino_telemetry"] = marker
    try:
        import_openvino()
        assert sys.modules["openvino_telemetry"] is marker
    finally:
        del sys.modules["openvino_telemetry"]


def test_a_model_is_converted_once_in_a_process_of_its_own_with_prompts_and_limit(unconverted):
    events = []
    first = load_embedder(unconverted, report=events.append)
    second = load_embedder(unconverted, report=events.append)
    assert [event.stage for event in events] == ["model"]
    assert first.info.max_tokens == 32
    assert (first.info.query_prompt, first.info.document_prompt) == ("query: ", "passage: ")
    reference = load_embedder(replace(unconverted, engine="sentence-transformers"))
    texts = ["a small text", "another, much longer text that goes on and on and on", ""]
    assert np.allclose(first.embed(texts), reference.embed(texts), atol=1e-5)
    assert np.allclose(second.embed_query("what"), reference.embed_query("what"), atol=1e-5)
    assert not np.allclose(first.embed(["what"])[0], first.embed_query("what"), atol=1e-3)


def test_a_damaged_conversion_is_made_anew(tiny):
    expected = load_embedder(tiny).embed(["text"])
    (converted_folder(find_model(tiny.model).fingerprint) / "model.bin").write_bytes(b"")
    events = []
    assert np.allclose(load_embedder(tiny, report=events.append).embed(["text"]), expected, atol=1e-6)
    assert [event.stage for event in events] == ["model"]


@pytest.mark.parametrize("name", ["model.bin", "model.xml", "tokenizer.json", "probes.f32", "about.json"])
@pytest.mark.parametrize("damage", ["changed", "cut short", "gone"])
def test_damage_to_any_file_of_a_conversion_is_seen(tiny, name, damage):
    files = find_model(tiny.model)
    assert find_converted(files) is not None
    path = converted_folder(files.fingerprint) / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.unlink()
    if damage != "gone":
        path.write_bytes(data if damage == "changed" else data[: len(data) // 2])
    assert find_converted(files) is None
    assert not converted_folder(files.fingerprint).exists()


def wrong_expectation(settings: EmbedSettings) -> None:
    """Make the conversion say that sentence-transformers gives other vectors than it does."""
    load_embedder(settings)
    folder = converted_folder(find_model(settings.model).fingerprint)
    expected = np.fromfile(folder / "probes.f32", dtype="<f4")[::-1]
    expected.tofile(folder / "probes.f32")
    about = json.loads((folder / "about.json").read_bytes())
    del about["checksums"]["probes.f32"]
    (folder / "about.json").write_text(json.dumps(about))
    (folder / "checked.json").unlink()


def test_vectors_that_differ_from_sentence_transformers_are_refused(tiny):
    wrong_expectation(tiny)
    for _ in range(2):  # the second time from what was noted
        with pytest.raises(ModelError, match="differ from sentence-transformers"):
            load_embedder(tiny)


def test_where_openvino_can_not_be_used_the_other_engine_is_and_says_so(tiny):
    wrong_expectation(tiny)
    events = []
    embedder = load_embedder(replace(tiny, engine="auto"), report=events.append)
    assert embedder.info.engine == "sentence-transformers"
    assert [event.stage for event in events] == ["warning"]
    assert "slower" in events[0].note


def test_what_was_agreed_is_not_computed_again(tiny):
    load_embedder(tiny)
    folder = converted_folder(find_model(tiny.model).fingerprint)
    assert len(json.loads((folder / "checked.json").read_bytes())) == 1
    assert load_embedder(tiny)._queue is None


def test_a_model_that_can_not_be_converted_is_remembered_as_such(unconverted, model_that_leaves_prompts_out):
    settings = replace(unconverted, model=str(model_that_leaves_prompts_out))
    for _ in range(2):
        with pytest.raises(ModelError, match="leaves its prompt out") as caught:
            load_embedder(settings)
        assert "--engine sentence-transformers" in caught.value.hint
    embedder = load_embedder(replace(settings, engine="auto"))
    assert embedder.info.engine == "sentence-transformers"


@pytest.fixture
def model_that_leaves_prompts_out(tiny_model, tmp_path) -> Path:
    folder = tmp_path / "instructor"
    subprocess.run(["cp", "-r", str(tiny_model), str(folder)], check=True)
    config = folder / "1_Pooling" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_bytes()), "include_prompt": False}))
    return folder


def test_a_folder_that_can_not_be_loaded_is_one_line_of_error(unconverted, tiny_model, tmp_path, capsys):
    broken = tmp_path / "broken"
    subprocess.run(["cp", "-r", str(tiny_model), str(broken)], check=True)
    (broken / "config.json").write_text("{")
    assert main(["broken", str(broken), "0" * 32, str(tmp_path)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
    with pytest.raises(ModelError, match="can't be converted"):
        load_embedder(replace(unconverted, model=str(broken)))


def test_where_nothing_can_be_kept_the_other_engine_is_used(unconverted, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RAG_INDEX_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="can't keep"):
        load_embedder(unconverted)
    assert load_embedder(replace(unconverted, engine="auto")).info.engine == "sentence-transformers"


def test_a_disk_that_fills_during_the_conversion_leaves_nothing_behind(unconverted):
    files = find_model(unconverted.model)
    code = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from rag_index.embed.converted import obtain
from rag_index.embed.files import ModelFiles
from pathlib import Path
try:
    obtain(ModelFiles("tiny", Path({str(files.folder)!r}), {files.fingerprint!r}))
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("ModelError")
    folder = converted_folder(files.fingerprint)
    assert not folder.exists()
    assert list(folder.parent.iterdir()) == []


def test_a_conversion_that_only_can_be_read_is_used(tiny):
    load_embedder(tiny)
    folder = converted_folder(find_model(tiny.model).fingerprint)
    (folder / "checked.json").unlink()
    folder.chmod(0o555)
    try:
        assert load_embedder(tiny).embed(["text"]).shape == (1, 32)
    finally:
        folder.chmod(0o755)


@pytest.mark.nightly
def test_two_processes_that_convert_at_once_both_get_the_model(unconverted):
    code = (
        "from rag_index.embed.converted import obtain; from rag_index.embed.files import find_model;"
        f"print(obtain(find_model({unconverted.model!r})).about.dimension)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0].strip() for process in running] == ["32", "32"]
    assert [path.name.startswith("making-") for path in converted_folder("x").parent.iterdir()] == [False]


class Processor:
    """What `choose_precision` asks of OpenVINO."""

    def __init__(self, *able):
        self.able = able

    def get_property(self, device, name):
        assert (device, name) == ("CPU", "OPTIMIZATION_CAPABILITIES")
        return list(self.able)


@pytest.mark.parametrize(
    ("wanted", "able", "expected"),
    [
        ("auto", ["FP32"], "fp32"),
        ("auto", ["FP32", "BF16"], "bf16"),
        ("fp32", ["FP32", "BF16"], "fp32"),
        ("bf16", ["FP32", "BF16"], "bf16"),
    ],
)
def test_precision_follows_the_processor(wanted, able, expected):
    assert choose_precision(wanted, Processor(*able)) == expected


def test_bf16_on_a_processor_without_it_is_an_error():
    with pytest.raises(ModelError, match="bf16"):
        choose_precision("bf16", Processor("FP32"))


def test_another_device_is_for_the_other_engine(unconverted):
    embedder = load_embedder(replace(unconverted, engine="auto", device="meta"))
    assert embedder.info.engine == "sentence-transformers"
