// The table of settings as help text.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderSettingsHelp } from '../../../src/config/read-config.ts';
import type { Setting } from '../../../src/config/setting.ts';
import { SETTINGS } from '../../../src/config/settings.ts';

const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);

describe('the settings in --help', () => {
  for (const role of ['dev', 'front', 'shard', 'console', 'migrate', 'cli'] as const) {
    it(`are those that ${role} reads, each with its default or as required`, () => {
      const help = renderSettingsHelp(role);
      for (const row of rows) {
        const reads = row.roles.some((each) => each === role);
        const line = new RegExp(`^  ${row.name}(\\[_FILE\\])? .*$`, 'm').exec(help)?.[0];
        assert.equal(line !== undefined, reads, row.name);
        if (line !== undefined)
          assert.match(line, row.requiredBy.includes(role) ? /\(required\)$/ : /\(default: .+\)$/);
      }
      assert.ok(!help.includes('`'));
    });
  }
});
