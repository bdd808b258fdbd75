"""The container engine: the only module that talks to it by the docker SDK, with its failures told apart.

The SDK takes a fifth of a second to load, so it is loaded where it is used: a run on the host does not need it.
"""

import socket
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from matrix.errors import EngineError
from matrix.sandbox.address import engine_address
from matrix.sandbox.tunnel import Tunnel

CALL_SECONDS = 60
"""How long the engine may take over one answer. Streams of a build or of a guest are not bound by it."""
_CHUNK_BYTES = 1 << 20
_CONFLICT = 409


class Gone(Exception):
    """The container, command or image that was asked for is not there any more, or not in a state to be used."""


@contextmanager
def engine_calls(doing: str) -> Iterator[None]:
    """Turn what the SDK raises while ``doing`` into Gone (ask again with a new container) or EngineError."""
    import docker.errors
    import urllib3.exceptions

    try:
        yield
    except docker.errors.NotFound as problem:
        raise Gone(str(problem.explanation or problem)) from None
    except docker.errors.APIError as problem:
        why = str(problem.explanation or problem)
        if problem.status_code == _CONFLICT:  # stopped, paused, or being removed
            raise Gone(why) from None
        step = "the text is the engine's own; `docker info` shows its state"
        raise EngineError(f"the container engine refuses: {doing}", why=why, step=step) from None
    except (docker.errors.DockerException, urllib3.exceptions.HTTPError, OSError) as problem:
        why = f"{doing}: {_root(problem)}"
        _close_sockets(problem)
        raise EngineError("the container engine does not answer", why=why) from None


def _chain(problem: BaseException) -> Iterator[BaseException]:
    """``problem`` and what it was raised for, down to the first."""
    link: BaseException | None = problem
    while link is not None:
        yield link
        link = link.__context__


def _root(problem: BaseException) -> str:
    """The operating system's own words if it said any, without the layers around them."""
    return next(
        (link.strerror for link in _chain(problem) if isinstance(link, OSError) and link.strerror), str(problem)
    )


