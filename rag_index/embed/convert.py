"""The process that converts one model: ``python -m rag_index.embed.convert NAME FOLDER FINGERPRINT TARGET``."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from rag_index.embed.converted import PROBES, About, write_entry
from rag_index.embed.files import ModelFiles
from rag_index.embed.models import load_model, max_tokens_of, tokenizer_definition, traceable
from rag_index.embed.openvino import import_openvino
from rag_index.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence


def convert(files: ModelFiles, target: Path) -> None:
    """Write the conversion of a model, or why there is none, into the folder `target`.

    Pooling and normalisation are part of what is converted, so that nothing has to be done twice, differently.

    Raises:
        ModelError: the model can't be loaded.
        OSError: the disk is full.
    """
    import numpy as np

    model = load_model(files, "cpu")
    openvino = import_openvino(converter=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tracer's remarks on code that isn't ours
            module, example = traceable(model)
            graph = openvino.convert_model(module, example_input=example)
        tokenizer = tokenizer_definition(model, files.name)
    except Exception as error:  # noqa: BLE001 (a tracer can fail in any way; the other engine is there)
        write_entry(target, About(files.name, refused=_first_line(error)))
        return
    openvino.save_model(graph, str(target / "model.xml"), compress_to_fp16=False)
    (target / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
    expected = model.encode(list(PROBES), prompt="", normalize_embeddings=True, show_progress_bar=False)
    np.asarray(expected, dtype="<f4").tofile(target / "probes.f32")
    about = About(files.name, int(expected.shape[1]), max_tokens_of(model), int(model.tokenizer.pad_token_id or 0))
    write_entry(target, about)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def main(arguments: Sequence[str]) -> int:
    """Convert as the four arguments say; a failure is one line on stderr."""
    name, folder, fingerprint, target = arguments
    try:
        convert(ModelFiles(name, Path(folder), fingerprint), Path(target))
    except (ModelError, OSError, RuntimeError) as error:
        sys.stderr.write(f"{_first_line(error)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
