"""Models converted for OpenVINO: made once a model by a process of their own, kept in the user's cache folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from rag_index.embed.cache import cache_folder
from rag_index.embed.files import ModelFiles
from rag_index.errors import ModelError
from rag_index.types import Event, Reporter, ignore

if TYPE_CHECKING:
    from rag_index.types import Matrix

FORMAT = 1
"""Changes when what is written here changes; entries of other formats are left alone and made anew."""
PROBES = (
    "How long is the warranty?",
    "The Go programming language favours standard libraries; 3.14 % of 2,718 users agreed on 2026-11-30.",
    "La garantie est prolongée d'un an après chaque réparation effectuée à Besançon.",
    "A manutenção só é possível após a reunião de terça-feira às dez horas.",
    "保証期間は納品日から一年間です。修理後はさらに半年延長されます。",
    "保修期自交货之日起为一年，维修后延长半年。",
    "Гарантия действует один год. يسري الضمان لمدة سنة واحدة. हर साल एक बार जाँच करें।",
    "def shortest(paths: list[str]) -> str:\n    return min(paths, key=len)  # e.g. '/usr/lib'\n",
    "",
    "The pump stops when the pressure falls, and starts again by itself when it has been refilled. " * 5,
    "Le prix, 1 250 €, comprend la livraison; die Montage kostet extra. 価格は税込みです。 " * 8,
    "A long text must be read to the end of what the model reads, and not one token less. " * 40,
)
"""Texts in several scripts and lengths, the last one longer than most models read."""
_WEIGHTS, _GRAPH, _TOKENIZER, _EXPECTED, _ABOUT = "model.bin", "model.xml", "tokenizer.json", "probes.f32", "about.json"
_CHECKED = "checked.json"
_PART = 1 << 22


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a converted model.

    Attributes:
        name: As the user who had it converted named it.
        dimension: Length of a vector.
        max_tokens: Most tokens read, special ones included; None when there is no limit.
        pad: Id that fills rows up.
        refused: Why it can't be converted; empty when it was.
        checksums: CRC-32 of each file.
    """

    name: str
    dimension: int = 0
    max_tokens: int | None = None
    pad: int = 0
    refused: str = ""
    checksums: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Converted:
    """A converted model in its folder, its files whole."""

    folder: Path
    about: About

    @property
    def graph(self) -> Path:
        """The model as OpenVINO reads it; its weights lie beside it."""
        return self.folder / _GRAPH

    @property
    def tokenizer(self) -> Path:
        """The model's ``tokenizer.json``."""
        return self.folder / _TOKENIZER

    def expected(self) -> Matrix:
        """Return the vectors that sentence-transformers gives for `PROBES`."""
        import numpy as np

        return np.fromfile(self.folder / _EXPECTED, dtype="<f4").reshape(len(PROBES), self.about.dimension)

    def agreement(self, machine: str) -> tuple[float, float] | None:
        """Return the (least, mean) cosine that was found on `machine` before, or None."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            least, mean = json.loads((self.folder / _CHECKED).read_bytes())[machine]
            return float(least), float(mean)
        return None

    def note_agreement(self, machine: str, least: float, mean: float) -> None:
        """Remember what `agreement` is to return; a folder that can't be written is left as it is."""
        path = self.folder / _CHECKED
        with suppress(OSError):
            known: dict[str, list[float]] = {}
            with suppress(OSError, ValueError):
                known = dict(json.loads(path.read_bytes()))
            _replace(path, json.dumps({**known, machine: [least, mean]}))


def converted_folder(fingerprint: str) -> Path:
    """Return where the conversion of a model is kept, whether or not it is there."""
    return cache_folder() / "models" / f"{fingerprint}-{FORMAT}"


def find_converted(files: ModelFiles) -> Converted | None:
    """Return the conversion of a model if it is there and whole; a damaged one is removed.

    Raises:
        ModelError: it was found before that this model can't be converted.
    """
    folder = converted_folder(files.fingerprint)
    about = _read(folder)
    if about is None:
        shutil.rmtree(folder, ignore_errors=True)
        return None
    if about.refused:
        raise ModelError(f"{files.name} can't be converted for OpenVINO: {about.refused}", _OTHER)
    return Converted(folder, about)


def obtain(files: ModelFiles, *, report: Reporter = ignore) -> Converted:
    """Return the conversion of a model, made first if need be (some ten seconds, once a model).

    Raises:
        ModelError: the model can't be converted, or the cache folder can't be written.
    """
    found = find_converted(files)
    if found is None:
        report(Event("model", note=f"converting {files.name} for this processor, once"))
        _convert_apart(files)
        found = find_converted(files)
    if found is None:
        raise ModelError(f"the conversion of {files.name} is not whole", _OTHER)
    return found


def write_entry(folder: Path, about: About) -> None:
    """Complete the files in `folder` with their checksums, and put it where `find_converted` looks."""
    names = [name for name in (_WEIGHTS, _GRAPH, _TOKENIZER, _EXPECTED) if (folder / name).is_file()]
    whole = About(**{**asdict(about), "checksums": {name: _crc(folder / name) for name in names}})
    (folder / _ABOUT).write_text(json.dumps(asdict(whole)), encoding="utf-8")


_OTHER = "Use --engine sentence-transformers."


def _convert_apart(files: ModelFiles) -> None:
    """Convert in a process of its own: torch stays out of this one, and a crash there is an error here."""
    target = converted_folder(files.fingerprint)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="making-", dir=target.parent, ignore_cleanup_errors=True) as scratch:
            entry = Path(scratch) / "entry"
            entry.mkdir()
            _run_conversion(files, entry)
            with suppress(OSError):  # another process was faster: its conversion is as good
                entry.rename(target)
    except OSError as error:
        raise ModelError(f"can't keep a converted model in {target.parent}: {error.strerror}", _OTHER) from error


def _run_conversion(files: ModelFiles, entry: Path) -> None:
    package = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH", "")]))
    arguments = [files.name, str(files.folder), files.fingerprint, str(entry)]
    done = subprocess.run(  # noqa: S603 (our own module, our own arguments)
        [sys.executable, "-m", "rag_index.embed.convert", *arguments],
        env={**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit status {done.returncode}"
        raise ModelError(f"{files.name} can't be converted for OpenVINO: {reason}", _OTHER)


def _read(folder: Path) -> About | None:
    try:
        about = About(**json.loads((folder / _ABOUT).read_bytes()))
        sound = all(_crc(folder / name) == crc for name, crc in (about.checksums or {}).items())
    except (OSError, ValueError, TypeError):
        return None
    return about if sound else None


def _crc(path: Path) -> int:
    total = 0
    for part in _parts(path):
        total = crc32(part, total)
    return total


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(_PART):
            yield part


def _replace(path: Path, text: str) -> None:
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)
