"""Warnings: hints for developers that the service sends in a header. The client logs each text at most once, with
nothing but the header."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

# Bounds the log and the memory if every text differs.
TEXTS_MAX = 100

# A log shows it as it is: it has neither line breaks nor control characters.
_TEXT = re.compile(r"[ -~]{1,1024}")
_LOGGER = logging.getLogger("grantd")


class Warnings:
    def __init__(self) -> None:
        # Without a lock, which a fork or the handler of a signal could leave held: `setdefault` is atomic.
        self._logged: dict[str, object] = {}

    def log_from(self, headers: Mapping[str, str]) -> None:
        """Logs the warnings of a response."""
        warning = headers.get("x-service-warning", "")
        if _TEXT.fullmatch(warning) is None:
            return
        if warning in self._logged or len(self._logged) >= TEXTS_MAX:
            return
        mine = object()
        if self._logged.setdefault(warning, mine) is not mine:
            return
        _LOGGER.warning("%s", warning)
