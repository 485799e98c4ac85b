"""The program `rag-index`: runs a command, and is the one place where an error becomes text."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Any

import typer
import typer.main

from rag_index import __version__
from rag_index.cli import asking, evaluating, indexing, looking, measuring, upkeep  # noqa: F401 (each adds its commands)
from rag_index.cli.frame import Command, Debug, add, commands
from rag_index.cli.terminal import RED, paint, safe, to_json
from rag_index.errors import RagIndexError

COMPLETING = "_RAG_INDEX_COMPLETE"
"""Variable by which a shell asks for completions."""

CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""How help looks, in typer's words."""


def program(arguments: Sequence[str] = ()) -> Any:  # noqa: ANN401 (typer doesn't show the type of its groups)
    """Return all commands as one program; a name among `arguments` gives that command its flags.

    Making all flags of all commands takes longer than Python's start.
    """
    app = _app(add_completion=True)
    app.callback()(_program)
    for each in commands:
        add(app, each, whole=COMPLETING in os.environ or bool({*each.names} & {*arguments}))
    return typer.main.get_command(app)


def _alone(command: Command) -> Any:  # noqa: ANN401
    """Return one command as a program. Going through the group would import pydantic, even for ``--help``."""
    app = _app(add_completion=False)
    add(app, replace(command, aliases=()), whole=True)
    return typer.main.get_command(app)


def _app(*, add_completion: bool) -> typer.Typer:
    # With rich's markup `--help` takes twice as long.
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=add_completion)


def _version(wanted: bool) -> None:  # noqa: FBT001 (typer calls it with the flag's value)
    if wanted:
        print(f"rag-index {__version__}")
        raise typer.Exit


def _program(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Search your own documents and get the exact source passage.

    `rag-index build docs` makes an index of a folder, `rag-index query "..."` answers from it.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: What follows the program's name; default: this process's own.
    """
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    _prepare_streams(as_json=_asked(given, "--json", "--jsonl"))
    try:
        with _stoppable():
            code = _run(given)
            sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except Exception as error:
        if _asked(given, "--debug"):
            raise
        message, hint, code = _explain(error)
        _complain(message, hint, code, as_json=_asked(given, "--json", "--jsonl"))
    return code


def _run(arguments: list[str]) -> int:
    """Parse and run, without the exits and messages that typer would add."""
    if COMPLETING in os.environ:
        program()(prog_name="rag-index")  # a shell asks; doesn't return
    named = next((each for each in commands if arguments[0] in each.names), None)
    if named:
        made, path, rest = _alone(named), f"rag-index {named.name}", arguments[1:]
    else:
        made, path, rest = program(arguments), "rag-index", arguments
    try:
        with made.make_context(path, rest, **CONTEXT) as context:
            made.invoke(context)
    except typer.Exit as stop:
        return stop.exit_code
    return 0


def _asked(arguments: Sequence[str], *names: str) -> bool:
    """Whether a flag stands among the arguments, before ``--``; true also where parsing fails."""
    until = arguments.index("--") if "--" in arguments else len(arguments)
    return any(name in arguments[:until] for name in names)


def _explain(error: Exception) -> tuple[str, str, int]:
    """Return message, hint and exit code for what ended the command."""
    if isinstance(error, RagIndexError):
        return error.message, error.hint, error.exit_code
    if isinstance(error, typer.TyperException):
        return *_explain_usage(error), 2
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename!r}" if error.filename else ""
        return f"{error.strerror.lower()}{where}", "", 1
    return f"internal error: {type(error).__name__}: {error}", "Run it again with --debug and report the traceback.", 1


def _explain_usage(error: Any) -> tuple[str, str]:  # noqa: ANN401 (typer shows only the base of its errors)
    """Bring typer's message into our form: lower case, no full stop, what to do as a hint."""
    context = getattr(error, "ctx", None)
    hint = f"See `{context.command_path} --help`." if context else "See `rag-index --help`."
    near = getattr(error, "possibilities", None)
    message = error.message if near else error.format_message()
    message, found, guess = message.partition(". Did you mean ")
    if found:
        hint = f"Did you mean {guess.partition(',')[0].rstrip('?')}?"
    elif near:
        hint = f"Did you mean {near[0]!r}?"
    return message[:1].lower() + message[1:].rstrip("."), hint


def _complain(message: str, hint: str, code: int, *, as_json: bool) -> None:
    """Write an error to stderr, as text or as one JSON object; stdout stays data."""
    if as_json:
        print(to_json({"error": message, "hint": hint, "exit_code": code}), file=sys.stderr)
        return
    print(f"{paint('error:', RED, sys.stderr)} {safe(message)}", file=sys.stderr)
    if hint:
        print(f"hint: {safe(hint)}", file=sys.stderr)


def _prepare_streams(*, as_json: bool) -> None:
    """Let no character end the program: what the terminal can't show is escaped. JSON is UTF-8 everywhere."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8" if as_json else None, errors="backslashreplace")


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, so that files and children are put in order; not in children."""
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _stop(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _stop_at_once() -> None:
    """Give a forked child the plain SIGTERM back: native code there would never reach our handler."""
    if signal.getsignal(signal.SIGTERM) is _stop:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stop_at_once)
