"""Settings and where each value came from: flag > environment > project file > user file > default."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from rag_index.errors import ConfigError, UnknownNameError, UsageError

FILE_NAME = "rag-index.toml"
ENV_PREFIX = "RAG_INDEX_"
SWEEP = "sweep"
"""Table of a settings file that says what `eval` compares; it configures nothing else."""
DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_SIZE = {"characters": 1000, "tokens": 250}
"""Chunk size where none is given, by unit; the overlap is a fifth of it."""


@dataclass(frozen=True, slots=True)
class ExtractSettings:
    """How files become text.

    Attributes:
        encoding: Codec of text files; empty to find it out.
        hidden_text: What to do with text that a reader of the file can't see: ``drop``, ``flag`` or ``keep``.
        keep_furniture: Chunk navigation, running headers and footers too.
        include: Globs that a path must match, if any are given.
        exclude: Globs of paths to leave out.
        hidden: Read files and folders whose name begins with a dot.
        no_ignore: Read what ``.gitignore`` and ``.ragignore`` leave out.
        max_file_mb: Larger files are left out, and said.
        max_text: Most characters of one document; a longer one is cut, and said.
        max_pages: Most pages of one document that are read.
        max_unpacked_mb: Most megabytes that the parts of a zip-based document may take unpacked.
        max_parts: Most parts of a zip-based document.
        timeout_s: Seconds that one file may take.
        memory_mb: Memory that one extraction may take.
        workers: Extraction processes; 0 for one a core.
    """

    encoding: str = ""
    hidden_text: str = "flag"
    keep_furniture: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    hidden: bool = False
    no_ignore: bool = False
    max_file_mb: float = 100
    max_text: int = 20_000_000
    max_pages: int = 5000
    max_unpacked_mb: float = 256
    max_parts: int = 10_000
    timeout_s: float = 60
    memory_mb: int = 2048
    workers: int = 0

    def __post_init__(self) -> None:
        _choose("extract.hidden_text", self.hidden_text, ("drop", "flag", "keep"))
        _at_least("extract.max_file_mb", self.max_file_mb, 0)
        _at_least("extract.max_text", self.max_text, 1)
        _at_least("extract.max_pages", self.max_pages, 1)
        _at_least("extract.max_unpacked_mb", self.max_unpacked_mb, 0)
        _at_least("extract.max_parts", self.max_parts, 1)
        _at_least("extract.timeout_s", self.timeout_s, 0)
        _at_least("extract.memory_mb", self.memory_mb, 64)
        _at_least("extract.workers", self.workers, 0)


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How text becomes chunks.

    Attributes:
        chunker: ``character`` (alias ``recursive``), ``window``, ``sentence``, ``semantic`` or a plug-in's name.
        size: Most units in a chunk.
        overlap: Most units that neighbours share; less than `size`.
        unit: ``characters`` (code points) or ``tokens`` (the model's).
        separators: Borders that ``character`` prefers, best first; empty for its own.
        language: ISO 639-1 code for ``sentence``, or ``auto``.
        sections: Keep chunks inside one heading section.
        heading_context: Put the heading path before the text that is embedded (never into the chunk).
        percentile: `semantic` cuts where the distance of neighbours is at or above this percentile.
        neighbours: Sentences on each side that `semantic` compares.
        min_size: Fewest characters of a chunk of `semantic`, where there are as many; 0 for a quarter of `size`.
    """

    chunker: str = "character"
    size: int = 1000
    overlap: int = 200
    unit: str = "characters"
    separators: tuple[str, ...] = ()
    language: str = "auto"
    sections: bool = False
    heading_context: bool = False
    percentile: int = 90
    neighbours: int = 2
    min_size: int = 0

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UsageError(f"size is {self.size} but must be at least 1", "Raise --size.")
        if not 0 <= self.overlap < self.size:
            raise UsageError(
                f"overlap is {self.overlap} but must be from 0 to size - 1 ({self.size - 1})",
                "Lower --overlap or raise --size.",
            )
        _choose("chunk.unit", self.unit, ("characters", "tokens"))
        _at_least("chunk.neighbours", self.neighbours, 1)
        _at_least("chunk.min_size", self.min_size, 0)
        if not 0 <= self.percentile <= 100:  # noqa: PLR2004 (a percentile)
            raise UsageError(
                f"chunk.percentile is {self.percentile} but must be from 0 to 100", "Mend chunk.percentile."
            )


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """Which model makes the vectors, and on what.

    Attributes:
        model: A sentence-transformers name or folder, ``use-multilingual``, ``hash`` or a plug-in's name.
        engine: ``auto``, ``openvino`` or ``sentence-transformers``.
        precision: ``auto``, ``fp32`` or ``bf16``.
        device: ``auto``, ``cpu``, ``cuda``, ...
        query_prompt: Put before questions; None for the model's own.
        document_prompt: Put before chunks; None for the model's own.
        batch_tokens: Padded tokens in one batch; 0 for the engine's own.
    """

    model: str = DEFAULT_MODEL
    engine: str = "auto"
    precision: str = "auto"
    device: str = "auto"
    query_prompt: str | None = None
    document_prompt: str | None = None
    batch_tokens: int = 0

    def __post_init__(self) -> None:
        _choose("embed.engine", self.engine, ("auto", "openvino", "sentence-transformers"))
        _choose("embed.precision", self.precision, ("auto", "fp32", "bf16"))
        _at_least("embed.batch_tokens", self.batch_tokens, 0)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the vectors are published.

    Attributes:
        url: ``http://host:port`` of a Chroma server; empty for a folder in the index.
        collection: Name of the Chroma collection.
        publish: Make Chroma's copy after each build; off when only rag-index reads the index.
    """

    url: str = ""
    collection: str = "rag_index"
    publish: bool = True


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a question is answered; nothing here changes the index.

    Attributes:
        limit: Most passages.
        mode: ``hybrid``, ``dense`` or ``keyword``.
        passages: ``sentence`` (the best sentences in the best chunks), ``chunk`` or ``window`` (chunks grown
            to paragraph borders).
        context: Neighbouring sentences added on each side of a passage.
        budget: Most characters (or tokens) in all passages together; 0 for no bound.
        budget_unit: ``characters``, or ``tokens`` of the index's model.
        min_score: Passages below this score are left out.
        max_per_file: Most passages of one document; 0 for no bound.
        retriever: ``auto``, ``exact`` or ``chroma``.
        rerank: Name or folder of a cross-encoder; empty for none.
    """

    limit: int = 5
    mode: str = "hybrid"
    passages: str = "sentence"
    context: int = 0
    budget: int = 0
    budget_unit: str = "characters"
    min_score: float = 0.0
    max_per_file: int = 0
    retriever: str = "auto"
    rerank: str = ""

    def __post_init__(self) -> None:
        _at_least("search.limit", self.limit, 1)
        _choose("search.mode", self.mode, ("hybrid", "dense", "keyword"))
        _choose("search.passages", self.passages, ("sentence", "chunk", "window"))
        _at_least("search.context", self.context, 0)
        _at_least("search.budget", self.budget, 0)
        _choose("search.budget_unit", self.budget_unit, ("characters", "tokens"))
        _at_least("search.max_per_file", self.max_per_file, 0)
        _choose("search.retriever", self.retriever, ("auto", "exact", "chroma"))


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured, by stage."""

    extract: ExtractSettings = field(default_factory=ExtractSettings)
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    search: SearchSettings = field(default_factory=SearchSettings)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Mapping[str, Any]]) -> Settings:
        """Read back what `to_dict` gave; raises ConfigError for unknown names."""
        flat = {f"{part}.{name}": value for part, names in values.items() for name, value in names.items()}
        return _assemble({key: (value, "stored settings") for key, value in flat.items()})


@dataclass(frozen=True, slots=True)
class Resolved:
    """Settings, and for every ``part.name`` where its value came from."""

    settings: Settings
    origins: Mapping[str, str]


def fingerprint(settings: ChunkSettings) -> str:
    """Return a digest of everything that decides which chunks a text gives (16 hex digits)."""
    plain = json.dumps(asdict(settings), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def load_settings(
    flags: Mapping[str, Any] | None = None,
    *,
    near: Path | None = None,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Resolved:
    """Collect the settings for work at `near`.

    Args:
        flags: ``{"chunk.size": 500}``; None values are flags that were not given.
        near: Folder from which ``rag-index.toml`` is looked for upward (default: the current one).
        config: Use this file instead of looking for one.
        environ: Variables; ``RAG_INDEX_CHUNK_SIZE`` sets ``chunk.size``.

    Raises:
        ConfigError: a file is not TOML, a key is unknown, or a value is of the wrong kind.
        UsageError: a value is out of its range.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, tuple[Any, str]] = {}
    user = _user_file(environ)
    project = config or find_config(near or Path.cwd())
    for path in (user, project):
        if path and (path.is_file() or path == config):
            values.update(_read_file(path))
    for key in _keys():
        variable = ENV_PREFIX + key.replace(".", "_").upper()
        if variable in environ:
            values[key] = (environ[variable], variable)
    for key, value in (flags or {}).items():
        if value is not None:
            values[key] = (value, "flag")
    _default_sizes(values)
    settings = _assemble(values)
    origins = {key: values[key][1] if key in values else "default" for key in _keys()}
    return Resolved(settings, origins)


