// The table of settings as help text.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderSettingsHelp } from '../../../src/config/render-settings.ts';
import { SETTINGS } from '../../../src/config/settings.ts';

describe('the settings in --help', () => {
  for (const role of ['dev', 'cli'] as const) {
    it(`are those that ${role} reads, each with its default`, () => {
      const help = renderSettingsHelp(role);
      for (const row of Object.values(SETTINGS)) {
        const reads = row.roles.some((each) => each === role);
        assert.equal(new RegExp(`^  ${row.name}(\\[_FILE\\])? `, 'm').test(help), reads, row.name);
      }
      assert.match(help, /\(default: \.grantd\)/);
      assert.ok(!help.includes('`'));
    });
  }
});
