"""Which state a build writes: the one that answers, or a new one beside it when settings have changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_index.errors import IndexUnusableError
from rag_index.settings import Settings, fingerprint
from rag_index.store import Layout, Manifest
from rag_index.store.layout import drop_folder
from rag_index.types import Embedder, ModelInfo


@dataclass(slots=True)
class Work:
    """The states of one build.

    Attributes:
        manifest: The state that is written.
        before: The state that answers, when it is another one; its texts and vectors are used again.
    """

    manifest: Manifest
    before: Manifest | None = None

    def close(self) -> None:
        """Close both."""
        self.manifest.close()
        if self.before:
            self.before.close()


def identity(settings: Settings) -> dict[str, Any]:
    """Return what decides the content of an index for given texts; another identity is another state."""
    return {
        "chunk": fingerprint(settings.chunk),
        "model": [settings.embed.model, settings.embed.query_prompt, settings.embed.document_prompt],
        "extract": [settings.extract.encoding, settings.extract.hidden_text, settings.extract.keep_furniture],
    }


def same_model(stored: ModelInfo, loaded: ModelInfo) -> bool:
    """Whether vectors of the two may stand in one index."""
    return (stored.fingerprint, stored.dimension, stored.document_prompt, stored.query_prompt) == (
        loaded.fingerprint,
        loaded.dimension,
        loaded.document_prompt,
        loaded.query_prompt,
    )


def open_work(layout: Layout, settings: Settings, root: Path, embedder: Embedder | None, load: Any) -> Work:  # noqa: ANN401
    """Open the states for a build with `settings`; makes a new one where need be (then `load` gives the model).

    Args:
        layout: Paths of the index, whose lock is held.
        settings: What the build is to be made with.
        root: Folder that names are relative to.
        embedder: The model if it is loaded already: then its identity is compared, too.
        load: Gives the model.
    """
    states = layout.states()
    current = Manifest.open(layout.current()) if states else None
    if current is not None and _fits(current, settings, embedder):
        drop_others(layout, current.folder)
        return Work(current)
    try:
        return _make_anew(layout, settings, root, current, load)
    except BaseException:
        if current is not None:
            current.close()
        raise


def _make_anew(layout: Layout, settings: Settings, root: Path, current: Manifest | None, load: Any) -> Work:  # noqa: ANN401
    """Go on with the state that an interrupted build began with these settings, or make a new one."""
    states = layout.states()
    model = load().info
    for folder in states:
        if current is not None and folder != current.folder:
            found = _resumable(folder, settings, load())
            if found:
                return Work(found, current)
    if current is not None:
        drop_others(layout, current.folder)
    number = 1 + max((int(folder.name[6:]) for folder in states), default=0)
    made = Manifest.create(
        layout.index / f"state-{number}",
        settings,
        model,
        root=relative_root(root, layout.index),
        generation=int(current.value("generation")) if current else 0,
        index_id=str(current.value("index_id")) if current else "",
    )
    if current is None:
        layout.point_to(made.folder)  # a first build answers from its first unit on
    return Work(made, current)


def root_of(layout: Layout, state: Mapping[str, Any]) -> Path:
    """Return the root that a state has stored."""
    return Path(os.path.normpath(layout.index.absolute() / state["root"]))


def relative_root(root: Path, index: Path) -> str:
    """Name the root so that a folder may be moved together with the index in it."""
    folder = Path(os.path.abspath(index))  # noqa: PTH100
    return os.path.relpath(root, folder) if root == folder.parent or root in folder.parents else str(root)


def _fits(manifest: Manifest, settings: Settings, embedder: Embedder | None) -> bool:
    stored = Settings.from_dict(manifest.value("settings"))
    return identity(stored) == identity(settings) and (embedder is None or same_model(manifest.model, embedder.info))


def _resumable(folder: Path, settings: Settings, embedder: Embedder) -> Manifest | None:
    """Open a state that an interrupted build began with the same settings."""
    try:
        manifest = Manifest.open(folder)
    except IndexUnusableError:
        return None
    if _fits(manifest, settings, embedder):
        return manifest
    manifest.close()
    return None


def drop_others(layout: Layout, current: Path) -> None:
    """Delete all states but `current`, half-made ones too."""
    for folder in layout.index.glob("state-*"):
        if folder != current:
            drop_folder(folder)
