"""Shared by both clients: the validated settings, and the queries of their listings."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ._core import RETRIES_IN_STOCK, Core, Hook, RetryBudget
from ._warnings import Warnings

TIMEOUT_S = 10.0
# Three times the longest silence of the service.
SILENCE_S = 45.0

_KEY = re.compile(r"[!-~]+")


def core_of(url: str, key: str, timeout: float, retry_budget: int, hook: Hook | None) -> Core:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not the URL of a service")
    if parts.query or parts.fragment or parts.username is not None:
        raise ValueError("the URL has a user, a query or a fragment")
    if _KEY.fullmatch(key) is None:
        raise ValueError("the key is empty, or has characters that no key has")
    if not timeout > 0 or retry_budget < 0:
        raise ValueError("the timeout or the retry budget is out of bounds")
    return Core(url.rstrip("/"), key, timeout, RetryBudget(retry_budget), hook, Warnings())


__all__ = ["RETRIES_IN_STOCK", "SILENCE_S", "TIMEOUT_S", "core_of"]
