"""What a person sees of speed and of the cache folder."""

from __future__ import annotations

from dataclasses import asdict

from rag_index.cli.terminal import BOLD, paint, safe, say, say_json
from rag_index.embed.keeping import Kept
from rag_index.evaluate.speed import Speed


def show_speed(speed: Speed, *, as_json: bool) -> None:
    """Print what was measured."""
    if as_json:
        say_json(
            {name: round(value, 4) if isinstance(value, float) else value for name, value in asdict(speed).items()}
        )
        return
    padding = "" if speed.padding is None else f", {speed.padding:.1%} of the work was padding"
    _rows(
        {
            "files": f"{speed.files:,} ({speed.megabytes:.2f} MB), {speed.chunks:,} chunks, {speed.tokens:,} tokens",
            "model": f"{speed.model} ({speed.engine} {speed.precision})",
            "embedding": f"{speed.tokens_per_s:,.0f} tokens a second{padding}",
            "build": f"{speed.build_s:.1f} s, the model working for {speed.model_s:.1f} s, waiting {speed.waited:.1%}",
            "question": f"{speed.question_ms:.1f} ms to embed, {speed.warm_ms:.1f} ms to answer, warm",
            "cold": f"{speed.cold_s:.2f} s to answer in a new process",
        }
    )


def show_cache(kept: Kept, *, as_json: bool) -> None:
    """Print what the cache folder holds."""
    if as_json:
        models = [{"name": model.name, "mb": round(model.mb, 1), "folder": str(model.folder)} for model in kept.models]
        vectors = {"count": kept.vectors, "mb": round(kept.vectors_mb, 1), "limit_mb": kept.limit_mb}
        say_json({"folder": str(kept.folder), "vectors": vectors, "models": models})
        return
    rows = {"folder": str(kept.folder)}
    rows["vectors"] = f"{kept.vectors:,} ({kept.vectors_mb:.1f} of {kept.limit_mb:,.0f} MB)"
    rows |= {f"model {at}": f"{model.name} ({model.mb:.0f} MB)" for at, model in enumerate(kept.models, 1)}
    _rows(rows)


def _rows(rows: dict[str, str]) -> None:
    for name, text in rows.items():
        say(f"{paint(f'{name:<10}', BOLD)} {safe(text)}")
