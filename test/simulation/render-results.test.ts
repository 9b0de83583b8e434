// A failed seed is told as soon as it is known, and again at the end, however the run ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readRecords } from './mutation-records.ts';
import { renderProgress, renderSummary, totalsOf } from './render-results.ts';

const TOTALS = { ...totalsOf([]), runs: 60, failedSeeds: [31, 7] };

test('lines of progress and the last line name the seeds that failed', () => {
  assert.match(renderProgress(TOTALS, 100, { runs: 60, elapsedMs: 30_000 }), /^60 of 100 seeds, 2 failed \(7, 31\), /);
  assert.equal(renderSummary(TOTALS, 0).split('\n').at(-1), 'Seeds that failed: 7, 31');
  const many = { ...TOTALS, failedSeeds: Array.from({ length: 50 }, (_, index) => index) };
  assert.match(renderProgress(many, 100, { runs: 60, elapsedMs: 30_000 }), / 50 failed \(0, 1, .*, …\), /);
});

test('a run that is interrupted names them, too, although npm sends the signal twice', async () => {
  const from = String(readRecords().get('incarnations') ?? 1);
  const options = ['--from', from, '--focus', 'failover', '--mutation', 'incarnations', '--workers', '1'];
  const child = spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url)), ...options]);
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    if (!output.includes('Replay:') && bytes.includes('Replay:')) for (let i = 0; i < 2; i += 1) child.kill('SIGINT');
    output += bytes.toString();
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.ok(output.includes('It was interrupted'), output);
  const [, seed] = /^Seed (\d+) fails/m.exec(output) ?? [];
  assert.equal(output.trimEnd().split('\n').at(-1), `Seeds that failed: ${seed}`);
});
