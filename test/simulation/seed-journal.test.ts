// A long run that was interrupted goes on where it was, and never with what another run has found.

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { totalsOf } from './render-results.ts';
import { CHUNK_SEEDS, runSeeds } from './run-seeds.ts';
import { SeedJournal } from './seed-journal.ts';

const OF = { from: 1, count: 2 * CHUNK_SEEDS + 1, focus: 'broad', mutation: '' };

test('what is in the journal is not run again, and counts', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'grantd-journal-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'journal');
  const chunks = [
    { from: 1, count: CHUNK_SEEDS },
    { from: 1 + CHUNK_SEEDS, count: CHUNK_SEEDS },
  ];
  const journal = new SeedJournal(path, OF);
  for (const chunk of chunks) journal.add(chunk, { ...totalsOf([]), runs: chunk.count, failedSeeds: [chunk.from] });
  // The process was killed while it wrote the next line.
  appendFileSync(path, '{"from":41,"tot');
  const again = new SeedJournal(path, OF);
  assert.deepEqual([...again.done], [1, 1 + CHUNK_SEEDS]);
  assert.equal(again.totals.runs, 2 * CHUNK_SEEDS);
  assert.deepEqual(again.totals.failedSeeds, [1, 1 + CHUNK_SEEDS]);
  const results = await runSeeds({ from: OF.from, count: OF.count, done: again.done }, undefined, (chunk, found) =>
    again.add(chunk, totalsOf(found)),
  );
  assert.deepEqual(
    results.map(({ seed }) => seed),
    [OF.count],
  );
  assert.equal(new SeedJournal(path, OF).totals.runs, OF.count);
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 5);
  assert.throws(() => new SeedJournal(path, { ...OF, focus: 'store' }), /is the journal of other seeds/);
});
