// The heap of a process that has just started: it follows from the page cache, and a start in too little ends with a
// message.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';

const MAIN = join(import.meta.dirname, '..', '..', '..', 'src', 'main.ts');
const MEBIBYTE = 1024 ** 2;
/** Prints process id and heap bound of each program that the process runs, one after the other. */
const PROBE = 'import v8 from "node:v8"; console.log(process.pid, v8.getHeapStatistics().heap_size_limit);';
const folder = mkdtempSync(join(tmpdir(), 'grantd-heap-'));
after(() => rmSync(folder, { recursive: true }));
// No folder: the start goes no further than to its data.
const noFolder = join(folder, 'file');
writeFileSync(noFolder, '');

interface Run {
  readonly heaps: readonly (readonly [pid: number, heapBytes: number])[];
  readonly stderr: string;
}

async function run(environment: Readonly<Record<string, string>>, ...nodeArguments: string[]): Promise<Run> {
  const probe = ['--import', `data:text/javascript,${encodeURIComponent(PROBE)}`];
  const env = { PATH: process.env.PATH ?? '', GRANTD_DATA_DIR: noFolder, GRANTD_LOG_LEVEL: 'error', ...environment };
  const failed: unknown = await promisify(execFile)(
    process.execPath,
    [...probe, ...nodeArguments, MAIN, 'dev', '--shards', '1'],
    { env },
  ).catch((error: unknown) => error);
  assert.ok(failed instanceof Error && 'stdout' in failed && 'stderr' in failed, 'the start does not succeed');
  const heaps = String(failed.stdout)
    .split('\n')
    .map((line) => /^(\d+) (\d+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, pid, bytes]) => [Number(pid), Number(bytes)] as const);
  return { heaps, stderr: String(failed.stderr) };
}

/** What Node takes by itself on this machine. */
const heapHere = (): number =>
  Number(
    spawnSync(process.execPath, ['-p', 'v8.getHeapStatistics().heap_size_limit'], { encoding: 'utf8', env: {} }).stdout,
  );

describe('the heap of a process that starts', () => {
  it('is made as large as the page cache needs it, by the same process', async () => {
    const here = heapHere();
    const { heaps, stderr } = await run({ GRANTD_PAGE_CACHE_BYTES: String(here / 2) });
    assert.equal(heaps.length, 2, stderr);
    const [[firstPid, first], [secondPid, second]] = heaps as [readonly [number, number], readonly [number, number]];
    assert.equal(first, here);
    assert.ok(second >= here + 128 * MEBIBYTE, `${second}`);
    assert.equal(secondPid, firstPid);
    assert.match(stderr, /^grantd: (?!.*PAGE_CACHE)/);
  });

  it('stays as it is where the cache fits it', async () => {
    const { heaps } = await run({ GRANTD_PAGE_CACHE_BYTES: '1Mi' });
    assert.equal(heaps.length, 1);
  });

  it('is refused where somebody gave one that cannot hold the cache', async () => {
    const environment = { GRANTD_PAGE_CACHE_BYTES: '256Mi' };
    for (const { heaps, stderr } of [
      await run(environment, '--max-heap-size=300'),
      await run({ ...environment, NODE_OPTIONS: '--max-old-space-size=300' }),
    ]) {
      assert.equal(heaps.length, 1);
      assert.match(stderr, /^grantd: Node was given a heap of 3\d\d MiB .* needs a heap of at least 406 MiB/);
    }
  });

  it('is refused where the machine has less memory than the cache takes', async () => {
    const { heaps, stderr } = await run({ GRANTD_PAGE_CACHE_BYTES: '1024GiB' });
    assert.equal(heaps.length, 1);
    assert.match(stderr, /^grantd: GRANTD_PAGE_CACHE_BYTES is 1048576 MiB, which needs 2097408 MiB of memory/);
  });
});
