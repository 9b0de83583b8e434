"""Which process this is. What belongs to one process, such as an open connection, is kept under its identity, so that
a child after fork() finds nothing of its parent: two readers of one connection would get each other's answers."""

from __future__ import annotations

import os
from typing import TypeAlias

Process: TypeAlias = tuple[int, object]

# A child may have the number of a process that is gone.
_birth = object()


def process() -> Process:
    """Asked anew for each call: a child that C code has forked runs none of Python's hooks."""
    return os.getpid(), _birth


def _be_born() -> None:
    global _birth
    _birth = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_be_born)
