// Rules as text: what is wrong is told with its line.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_RULES, parseRuleSet } from '../../../src/rules/rule-set.ts';
import { renderRuleSet } from '../../../src/rules/rules-diff.ts';
import { parseRulesText } from '../../../src/rules/rules-text.ts';

const RULES = parseRuleSet({
  rules: [
    { namespace: 'doc', name: 'editor', any_of: ['owner'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'viewer from parent'] },
  ],
  groups: true,
  public: ['user'],
});
const TEXT = renderRuleSet(RULES);

describe('the text of rules', () => {
  it('as it is shown is what is meant', () => {
    assert.deepEqual(parseRulesText(TEXT), { kind: 'parsed', ruleSet: RULES });
    assert.deepEqual(parseRulesText(renderRuleSet(NO_RULES)), { kind: 'parsed', ruleSet: NO_RULES });
  });

  it('that is wrong is refused with the line of what is wrong', () => {
    const cases: readonly (readonly [from: string, to: string, line: number, message: RegExp])[] = [
      ['"groups": true', '"groups": 1', 6, /^"groups" must be true or false/],
      ['"viewer from parent"', '"reader from parent"', 4, /^"rules\[1\]\.any_of\[1\]" uses "reader"/],
      ['"name":"can_read"', '"name":"can read"', 4, /^"rules\[1\]\.name" must be a letter/],
      [
        '"name":"can_read"',
        '"title":"can_read"',
        4,
        /^"rules\[1\]\.title" is unknown; known here: "namespace", "name", "any_of"\.$/,
      ],
      ['["owner"]', '[]', 3, /^"rules\[0\]\.any_of" is empty/],
      ['"public"', '"everyone"', 7, /^"everyone" is unknown; known here: "rules", "groups", "public"\.$/],
      ['"editor",', '"editor"', 3, /^This is not JSON: a comma or a closing brace is missing here\.$/],
    ];
    for (const [from, to, line, message] of cases) {
      assert.ok(TEXT.includes(from), from);
      const parsed = parseRulesText(TEXT.replace(from, to));
      assert.ok(parsed.kind === 'wrong', to);
      assert.match(parsed.message, message);
      assert.equal(parsed.line, line, parsed.message);
    }
  });

  it('is refused where it is no object', () => {
    for (const text of ['[]', 'null', '1', '"x"']) {
      const parsed = parseRulesText(text);
      assert.ok(parsed.kind === 'wrong');
      assert.match(parsed.message, /^The text must be a JSON object/);
    }
  });
});
