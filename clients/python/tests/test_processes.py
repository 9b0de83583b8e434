"""Forks, event loops, threads and signals: nobody gets the answer of another, and no call outlasts its deadline."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType

import pytest
from servers import AT, answers, requests, served

from grantd import AsyncGrantd, Grantd, GrantdError

# The run of a release asks for more: the measure is 50.
RUNS = int(os.environ.get("FORK_RUNS", "5"))
QUESTIONS = 300
CHILDREN = 4

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def url() -> Iterator[str]:
    """A server in a process of its own, since a fork copies no thread of this one."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=500)
    pid = os.fork()
    if pid == 0:
        while True:
            connection, _ = listener.accept()

            def serve(connection: socket.socket = connection) -> None:
                with contextlib.suppress(OSError):
                    answers(connection)

            threading.Thread(target=serve, daemon=True).start()
    port = listener.getsockname()[1]
    listener.close()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def in_child(work: Callable[[], int]) -> int:
    """Forks, and returns the id of the child, whose status is the result of the work: a number of faults."""
    pid = os.fork()
    if pid != 0:
        return pid
    faults = 99
    try:
        signal.alarm(60)
        faults = min(work(), 98)
    finally:
        os._exit(faults)


def faults_of(pids: list[int]) -> list[int]:
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def is_right(number: int) -> bool:
    return number % 2 == 0


def wrong_of(client: Grantd, seed: int) -> int:
    chosen = random.Random(seed)
    wrong = 0
    for _ in range(QUESTIONS):
        number = chosen.randrange(10)
        wrong += client.check(f"user:{number}", "viewer", "document:plan") is not is_right(number)
    return wrong


