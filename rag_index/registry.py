"""Find an implementation by its name, importing it only when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from rag_index.errors import UnknownNameError


class Registry:
    """Names of one kind of component.

    Built-ins are ``"module:attribute"`` strings, so that naming one imports nothing. Installed plug-ins
    (entry-point group ``rag_index.<kind>s``) are looked for only when a name is not built in: that scan
    opens the metadata of every installed distribution.
    """

    def __init__(self, kind: str, builtin: Mapping[str, str]) -> None:
        self.kind = kind
        self.builtin = dict(builtin)

    def load(self, name: str) -> Any:  # noqa: ANN401 (each kind has its own Protocol; callers annotate)
        """Return what is registered as `name`.

        Raises:
            UnknownNameError: nothing of this kind has that name.
        """
        target = self.builtin.get(name) or self._plugins().get(name)
        if target is None:
            raise UnknownNameError.named(self.kind, name, self.names())
        module, _, attribute = target.partition(":")
        return getattr(import_module(module), attribute)

    def check(self, name: str) -> None:
        """Raise what `load` would raise for an unknown name, importing nothing."""
        if name not in self.builtin and name not in self._plugins():
            raise UnknownNameError.named(self.kind, name, self.names())

    def names(self) -> list[str]:
        """Return all names, plug-ins included, sorted."""
        return sorted({*self.builtin, *self._plugins()})

    def _plugins(self) -> dict[str, str]:
        return {point.name: point.value for point in entry_points(group=f"rag_index.{self.kind}s")}
