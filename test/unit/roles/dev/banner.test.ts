// The banner's lines, pasted into a shell.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { it } from 'node:test';
import { quoteForShell } from '../../../../src/roles/dev/banner.ts';

it('quoteForShell quotes any text as one word', () => {
  for (const text of ['plain', "it's", 'a b', '$(id)', '`id`', '"', '\\', 'a?b=c&d', '*', '']) {
    assert.equal(execFileSync('sh', ['-c', `printf %s ${quoteForShell(text)}`], { encoding: 'utf8' }), text);
  }
});
