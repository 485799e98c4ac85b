"""The `openvino` engine: a converted model on this machine's processor, without torch."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rag_index.embed.batching import Work, plan
from rag_index.embed.converted import PROBES, obtain
from rag_index.embed.files import ModelFiles, identity
from rag_index.embed.tokenizer import Tokenizer
from rag_index.errors import ModelError
from rag_index.types import Reporter, Tokens, ignore

if TYPE_CHECKING:
    from rag_index.settings import EmbedSettings
    from rag_index.types import Matrix, ModelInfo, Vector

ENGINE = "openvino"
TOLERANCE = {"fp32": (0.9999, 0.9999), "bf16": (0.9995, 0.9999)}
"""Least and mean cosine to sentence-transformers' vectors of the probe texts, by precision."""
MICRO_BATCH = 1024
"""Padded tokens in one run of the model: the caches of a core hold what it works on."""
_HINTS = {"fp32": "f32", "bf16": "bf16"}
_PATIENCE_S = 1.0
"""How long a batch is waited for before looking whether a lane has failed."""
_LANES = 8
"""Most batches computed at once; each holds memory for its activations."""


class _Running:
    """A batch in the lanes: where its vectors go, and how many parts are still computed."""

    def __init__(self, matrix: Matrix, parts: int) -> None:
        self.matrix = matrix
        self.left = parts
        self.begun = self.ended = time.perf_counter()
        self.done = threading.Event()
        if not parts:
            self.done.set()

    @staticmethod
    def keep(request: Any, part: tuple[_Running, list[int]]) -> None:  # noqa: ANN401 (an openvino.InferRequest)
        """Take the vectors of a part; called in a thread of OpenVINO, one at a time."""
        running, indices = part
        running.matrix[indices] = request.get_output_tensor(0).data
        running.left -= 1
        if not running.left:
            running.ended = time.perf_counter()
            running.done.set()


class OpenVinoEmbedder:
    """A sentence-transformers model converted for OpenVINO; compiled when the first vector is asked for.

    `tokens` may be called from another thread than `embed`.
    """

    batch_tokens = 16_384

    def __init__(self, files: ModelFiles, settings: EmbedSettings, *, report: Reporter = ignore) -> None:
        """Find or make the conversion, and check that its vectors are sentence-transformers' within `TOLERANCE`.

        Raises:
            ModelError: OpenVINO can't be used here, or the vectors differ too much.
        """
        core = import_openvino().Core()  # first: where there is none, nothing need be converted
        self._converted = obtain(files, report=report)
        about = self._converted.about
        precision = choose_precision(settings.precision, core)
        self._info = identity(files, settings, about.dimension, about.max_tokens, ENGINE, precision)
        self._tokenizer = Tokenizer.read(self._converted.tokenizer, about.max_tokens)
        self._core: Any = core
        self._queue: Any = None
        self.work = Work()
        self._ended = 0.0
        self._micro = settings.batch_tokens or MICRO_BATCH
        self._accept()

    @property
    def info(self) -> ModelInfo:
        """Identity and limits of the model."""
        return self._info

    def tokens(self, text: str) -> Tokens:
        """Find the token borders of `text`; `extra` counts special tokens and the document prompt."""
        return self._tokenizer.borders(text, prompt=self._info.document_prompt)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed documents, one normalised row a text, in order; any number of them, in small batches inside."""
        return next(self.embed_stream([texts]))

    def embed_stream(self, batches: Iterable[Sequence[str]]) -> Iterator[Matrix]:
        """Embed batch after batch of documents; while one is computed the next is tokenised, and no lane waits for it.

        Until the iterator ends, nothing else may be embedded.
        """
        prompt = self._info.document_prompt
        return self._run(
            self._tokenizer.rows([prompt + text for text in texts] if prompt else texts) for texts in batches
        )

    def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        vector: Vector = self.embed_rows(self._tokenizer.rows([self._info.query_prompt + text]))[0]
        return vector

    def embed_rows(self, rows: Sequence[Sequence[int]]) -> Matrix:
        """Embed rows of token ids, in order; long ones are computed first."""
        return next(self._run([rows]))

    def _run(self, batches: Iterable[Sequence[Sequence[int]]]) -> Iterator[Matrix]:
        self._lanes().set_callback(_Running.keep)
        before: _Running | None = None
        try:
            for rows in batches:
                running = self._send(rows)
                if before:
                    yield self._finished(before)
                before = running
            if before:
                yield self._finished(before)
        except RuntimeError:
            self._queue = None  # lanes of which one has failed never work again
            raise
        finally:
            if self._queue:
                self._queue.wait_all()

    def _send(self, rows: Sequence[Sequence[int]]) -> _Running:
        """Give a batch to the lanes in small parts; returns when the last one is taken."""
        import numpy as np

        parts = plan([len(row) for row in rows], self._micro)
        running = _Running(np.empty((len(rows), self._info.dimension), dtype=np.float32), len(parts))
        for part in parts:
            self.work.tokens += part.tokens
            self.work.padded += part.padded
            padded = _padded([rows[index] for index in part.indices], self._converted.about.pad)
            self._lanes().start_async(padded, (running, part.indices))
        return running

    def _finished(self, running: _Running) -> Matrix:
        while not running.done.wait(_PATIENCE_S):
            self._lanes().wait_all()  # raises what a lane has failed with
        self.work.seconds += max(0.0, running.ended - max(running.begun, self._ended))
        self._ended = running.ended
        return running.matrix

    def _lanes(self) -> Any:  # noqa: ANN401 (an openvino.AsyncInferQueue)
        """Compile the model into lanes of one batch each, a core a lane: none waits for another's slowest part."""
        if self._queue is None:
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
            count = min(_LANES, cores)
            hints = {"INFERENCE_PRECISION_HINT": _HINTS[self._info.precision], "NUM_STREAMS": count}
            try:
                graph = self._core.read_model(str(self._converted.graph))
                model = self._core.compile_model(graph, "CPU", hints)
            except RuntimeError as error:
                raise ModelError(f"OpenVINO can't run {self._info.name}: {error}", _OTHER) from error
            self._queue = import_openvino().AsyncInferQueue(model, count)
        return self._queue

    def _accept(self) -> None:
        """Compare with sentence-transformers' vectors, once a processor, precision and version of OpenVINO."""
        precision = self._info.precision
        processor = self._core.get_property("CPU", "FULL_DEVICE_NAME")
        machine = f"{precision}, {processor}, {import_openvino().__version__}"
        found = self._converted.agreement(machine)
        if found is None:
            cosines = (self.embed_rows(self._tokenizer.rows(PROBES)) * self._converted.expected()).sum(axis=1)
            found = float(cosines.min()), float(cosines.mean())
            self._converted.note_agreement(machine, *found)
        least, mean = TOLERANCE[precision]
        if not (found[0] >= least and found[1] >= mean):
            raise ModelError(
                f"OpenVINO's {precision} vectors of {self._info.name} differ from sentence-transformers' "
                f"(cosine {found[0]:.5f} at least, {found[1]:.5f} on average)",
                _OTHER,
            )


