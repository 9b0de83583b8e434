// The scripts that are committed as bundles are what the pinned packages and our sources give.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { BUNDLES } from '../../scripts/bundles.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('a bundle', () => {
  for (const [path, make] of BUNDLES) {
    it(`is as it would be made now (npm run generate -- bundles): ${path}`, async () => {
      assert.ok(gunzipSync(readFileSync(join(ROOT, path))).toString() === (await make()), path);
    });
  }
});
