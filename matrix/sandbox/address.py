"""Where the container engine is: what the docker command would take, and who chose it.

The docker SDK is loaded where it is used: see ``engine``.
"""

import os
from dataclasses import dataclass
from typing import Any

from matrix.errors import EngineError

_DEFAULT = "default"
_OTHER = "`docker context use default` goes back to the local socket; DOCKER_HOST wins over a context"


@dataclass(frozen=True)
class Address:
    """``url`` of the engine; ``chosen_by`` says who chose it and ``step`` what to do when nobody answers there.

    ``tls`` is what the SDK takes for it.
    """

    url: str
    chosen_by: str
    step: str
    tls: Any = None


def engine_address() -> Address:
    """DOCKER_HOST, else the docker context, else the local socket. Raises EngineError for a broken context."""
    from docker.constants import DEFAULT_UNIX_SOCKET
    from docker.context import ContextAPI
    from docker.context.config import get_current_context_name
    from docker.errors import DockerException
    from docker.utils import kwargs_from_env
    from docker.utils.config import find_config_file

    if host := os.environ.get("DOCKER_HOST"):
        try:
            tls = kwargs_from_env().get("tls")
        except DockerException as problem:
            step = "correct DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, or choose `--sandbox host`"
            raise EngineError("TLS for DOCKER_HOST cannot be set up", where=host, why=str(problem), step=step) from None
        step = "start the engine, correct or unset DOCKER_HOST, or choose `--sandbox host`"
        return Address(host, "DOCKER_HOST", step, tls)
    if name := os.environ.get("DOCKER_CONTEXT"):
        chosen_by = f"docker context {name!r}, which DOCKER_CONTEXT names"
    else:
        name = get_current_context_name()
        chosen_by = f"docker context {name!r}, which {find_config_file()} names"
    if name == _DEFAULT:
        local = DEFAULT_UNIX_SOCKET.replace("http+unix", "unix")
        return Address(local, "neither DOCKER_HOST nor a docker context: the default", EngineError.step)
    step = f"{_OTHER}; or choose `--sandbox host`"
    try:
        context = ContextAPI.get_context(name)
        url, tls = (context.Host, context.TLSConfig) if context else ("", None)
    except Exception as problem:  # the SDK raises whatever a file of another form leads it to
        why = f"{chosen_by}: {problem or type(problem).__name__}"
        where = _meta_file(name)
        raise EngineError("a docker context cannot be read", where=where, why=why, step=step) from None
    if not isinstance(url, str) or not url:
        why = f"{chosen_by}; `docker context ls` shows what there is"
        raise EngineError("no such docker context", where=_meta_file(name), why=why, step=step)
    return Address(url, chosen_by, f"start that engine; {step}", tls)


def _meta_file(name: Any) -> str:
    from docker.context.config import get_meta_file
    from docker.utils.config import find_config_file

    return str(get_meta_file(name)) if isinstance(name, str) else str(find_config_file())
