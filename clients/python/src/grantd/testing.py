"""grantd for tests of programs: the real service, in memory, with an empty tenant for each test.

    with start_grantd() as service:
        client = service.client()

Start it once for many tests. It ends with the process that has started it, also if that is killed.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

from ._async_client import AsyncGrantd
from ._client import Grantd

_STOP_S_MAX = 30.0


class GrantdService:
    """A service for tests. As a context manager, it stops at the end of the block."""

    def __init__(self, url: str, process: subprocess.Popen[str] | None = None) -> None:
        self.url = url
        self._process = process

    def new_key(self) -> str:
        """The key of a new, empty tenant. It has all scopes."""
        return f"test_{secrets.token_hex(16)}"

    def client(self, **options: Any) -> Grantd:
        """A client of a new, empty tenant, with the options of `Grantd`."""
        return Grantd(self.url, **{"key": self.new_key(), **options})

    def async_client(self, **options: Any) -> AsyncGrantd:
        """The same for an event loop."""
        return AsyncGrantd(self.url, **{"key": self.new_key(), **options})

    def stop(self) -> None:
        """Ends the service, if it was started here."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None and process.stdout is not None:
            process.stdin.close()
            process.wait(_STOP_S_MAX)
            process.stdout.close()

    def __enter__(self) -> GrantdService:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_grantd(*, url: str | None = None, command: Sequence[str] | None = None) -> GrantdService:
    """Returns when the service answers.

    url: of a service that runs already. Default: `GRANTD_TESTING_URL` of the environment, unless there is a command.
    command: the program that is started, and its arguments. Default: `grantd-testing` of the PATH, which the package
    @grantd/testing of npm has.
    """
    known = url or (os.environ.get("GRANTD_TESTING_URL") if command is None else None)
    if known:
        return GrantdService(known)
    # Nothing is downloaded: what a registry has under this name may be of somebody else.
    program = shutil.which("grantd-testing")
    if command is None and program is None:
        raise RuntimeError(
            "grantd for tests did not start: there is no program grantd-testing in the PATH. Install @grantd/testing, "
            "or set GRANTD_TESTING_URL."
        )
    started = [*(command or (str(program),))]
    process = subprocess.Popen(
        [*started, "--until-stdin-closes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    service = GrantdService("", process)
    line = process.stdout.readline() if process.stdout is not None else ""
    if line == "":
        service.stop()
        raise RuntimeError(f"grantd for tests did not start: {' '.join(started)} ended with {process.returncode}.")
    service.url = json.loads(line)["url"]
    return service
