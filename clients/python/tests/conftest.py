"""The service of this checkout, for all tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grantd.testing import GrantdService, start_grantd

COMMAND = [str(Path(__file__).parents[3] / "bin" / "grantd"), "testing"]


@pytest.fixture(scope="session")
def service() -> Iterator[GrantdService]:
    with start_grantd(command=COMMAND) as service:
        yield service