def find_config(folder: Path) -> Path | None:
    """Return the nearest ``rag-index.toml`` in `folder` or above it."""
    start = folder.absolute()
    for place in (start, *start.parents):
        if (place / FILE_NAME).is_file():
            return place / FILE_NAME
    return None


def _default_sizes(values: dict[str, tuple[Any, str]]) -> None:
    """Let size follow the unit and overlap follow the size where only one of them was given."""
    given = {name: values[f"chunk.{name}"][0] for name in ("unit", "size", "overlap") if f"chunk.{name}" in values}
    if "size" not in given and given.get("unit") in DEFAULT_SIZE and "unit" in given:
        values["chunk.size"] = (DEFAULT_SIZE[given["unit"]], "default for the unit")
    if "overlap" not in given and "chunk.size" in values:
        size = _convert("chunk.size", values["chunk.size"][0], int, values["chunk.size"][1])
        values["chunk.overlap"] = (size // 5, "a fifth of the size")


def _user_file(environ: Mapping[str, str]) -> Path | None:
    home = environ.get("XDG_CONFIG_HOME") or (environ.get("HOME") and f"{environ['HOME']}/.config")
    return Path(home) / "rag-index" / "config.toml" if home else None


def _read_file(path: Path) -> dict[str, tuple[Any, str]]:
    try:
        tables = tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"can't read {path}: {error.strerror}", "Check --config.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", "Mend the line that the message names.") from error
    values: dict[str, tuple[Any, str]] = {}
    for part, names in tables.items():
        if part == SWEEP:
            continue
        if not isinstance(names, dict):
            raise _unknown(part, path)
        for name, value in names.items():
            key = f"{part}.{name}"
            if key not in _keys():
                raise _unknown(key, path)
            values[key] = (value, str(path))
    return values