_OTHER = "Use --engine sentence-transformers."


def import_openvino(*, converter: bool = False) -> Any:  # noqa: ANN401 (it ships no types)
    """Import OpenVINO without the part that reports its use to its maker; with its converter only if asked for.

    The converter is half of the time of the import. ``openvino.convert_model`` still works afterwards.

    Raises:
        ModelError: there is no OpenVINO for this machine.
    """
    absent = ["openvino_telemetry"]
    if not converter and "openvino" not in sys.modules:
        absent.append("openvino.tools.ovc")
    with _absent(absent):
        try:
            import openvino

            if converter and "convert_model" not in vars(openvino):
                openvino.convert_model = import_module("openvino.tools.ovc").convert_model
        except (ImportError, OSError) as error:
            raise ModelError(f"can't import openvino: {error}", _OTHER) from error
    if "convert_model" not in vars(openvino):
        openvino.__getattr__ = _converter_when_asked
    return openvino


def _converter_when_asked(name: str) -> Any:  # noqa: ANN401
    if name != "convert_model":
        raise AttributeError(f"module 'openvino' has no attribute {name!r}")
    return import_module("openvino.tools.ovc").convert_model


@contextmanager
def _absent(names: Sequence[str]) -> Iterator[None]:
    """Make modules impossible to import; OpenVINO goes on without them.

    `openvino_telemetry` reports by default, without asking, as soon as it is imported.
    """
    before = {name: module for name, module in sys.modules.items() if _within(name, names)}
    for name in before:
        del sys.modules[name]
    for name in names:
        sys.modules[name] = None  # type: ignore[assignment]  # how Python is told that there is none
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
        sys.modules.update(before)


def _within(name: str, names: Sequence[str]) -> bool:
    return any(name == other or name.startswith(f"{other}.") for other in names)


def choose_precision(wanted: str, core: Any) -> str:  # noqa: ANN401
    """Return ``fp32`` or ``bf16``: for ``auto``, bf16 where the processor computes in it.

    Raises:
        ModelError: bf16 was asked for and the processor hasn't got it.
    """
    able = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if wanted == "bf16" and not able:
        raise ModelError("this processor doesn't compute in bf16", "Use --precision fp32.")
    return "bf16" if able and wanted in {"auto", "bf16"} else "fp32"


def _padded(rows: Sequence[Sequence[int]], pad: int) -> list[Any]:
    import numpy as np

    width = max(1, *(len(row) for row in rows))
    ids = np.full((len(rows), width), pad, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row)] = row
        mask[at, : len(row)] = 1
    return [ids, mask]