async def wrong_later(client: AsyncGrantd, seed: int) -> int:
    chosen = random.Random(seed)
    numbers = [chosen.randrange(10) for _ in range(QUESTIONS)]
    answers_of = [client.check(f"user:{number}", "viewer", "document:plan") for number in numbers[: QUESTIONS // 2]]
    gathered = await asyncio.gather(*answers_of)
    alone = [await client.check(f"user:{number}", "viewer", "document:plan") for number in numbers[QUESTIONS // 2 :]]
    return sum(answer is not is_right(number) for answer, number in zip([*gathered, *alone], numbers, strict=True))


def wrong_in_loop(client: AsyncGrantd, seed: int) -> int:
    return asyncio.run(wrong_later(client, seed))


def test_children_get_their_own_answers(url: str) -> None:
    for run in range(RUNS):
        client = Grantd(url, "key")
        client.check("user:0", "viewer", "document:plan")
        children = [in_child(partial(wrong_of, client, run * 9 + child)) for child in range(CHILDREN)]
        assert wrong_of(client, run) == 0
        assert faults_of(children) == [0] * CHILDREN


def test_children_with_event_loops_get_their_own_answers(url: str) -> None:
    for run in range(RUNS):
        client = AsyncGrantd(url, "key")
        assert asyncio.run(wrong_later(client, run)) == 0
        children = [in_child(partial(wrong_in_loop, client, run * 9 + child)) for child in range(CHILDREN)]
        assert asyncio.run(wrong_later(client, run)) == 0
        assert faults_of(children) == [0] * CHILDREN


def test_a_loop_that_a_child_goes_on_with_has_connections_of_its_own(url: str) -> None:
    client = AsyncGrantd(url, "key")
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(wrong_later(client, 1)) == 0
    of_parent = client._network._loops.here  # type: ignore[attr-defined]

    async def shares() -> bool:
        return of_parent() is before

    async def here() -> object:
        return of_parent()

    before = loop.run_until_complete(here())
    assert loop.run_until_complete(shares())
    assert faults_of([in_child(lambda: int(loop.run_until_complete(shares())))]) == [0]
    loop.close()


def test_a_pool_of_multiprocessing_gets_its_own_answers(url: str) -> None:
    global shared
    shared = Grantd(url, "key")
    shared.check("user:0", "viewer", "document:plan")
    with multiprocessing.get_context("fork").Pool(CHILDREN) as pool:
        assert sum(pool.map(_wrong_of_shared, range(2 * CHILDREN))) == 0


shared: Grantd | None = None


def _wrong_of_shared(seed: int) -> int:
    assert shared is not None
    return wrong_of(shared, seed)


def test_a_fork_amid_calls_of_threads_leaves_nothing_locked(url: str) -> None:
    client = Grantd(url, "key")
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            client.check("user:2", "viewer", "document:plan")

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        children = [in_child(lambda: wrong_of(client, 7)) for _ in range(10)]
        assert faults_of(children) == [0] * 10
    finally:
        ended.set()
        for thread in threads:
            thread.join()


LINES = [
    b'{"type": "change", "cursor": "c%d", "change": {"seq": %d, "index": 0, "at": "%s", "actor": "system", '
    b'"request_id": "r", "action": "grant.created"}}\n' % (number, number, AT.encode())
    for number in range(1, 101)
]


def feeds(connection: socket.socket) -> None:
    """The changes behind the cursor, one in a chunk, whoever reads them."""
    for line, _ in requests(connection):
        after = int(line.partition("cursor=c")[2].partition(" ")[0] or 0)
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for each in LINES[after:]:
            connection.sendall(b"%x\r\n%s\r\n" % (len(each), each))
            time.sleep(0.001)


def test_a_feed_that_a_child_goes_on_with_misses_nothing() -> None:
    with served(feeds) as url:
        events = Grantd(url, "key").changes()
        assert [next(events).cursor for _ in range(3)] == ["c1", "c2", "c3"]
        rest = [f"c{number}" for number in range(4, 101)]
        child = in_child(lambda: [next(events).cursor for _ in rest] != rest)
        assert [next(events).cursor for _ in rest] == rest
        assert faults_of([child]) == [0]


def test_one_async_client_serves_many_event_loops(url: str) -> None:
    client = AsyncGrantd(url, "key")
    wrong: list[int] = []

    def run(seed: int) -> None:
        for job in range(5):
            wrong.append(asyncio.run(wrong_later(client, 10 * seed + job)))

    threads = [threading.Thread(target=run, args=[seed]) for seed in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0] * 50
    # Closed loops are forgotten, with their connections, when another one comes.
    assert asyncio.run(wrong_later(client, 0)) == 0
    assert len(client._network._loops.values()) == 1  # type: ignore[attr-defined]


class Interrupted(Exception):
    """As of Celery's SoftTimeLimitExceeded."""


def sockets() -> int:
    """The open ones of this process."""
    gc.collect()
    found = 0
    for each in os.listdir("/proc/self/fd") if sys.platform.startswith("linux") else []:
        with contextlib.suppress(FileNotFoundError):
            found += os.readlink(f"/proc/self/fd/{each}").startswith("socket:")
    return found


def test_an_exception_of_a_signal_leaves_a_client_that_answers(url: str) -> None:
    client = Grantd(url, "key", timeout=5, max_retries=0)
    chosen = random.Random(11)
    is_armed = False
    before = sockets()

    def interrupt(_: int, __: FrameType | None) -> None:
        if is_armed:
            raise Interrupted

    former = signal.signal(signal.SIGALRM, interrupt)
    interrupts = 0
    try:
        for number in range(2000):
            signal.setitimer(signal.ITIMER_REAL, chosen.uniform(0.00001, 0.001))
            try:
                is_armed = True
                answer = client.check(f"user:{number % 10}", "viewer", "document:plan")
                is_armed = False
                assert answer is is_right(number)
            except Interrupted:
                interrupts += 1
            finally:
                is_armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        began = time.monotonic()
        assert wrong_of(client, 1) == 0
        assert time.monotonic() - began < 60
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
    assert interrupts > 100
    assert sockets() <= before + 1


def test_a_cancelled_call_leaves_nothing_to_the_next_one(url: str) -> None:
    async def run() -> None:
        client = AsyncGrantd(url, "key", batching=False)
        chosen = random.Random(5)
        for number in range(500):
            call = asyncio.create_task(client.check(f"user:{number % 10}", "viewer", "document:plan"))
            for _ in range(chosen.randrange(12)):
                await asyncio.sleep(0)
            call.cancel()
            with contextlib.suppress(asyncio.CancelledError, GrantdError):
                assert await call is is_right(number)
            assert await client.check("user:2", "viewer", "document:plan") is True

    asyncio.run(run())
