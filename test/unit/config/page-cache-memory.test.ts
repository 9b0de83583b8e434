// The rule that ties page cache, heap and memory, and what a start makes of it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cacheOfThread, heapMebibytesFor, memoryFor, planHeap } from '../../../src/config/page-cache-memory.ts';

const MEBIBYTE = 1024 ** 2;
const plan = (cache: number, memory: number, heap: number, heapGiven = false, threads = 1) =>
  planHeap(cache * MEBIBYTE, { memoryBytes: memory * MEBIBYTE, heapBytes: heap * MEBIBYTE, heapGiven }, threads);

function problemOf(cache: number, memory: number, heap: number, heapGiven = false): string {
  const found = plan(cache, memory, heap, heapGiven);
  return found.kind === 'refused' ? found.problem : assert.fail(found.kind);
}

describe('the memory of a page cache', () => {
  it('is twice the cache and 256 MiB', () => {
    assert.equal(memoryFor(256 * MEBIBYTE), 768 * MEBIBYTE);
    assert.equal(memoryFor(1024 * MEBIBYTE), 2304 * MEBIBYTE);
  });

  it('is refused with its numbers and both remedies where the process may not use so much', () => {
    const problem = problemOf(2048, 512, 268);
    assert.match(problem, /^GRANTD_PAGE_CACHE_BYTES is 2048 MiB, which needs 4352 MiB of memory/);
    assert.match(
      problem,
      /may use only 512 MiB\. Give it 4352 MiB \(.*\)\. Or set GRANTD_PAGE_CACHE_BYTES to 128MiB or less/,
    );
    assert.equal(plan(128, 512, 384).kind, 'fits');
    assert.equal(plan(129, 512, 384).kind, 'refused');
  });

  it('names no smaller cache where none would do', () => {
    assert.doesNotMatch(problemOf(256, 257, 130), /Or set/);
    assert.match(problemOf(256, 258, 130), /Or set GRANTD_PAGE_CACHE_BYTES to 1MiB or less/);
  });

  it('lets a heap be that holds it, and asks for a larger one that fits the memory beside everything else', () => {
    assert.deepEqual(plan(256, 1024, 640), { kind: 'fits' });
    for (const cache of [1, 64, 256, 1024, 8192]) {
      const memory = memoryFor(cache * MEBIBYTE) / MEBIBYTE;
      const found = plan(cache, memory, 60);
      assert.ok(found.kind === 'too-small');
      assert.equal(found.heapMebibytes, memory - 128);
      assert.equal(plan(cache, memory, found.heapMebibytes).kind, 'fits');
    }
  });

  it('shares the cache among threads, each with a heap for its part', () => {
    assert.equal(memoryFor(256 * MEBIBYTE, 3), 1024 * MEBIBYTE);
    assert.equal(cacheOfThread(256 * MEBIBYTE, 3), Math.floor((256 * MEBIBYTE) / 3));
    assert.equal(heapMebibytesFor(64 * MEBIBYTE), 256);
    assert.equal(plan(256, 896, 384, false, 2).kind, 'fits');
    assert.deepEqual(plan(256, 896, 383, false, 2), { kind: 'too-small', heapMebibytes: 384 });
    assert.equal(plan(256, 895, 384, false, 2).kind, 'refused');
    assert.equal(plan(256, 896, 278, true, 2).kind, 'fits');
    assert.equal(plan(256, 896, 277, true, 2).kind, 'refused');
  });

  it('takes a heap that somebody gave as it is, unless the cache and what a start holds beside it exceed it', () => {
    assert.deepEqual(plan(256, 1024, 536, true), { kind: 'fits' });
    assert.deepEqual(plan(256, 1024, 406, true), { kind: 'fits' });
    const problem = problemOf(256, 1024, 405, true);
    assert.match(problem, /heap of 405 MiB \(.*NODE_OPTIONS.*256 MiB, which needs a heap of at least 406 MiB/);
  });
});
