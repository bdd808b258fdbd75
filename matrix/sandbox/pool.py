"""The containers of this process: made when first needed, made again when lost, removed at the end."""

import atexit
import os
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import TypeVar

from matrix.errors import EngineError
from matrix.sandbox.container import Container
from matrix.sandbox.engine import Engine, Gone

T = TypeVar("T")
_TRIES = 3


class Pool:
    """At most one container per (kind, image family); safe to use from threads."""

    def __init__(self, engine: Engine, image_of: Callable[[str], str]) -> None:
        """``image_of(family)`` gives the image, and makes it when the engine has it no more."""
        self._engine = engine
        self._image_of = image_of
        self._containers: dict[tuple[str, str], Container] = {}
        self._lock = Lock()
        self._pid = os.getpid()
        atexit.register(self.close)

    def use(self, kind: str, family: str, action: Callable[[str], T]) -> T:
        """``action(container id)``, again with a new container when it raises Gone. Raises EngineError."""
        why = ""
        for _ in range(_TRIES):
            container = None
            try:
                container = self._get(kind, family)
                return action(container.id)
            except Gone as problem:
                why = str(problem)
                if container:
                    self._drop(kind, family, container)
        raise EngineError(f"{kind} containers end as soon as they start", why=why, step="`docker events` shows why")

    def close(self) -> None:
        """Remove all of them; an engine that is gone takes them with it."""
        if os.getpid() != self._pid:
            return  # a forked child has no containers
        with self._lock:
            for container in self._containers.values():
                with suppress(EngineError):
                    container.close()
            self._containers.clear()

    def _get(self, kind: str, family: str) -> Container:
        with self._lock:
            if (kind, family) not in self._containers:
                image = self._image_of(family)
                self._containers[kind, family] = Container(self._engine, image, kind, family)
            return self._containers[kind, family]

    def _drop(self, kind: str, family: str, container: Container) -> None:
        with self._lock:
            if self._containers.get((kind, family)) is container:
                del self._containers[kind, family]
                container.close()
