"""Seconds that each cell took when it last ran: what chunks and shards are balanced by."""

import json
from pathlib import Path

from matrix.errors import storing
from matrix.sandbox.locks import build_lock, cache_root


def _store() -> Path:
    return cache_root() / "costs.json"


def load_costs() -> dict[str, float]:
    """{cell id: seconds}; empty when nothing was recorded."""
    try:
        raw = json.loads(_store().read_text())
        return {str(name): float(value) for name, value in raw.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}  # absent or damaged: guesses do


def save_costs(new: dict[str, float]) -> None:
    """Merge ``new`` into what was recorded. Raises StoreError."""
    with build_lock("costs"):
        merged = load_costs() | {name: round(value, 3) for name, value in new.items()}
        store = _store()
        scratch = store.with_suffix(".tmp")
        with storing("what cells cost", store):
            scratch.write_text(json.dumps(merged, sort_keys=True, indent=0))
            scratch.replace(store)
