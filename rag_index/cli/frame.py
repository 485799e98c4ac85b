"""What every command has in common: how it is declared, and the flags that follow from the settings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

Flags = Mapping[str, Any]
"""``part.name`` of a setting -> the value given on the command line; None where none was."""

IndexDir = Annotated[
    Path | None,
    typer.Option("--index", metavar="DIR", help="Index folder [default: the nearest .rag-index, upward]."),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings file [default: the nearest rag-index.toml, upward]."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLines = Annotated[bool, typer.Option("--jsonl", help="Print one JSON object a line.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

_NAMES = {
    "extract.include": ["--include"],
    "extract.exclude": ["--exclude"],
    "extract.no_ignore": ["--no-ignore/--ignore"],
    "extract.timeout_s": ["--timeout"],
    "chunk.separators": ["--separator"],
    "store.url": ["--store"],
    "search.limit": ["--limit", "-n"],
    "search.context": ["--context", "-C"],
}
"""Flags whose names are not simply those of their settings."""

_METAVARS = {int: "N", float: "N"}


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it was declared; `aliases` work too and are not listed."""

    function: Callable[..., None]
    name: str
    aliases: tuple[str, ...]
    example: str
    settings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


commands: list[Command] = []
"""All commands, in the order of the help text."""


def command(
    name: str, *aliases: str, example: str, settings: tuple[str, ...] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the decorated function to the program as the command `name`.

    Its docstring is the help text, which ends with `example`. It gets ``--debug``, and a flag for each setting
    of the parts in `settings`; what was given of these arrives in its parameter ``flags``.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        commands.append(Command(function, name, aliases, example, settings))
        return function

    return register


def add(app: typer.Typer, each: Command, *, whole: bool) -> None:
    """Add a command to `app`; not `whole`: only its name and help text, for the list of commands."""
    run = _with_flags(each.function, each.settings) if whole else _named_like(each.function)
    for name in each.names:
        app.command(name, hidden=name != each.name, epilog=f"\b\nExample:\n  {each.example}")(run)


def _named_like(function: Callable[..., None]) -> Callable[..., None]:
    def run() -> None: ...

    run.__doc__, run.__name__ = function.__doc__, function.__name__
    return run


def _with_flags(function: Callable[..., None], parts: tuple[str, ...]) -> Callable[..., None]:
    """Return `function` with one parameter a flag in place of ``flags``."""
    settings = list(_settings(parts))
    keys = {key.replace(".", "_"): key for key, _, _ in settings}

    def run(*, debug: bool, **given: Any) -> None:  # noqa: ANN401 (whatever the command declares)
        del debug  # `main` has looked for it already: it must hold for errors in the other flags too
        flags = {key: _plain(given.pop(name)) for name, key in keys.items()}
        function(**given, **({"flags": flags} if keys else {}))

    own = inspect.signature(function, eval_str=True).parameters.values()
    parameters = [each.replace(kind=each.KEYWORD_ONLY) for each in own if each.name != "flags"]
    parameters += [_flag(*setting) for setting in settings]
    parameters.append(inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__, run.__name__ = function.__doc__, function.__name__
    return run


def _settings(parts: tuple[str, ...]) -> Iterator[tuple[str, Any, str]]:
    """Yield key, type and meaning of every setting in `parts`."""
    from rag_index.settings import Settings

    default = Settings()
    for part in parts:
        cls = type(getattr(default, part))
        kinds, meanings = get_type_hints(cls), _meanings(cls)
        for each in fields(cls):
            yield f"{part}.{each.name}", kinds[each.name], meanings.get(each.name, "")


def _meanings(cls: type) -> dict[str, str]:
    """Read the ``Attributes:`` of a docstring: name -> one line."""
    section = inspect.getdoc(cls) or ""
    found = re.findall(r"^    (\w+): (.+(?:\n {5,}.+)*)", section.partition("Attributes:\n")[2], re.MULTILINE)
    return {name: " ".join(text.replace("`", "").split()) for name, text in found}


def _flag(key: str, kind: Any, meaning: str) -> inspect.Parameter:  # noqa: ANN401 (a type of any form)
    """Return the parameter for one setting; None or an empty list says that it was not given.

    Numbers arrive as text: the settings convert them, as they do for variables, with the same errors.
    """
    word = key.partition(".")[2].replace("_", "-")
    several = kind == tuple[str, ...]
    value = list[str] | None if several else (bool if kind is bool else str) | None
    metavar = None if kind is bool else _METAVARS.get(kind, "TEXT")
    names = _NAMES.get(key) or [f"--{word}/--no-{word}" if kind is bool else f"--{word}"]
    meaning += " Can be given several times." if several else ""
    option = typer.Option(*names, metavar=metavar, help=meaning)
    name = key.replace(".", "_")
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[value, option])


def _plain(value: Any) -> Any:  # noqa: ANN401
    return (tuple(value) or None) if isinstance(value, list) else value
