// The page of the load tests against their code.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SCENARIO_NAMES, SCENARIOS } from '../../loadtest/scenarios.ts';
import { SETTING_ROWS } from '../../loadtest/settings.ts';
import { readLoadtestPage, renderLoadtestPage } from '../../scripts/loadtest/page.ts';
import { ROOT } from '../kit/source-tree.ts';

describe('loadtest/README.md', () => {
  it('holds the tables of scenarios and settings as they are in the code', () => {
    const page = readLoadtestPage();
    assert.equal(page, renderLoadtestPage(page), 'Run `node scripts/loadtest/page.ts`.');
  });

  it('names no setting that does not exist', () => {
    const known = new Set(SETTING_ROWS.map(({ name }) => name));
    const named = [...readLoadtestPage().matchAll(/\bLOAD_[A-Z0-9_]+\b/g)].map(([name]) => name);
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
  });
});

describe('loadtest/', () => {
  it('has a script for each scenario, under its name', () => {
    for (const name of SCENARIO_NAMES) {
      assert.ok(existsSync(join(ROOT, 'loadtest', `${name}.ts`)), name);
      assert.equal(SCENARIOS[name].name, name);
    }
  });
});