def _close_sockets(problem: BaseException) -> None:
    """When a connection is refused, the SDK leaves its socket to the garbage collector, which warns of it later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for link in _chain(problem):
            traceback.clear_frames(link.__traceback__)


class Engine:
    """One connection to the engine that DOCKER_HOST or the docker context names (default: the local socket)."""

    def __init__(self, seconds: int = CALL_SECONDS) -> None:
        import docker

        chosen = engine_address()
        self.address = chosen.url
        self._tunnel = Tunnel(self.address) if self.address.startswith("ssh://") else None
        url = self._tunnel.address if self._tunnel else self.address
        try:
            with engine_calls(f"connect to {self.address}"):
                self._client: Any = docker.DockerClient(url, tls=chosen.tls or False, timeout=seconds)
                self._api: Any = self._client.api
                self._api.ping()
        except BaseException as problem:
            if self._tunnel:
                self._tunnel.close()
            if not isinstance(problem, EngineError | ValueError | TypeError | Gone):
                raise
            # The SDK parses addresses by hand: what it cannot parse ends in a ValueError or a TypeError of anything.
            why = problem.why if isinstance(problem, EngineError) else f"connect to {self.address}: {problem}"
            what = "the container engine does not answer"
            raise EngineError(what, where=f"{self.address}, by {chosen.chosen_by}", why=why, step=chosen.step) from None

    def close(self) -> None:
        """Close the connections; the next call opens one again, unless they go through ssh."""
        self._client.close()
        if self._tunnel:
            self._tunnel.close()

    def facts(self) -> dict[str, Any]:
        """What the engine says of itself: ``Architecture``, ``ServerVersion``, ``SecurityOptions`` and more."""
        with engine_calls("ask the engine about itself"):
            return dict(self._api.info())

    # images

    def image_id(self, reference: str) -> str | None:
        """The id of an image that the engine has, or None."""
        with suppress(Gone), engine_calls(f"look for image {reference}"):
            return str(self._api.inspect_image(reference)["Id"])
        return None

    def images(self, label: str) -> list[dict[str, Any]]:
        """The images that carry ``label``, newest first."""
        with engine_calls("list images"):
            found = self._api.images(filters={"label": label})
        return sorted(found, key=lambda image: int(image["Created"]), reverse=True)

    def pull(self, reference: str) -> Iterator[dict[str, Any]]:
        """Pull an image; yields the engine's progress records. Raises EngineError when there is none to pull."""
        with engine_calls(f"pull {reference}"):
            yield from self._api.pull(reference, stream=True, decode=True)

    def import_image(self, file: str, reference: str, changes: Sequence[str]) -> None:
        """Make an image of the root file system in the tar ``file``; ``changes`` are Dockerfile lines."""
        repository, _, tag = reference.partition(":")
        with engine_calls(f"import {reference}"), open(file, "rb") as stream:
            chunks = iter(lambda: stream.read(_CHUNK_BYTES), b"")
            self._api.import_image_from_stream(chunks, repository=repository, tag=tag, changes=list(changes))

    def build(self, context: Any, **options: Any) -> Iterator[dict[str, Any]]:
        """Build an image from a tar stream; yields the engine's progress records."""
        with engine_calls("build an image"):
            yield from self._api.build(
                fileobj=context, custom_context=True, decode=True, rm=True, forcerm=True, **options
            )

    # volumes and containers

    def make_volume(self, name: str, labels: Mapping[str, str]) -> None:
        """Create the volume ``name`` unless it exists."""
        with engine_calls(f"create volume {name}"):
            self._api.create_volume(name, labels=dict(labels))

    def start_container(self, image: str, command: Sequence[str], **options: Any) -> tuple[str, "Stream"]:
        """Create and start a container whose stdin is ours. Returns (id, stdin): closing ``stdin`` closes its input."""
        from docker.types import LogConfig

        with engine_calls("start a container"):
            log = LogConfig(type="none")
            container = self._client.containers.create(image, list(command), stdin_open=True, log_config=log, **options)
            try:
                stdin = Stream(self._api.attach_socket(container.id, params={"stdin": 1, "stream": 1}))
                container.start()
            except BaseException:
                with suppress(Exception):
                    container.remove(force=True)
                raise
            return str(container.id), stdin

    def containers(self, label: str) -> list[dict[str, Any]]:
        """All containers, running or not, that carry ``label``."""
        with engine_calls("list containers"):
            return list(self._api.containers(all=True, filters={"label": label}))

    def runs(self, container: str) -> bool:
        """Whether ``container`` exists and runs."""
        with suppress(Gone), engine_calls("look at a container"):
            return bool(self._api.inspect_container(container)["State"]["Running"])
        return False

    def happened(self, container: str, names: Sequence[str], seconds: float) -> set[str]:
        """Which of the events ``names`` (docker-events(1)) the engine has seen of ``container`` in the last
        ``seconds``, by its own clock."""
        with engine_calls("ask what happened to a container"):
            now = datetime.fromisoformat(self._api.info()["SystemTime"])
            wanted = {"container": container, "event": list(names)}
            since = now - timedelta(seconds=seconds)
            found = self._api.events(since=since.timestamp(), until=now.timestamp(), filters=wanted, decode=True)
            return {event["Action"] for event in found}

    def remove_container(self, container: str) -> None:
        """Kill and remove ``container``; not there is fine."""
        with suppress(Gone), engine_calls("remove a container"):
            self._api.remove_container(container, force=True)

    # commands in containers

    def start_command(self, container: str, argv: Sequence[str]) -> tuple[str, "Stream"]:
        """Start ``argv`` in a running container, its stdin and output attached. Raises Gone."""
        with engine_calls("start a command in a container"):
            command = str(self._api.exec_create(container, list(argv), stdin=True)["Id"])
            return command, Stream(self._api.exec_start(command, socket=True))

    def command_status(self, command: str) -> int | None:
        """The exit status of a command, None while it runs. Raises Gone."""
        with engine_calls("ask for an exit status"):
            state = self._api.exec_inspect(command)
        return None if state["Running"] or state["ExitCode"] is None else int(state["ExitCode"])


class Stream:
    """The socket of something attached, as the SDK hands it out, with what has to be kept alive around it."""

    def __init__(self, handed_out: Any) -> None:
        self._handed_out = handed_out
        self.socket: socket.socket = getattr(handed_out, "_sock", handed_out)
        if not isinstance(self.socket, socket.socket):
            kind = type(self.socket).__name__
            step = "reach the engine by a unix:// or tcp:// address: `ssh -L` can forward one"
            raise EngineError("the engine's streams cannot be used", why=f"its connection is a {kind}", step=step)
        self.socket.setblocking(False)

    def close(self) -> None:
        """Give the connection up."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        response = getattr(self._handed_out, "_response", None)
        if response is not None:
            response.close()
        self._handed_out.close()
        self.socket.close()