def _unknown(key: str, path: Path) -> ConfigError:
    error = UnknownNameError.named("setting", key, _keys())
    return ConfigError(f"{path}: {error.message}", error.hint)


def _parts() -> dict[str, Any]:
    """Return the name of each part of `Settings` -> its class."""
    return {part.name: type(getattr(Settings(), part.name)) for part in fields(Settings)}


def _keys() -> dict[str, Any]:
    """Return ``part.name`` -> type for every setting."""
    return {f"{part}.{name}": kind for part, cls in _parts().items() for name, kind in get_type_hints(cls).items()}


def _assemble(values: Mapping[str, tuple[Any, str]]) -> Settings:
    kinds = _keys()
    by_part: dict[str, dict[str, Any]] = {part: {} for part in _parts()}
    for key, (value, origin) in values.items():
        if key not in kinds:
            error = UnknownNameError.named("setting", key, kinds)
            raise ConfigError(error.message, error.hint)
        part, name = key.split(".")
        by_part[part][name] = _convert(key, value, kinds[key], origin)
    made = {part: cls(**by_part[part]) for part, cls in _parts().items()}
    return replace(Settings(), **made)


def _convert(key: str, value: Any, kind: Any, origin: str) -> Any:  # noqa: ANN401 (any TOML value)
    """Turn `value` into `kind`; text from variables is read as that kind."""
    try:
        return _as_kind(value, kind)
    except (TypeError, ValueError) as error:
        name = getattr(kind, "__name__", str(kind))
        raise ConfigError(f"{key} is {value!r} ({origin}) but must be of type {name}", f"Mend {key}.") from error


def _as_kind(value: Any, kind: Any) -> Any:  # noqa: ANN401
    if get_origin(kind) is UnionType:
        return None if value is None else _as_kind(value, get_args(kind)[0])
    if get_origin(kind) is tuple:
        items = value.split(",") if isinstance(value, str) else value
        if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
            raise TypeError
        return tuple(items)
    if kind is bool:
        return _as_bool(value)
    if isinstance(value, bool) or (kind is str and not isinstance(value, str)):
        raise TypeError
    if kind is int and isinstance(value, float):
        raise TypeError  # int() would drop the fraction in silence
    return kind(value)


def _as_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    known = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if str(value).lower() not in known:
        raise TypeError
    return known[str(value).lower()]


def _choose(key: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        error = UnknownNameError.named("value", value, allowed)
        raise UsageError(f"{key}: {error.message}", error.hint)


def _at_least(key: str, value: float, least: float) -> None:
    if not value >= least:
        raise UsageError(f"{key} is {value} but must be at least {least}", f"Raise {key}.")
