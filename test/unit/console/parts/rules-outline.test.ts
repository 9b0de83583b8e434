// The rules as text, by namespace, and their differences.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffMarkup } from '../../../../packages/console/src/parts/rules-diff.ts';
import { RULES_EXAMPLES } from '../../../../packages/console/src/parts/rules-examples.ts';
import { rulesOutline } from '../../../../packages/console/src/parts/rules-outline.ts';
import { renderMarkup } from '../../../../src/http/pages/markup.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES } from '../../../../src/rules/rule-set.ts';

describe('the outline of rules', () => {
  it('says for each namespace what every name follows from, and what the switches mean', () => {
    const rules = [
      { namespace: 'doc', name: 'editor', any_of: ['owner'] },
      { namespace: 'folder', name: 'viewer', any_of: ['owner'] },
      { namespace: 'doc', name: 'can_read', any_of: ['editor', 'viewer from parent'] },
    ];
    const text = renderMarkup(rulesOutline(parseRuleSet({ rules, groups: true, public: ['user'] })));
    const pieces = [...text.matchAll(/aria-label="Rules of (\w+)">([^<]*)</g)].map(([, ...piece]) => piece);
    assert.deepEqual(pieces, [
      ['doc', 'editor   = owner\ncan_read = editor or viewer from parent'],
      ['folder', 'viewer = owner'],
    ]);
    assert.match(text, /<details open><summary><code dir="ltr">doc<\/code> <small>2 names<\/small>/);
    assert.match(text, /<li>Public: a grant to <code dir="ltr">user:\*<\/code>/);
    assert.match(renderMarkup(rulesOutline(NO_RULES)), /Relations follow from grants alone/);
  });

  it('starts folded where there are many rules, and leaves none out', () => {
    const names = Array.from({ length: 100 }, (_, index) => `can_do_${index}`);
    const many = parseRuleSet({ rules: names.map((name) => ({ namespace: 'doc', name, any_of: ['owner'] })) });
    const text = renderMarkup(rulesOutline(many));
    assert.doesNotMatch(text, / open>/);
    for (const name of names) assert.match(text, new RegExp(`${name} += owner`));
  });
});

describe('the difference between rules', () => {
  it('is whole, however long, and tells added from removed by more than a colour', () => {
    const lines = Array.from(
      { length: 500 },
      (_, index) => `${index % 2 === 0 ? '+' : '-'} doc can_do_${index}: owner`,
    );
    const text = renderMarkup(diffMarkup(lines));
    const shown = [...text.matchAll(/<(ins|del)>([^<]*)<\/\1>/g)].map(([, kind, line]) => `${kind} ${line}`);
    assert.deepEqual(
      shown,
      lines.map((line) => `${line.startsWith('+') ? 'ins' : 'del'} ${line}`),
    );
  });
});

describe('the examples', () => {
  it('have names of their own', () => {
    assert.equal(new Set(RULES_EXAMPLES.map(({ name }) => name)).size, RULES_EXAMPLES.length);
  });
});
