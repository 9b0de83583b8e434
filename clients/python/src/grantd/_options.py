"""The settings of a client, checked when it is created. Shared by both clients."""

from __future__ import annotations

import os
import platform
import re
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from ._core import VERSION, Core, Hook, Retries, RetryBudget, is_header
from ._http import Address, Route
from ._warnings import Warnings

TIMEOUT_S = 10.0
MAX_RETRIES = 5
RETRIES_IN_STOCK = 10
BACKOFF_FIRST_S = 0.05
BACKOFF_MAX_S = 2.0
# Three times the longest silence of the service.
SILENCE_S = 45.0

_KEY = re.compile(r"[!-~]+")
_USER_AGENT = re.compile(r"[!-~][ -~]{0,255}")
# What the client or the connection decides.
_OWN_HEADERS = frozenset(
    [
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "idempotency-key",
        "if-match",
        "if-none-match",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    ]
)


def _address_and_key(url: str | None, key: str | None) -> tuple[str, str]:
    """Both from one place: the key of the environment is for the address that the environment names."""
    if (url is None) != (key is None):
        given, other = ("key", "url") if url is None else ("url", "key")
        raise ValueError(
            f"{given} is given without {other}: give both, "
            "or neither and set GRANTD_URL and GRANTD_KEY in the environment"
        )
    address = (os.environ.get("GRANTD_URL") or None) if url is None else url
    secret = (os.environ.get("GRANTD_KEY") or None) if key is None else key
    if address is None or secret is None:
        missing = " and no ".join(name for name, value in (("url", address), ("key", secret)) if value is None)
        raise ValueError(
            f"there is no {missing}: give the arguments url and key, "
            "or set GRANTD_URL and GRANTD_KEY in the environment"
        )
    return address, secret


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url is not that of a service, such as https://grantd.example")
    if parts.query or parts.fragment or parts.username is not None:
        raise ValueError("url has a user, a query or a fragment")
    Address(url)
    return url.rstrip("/")


def route_of(core: Core, ssl_context: ssl.SSLContext | None, proxy: str | None) -> Route:
    """The proxies of the environment have no effect: over http, they would read the API key."""
    if proxy is not None:
        parts = urlsplit(proxy)
        if parts.scheme != "http" or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError("proxy is not the address of one, such as http://proxy.example:3128")
    return Route(core.url, ssl_context, proxy)


def _checked_headers(headers: Mapping[str, str], user_agent: str | None) -> dict[str, str]:
    checked = {}
    for name, value in headers.items():
        if not is_header(name, "a"):
            raise ValueError(f"headers has {name!r}, which is not the name of a header")
        if name.lower() in _OWN_HEADERS:
            raise ValueError(f"headers may not have {name}: the client sets it itself")
        if not is_header(name, value):
            raise ValueError(f"the value of the header {name} is not one line of printable ASCII")
        checked[name.lower()] = value
    if user_agent is not None and _USER_AGENT.fullmatch(user_agent) is None:
        raise ValueError("user_agent is not up to 256 characters of printable ASCII")
    own = f"grantd-python/{VERSION} (python {platform.python_version()})"
    checked["user-agent"] = own if user_agent is None else f"{own} {user_agent}"
    return checked


def core_of(
    url: str | None,
    key: str | None,
    *,
    timeout: float,
    max_retries: int,
    retry_budget: int,
    backoff_first: float | None,
    backoff_max: float,
    headers: Mapping[str, str],
    user_agent: str | None,
    hook: Hook | None,
) -> Core:
    address, secret = _address_and_key(url, key)
    if _KEY.fullmatch(secret) is None:
        raise ValueError("key is empty, or has characters that no key has")
    if not timeout > 0:
        raise ValueError("timeout must be more than 0 seconds")
    if max_retries < 0 or retry_budget < 0:
        raise ValueError("max_retries and retry_budget must be at least 0")
    first = min(BACKOFF_FIRST_S, backoff_max) if backoff_first is None else backoff_first
    if not 0 <= first <= backoff_max:
        raise ValueError(f"backoff_first is {first}: it must be from 0 to backoff_max, {backoff_max}")
    return Core(
        url=_checked_url(address),
        key=secret,
        timeout=timeout,
        budget=RetryBudget(retry_budget),
        retries=Retries(max_retries, first, backoff_max),
        headers=_checked_headers(headers, user_agent),
        hook=hook,
        warnings=Warnings(),
    )
