// What a start makes of the heap that it finds. The rule itself: page-cache-memory.test.ts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getHeapStatistics } from 'node:v8';
import { fitHeap, type ProcessStart } from '../../../../src/roles/process/heap.ts';

/** More than this process has a heap for, and less than the memory of any machine whose heap Node has chosen. */
const CACHE_BYTES = getHeapStatistics().heap_size_limit;

interface Seen {
  readonly executed: unknown[][];
  readonly start: (pageCacheBytes: number) => void;
}

function startWith(change: Partial<ProcessStart> = {}): Seen {
  const executed: unknown[][] = [];
  const started: ProcessStart = {
    argv: ['/bin/node', 'main.ts', 'dev'],
    argv0: 'node',
    env: { PATH: '/bin' },
    execArgv: ['--import', 'x'],
    execPath: '/bin/node',
    execve: (...parameters: unknown[]): never => {
      executed.push(parameters);
      return undefined as never;
    },
    constrainedMemory: () => 0,
    ...change,
  };
  return { executed, start: (pageCacheBytes) => fitHeap(started, pageCacheBytes) };
}

describe('a heap that is too small for the cache', () => {
  it('is replaced by one that holds it, in a process with the same arguments and environment', () => {
    const { executed, start } = startWith();
    start(CACHE_BYTES);
    const [[path, args, env] = []] = executed;
    const option = `--max-heap-size=${Math.ceil((2 * CACHE_BYTES) / 1024 ** 2) + 128}`;
    assert.deepEqual([path, args], ['/bin/node', ['node', '--import', 'x', option, 'main.ts', 'dev']]);
    assert.deepEqual(env, { PATH: '/bin' });
  });

  it('is refused if given, in any spelling', () => {
    for (const change of [
      { execArgv: ['--max-heap-size=300'] },
      { env: { NODE_OPTIONS: '--max-old-space-size=300' } },
      { env: { NODE_OPTIONS: '--max_old_space_size=300' } },
    ]) {
      const { executed, start } = startWith(change);
      assert.throws(() => start(CACHE_BYTES), /^StartError: Node was given a heap of \d+ MiB/);
      assert.deepEqual(executed, []);
    }
  });

  it('is refused if the process has less memory than the cache takes', () => {
    const { start } = startWith({ constrainedMemory: () => CACHE_BYTES });
    assert.throws(() => start(CACHE_BYTES), /^StartError: GRANTD_PAGE_CACHE_BYTES is \d+ MiB, which needs/);
  });
});

it('a heap that holds the cache stays', () => {
  const { executed, start } = startWith();
  start(1024 ** 2);
  assert.deepEqual(executed, []);
});
