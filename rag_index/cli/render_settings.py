"""Settings as a person sees them: values and where they came from."""

from __future__ import annotations

from rag_index.cli.terminal import DIM, paint, safe, say, say_json, to_json
from rag_index.settings import Resolved


def show_settings(resolved: Resolved, *, as_json: bool) -> None:
    """Print every setting with its value and origin."""
    parts = resolved.settings.to_dict()
    if as_json:
        say_json(
            {
                part: {
                    name: {"value": value, "origin": resolved.origins[f"{part}.{name}"]}
                    for name, value in names.items()
                }
                for part, names in parts.items()
            }
        )
        return
    for part, names in parts.items():
        say(f"[{part}]")
        for name, value in names.items():
            line = f"{name} = {to_json(value)}" if value is not None else f"# {name} is not set"
            say(f"{safe(line):<58} {paint('# ' + safe(resolved.origins[f'{part}.{name}']), DIM)}")
        say()
