// The generated types are what the generator makes of the proto file now.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { generateTypes } from '../../../scripts/generate.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

async function readTree(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pairs = files.map(async (file) => [file.slice(directory.length), await readFile(file, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(pairs.sort()));
}

test('the types in src/rpc/gen are fresh', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'grantd-types-'));
  t.after(() => rm(directory, { recursive: true }));
  generateTypes(directory);
  const [made, committed] = await Promise.all([readTree(directory), readTree(join(ROOT, 'src/rpc/gen'))]);
  assert.deepEqual(Object.keys(made).sort(), Object.keys(committed).sort());
  for (const [file, text] of Object.entries(made))
    assert.equal(committed[file], text, `${file}: run npm run generate -- types`);
});
