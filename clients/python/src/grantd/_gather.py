"""Gathers the checks of one turn of an event loop into bulk checks of up to 100, in order.

Each check keeps its own answer and its own error; cancelling one caller does not affect the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ._async_transport import PerLoop
from ._errors import GrantdError
from ._operations import BULK_CHECKS_MAX, Question

CheckBatch = Callable[[Sequence[Question]], Awaitable["list[bool | GrantdError]"]]
_Waiting = tuple[Question, "asyncio.Future[bool]"]


class Gatherer:
    def __init__(self, check_batch: CheckBatch) -> None:
        self._check_batch = check_batch
        self._waiting: PerLoop[list[_Waiting]] = PerLoop(list, lambda _: None)
        # The loop itself keeps no task alive.
        self._tasks: set[asyncio.Task[None]] = set()

    async def check(self, question: Question) -> bool:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bool] = loop.create_future()
        gathered = self._waiting.here()
        gathered.append((question, answer))
        if len(gathered) == 1:
            # Behind everything that is ready in this turn.
            loop.call_soon(self._send, gathered)
        return await answer

    def _send(self, gathered: list[_Waiting]) -> None:
        waiting = [each for each in gathered if not each[1].done()]
        gathered.clear()
        for start in range(0, len(waiting), BULK_CHECKS_MAX):
            task = asyncio.get_running_loop().create_task(self._answer(waiting[start : start + BULK_CHECKS_MAX]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, checks: list[_Waiting]) -> None:
        answers: Sequence[bool | BaseException]
        try:
            answers = await self._check_batch([question for question, _ in checks])
        except BaseException as error:
            answers = [error] * len(checks)
            if not isinstance(error, Exception):
                for _, waiting in checks:
                    waiting.cancel()
                raise
        for (_, waiting), answer in zip(checks, answers, strict=True):
            if waiting.done():
                continue
            if isinstance(answer, BaseException):
                waiting.set_exception(answer)
            else:
                waiting.set_result(answer)
