// Rules as text, with the line of an error, and in words.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RELATIONS } from '../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { NO_RULES } from '../../../src/rules/rule-set.ts';
import { renderRuleSet } from '../../../src/rules/rules-diff.ts';
import { describeWanted, namesToAsk, orList, parseRulesText, sentenceOfRule } from '../../../src/rules/rules-text.ts';

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
  it('parses to the rule set that it was rendered from', () => {
    assert.deepEqual(parseRulesText(TEXT), { kind: 'parsed', ruleSet: RULES });
    assert.deepEqual(parseRulesText(renderRuleSet(NO_RULES)), { kind: 'parsed', ruleSet: NO_RULES });
  });

  it('is refused if invalid, with the line of the error', () => {
    const cases: readonly (readonly [from: string, to: string, line: number, message: RegExp])[] = [
      ['"groups": true', '"groups": 1', 6, /^"groups" must be true or false/],
      ['"viewer from parent"', '"reader from parent"', 4, /^"rules\[1\]\.any_of\[1\]" uses "reader"/],
      ['"name":"can_read"', '"name":"can read"', 4, /^"rules\[1\]\.name" must be a letter/],
      [
        '"name":"can_read"',
        '"title":"can_read"',
        4,
        /^"rules\[1\]\.title" is unknown; known here: "namespace", "name", "any_of"\.\n"rules\[1\]\.name" .* is missing\.$/,
      ],
      ['["owner"]', '[]', 3, /^"rules\[0\]\.any_of" is empty/],
      ['"public"', '"everyone"', 7, /^"everyone" is unknown; known here: "relations", /],
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

  it('is refused if it is not an object', () => {
    for (const text of ['[]', 'null', '1', '"x"']) {
      const parsed = parseRulesText(text);
      assert.ok(parsed.kind === 'wrong');
      assert.match(parsed.message, /^The text must be a JSON object/);
    }
  });
});

const WORDED = parseRuleSet({
  rules: [
    { namespace: 'doc', name: 'editor', any_of: ['owner'] },
    { namespace: 'doc', name: 'viewer', any_of: ['editor', 'guest', 'viewer from parent', 'can_read from member'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer'] },
  ],
  groups: true,
});

describe('a rule in words', () => {
  it('is a sentence', () => {
    assert.deepEqual(WORDED.rules.map(sentenceOfRule), [
      'editor of doc: owner',
      'viewer of doc: editor or guest, or viewer from parent, or can_read from member',
      'can_read of doc: viewer',
    ]);
    assert.equal(orList(['a', 'b', 'c']), 'a, b or c');
  });
});

describe('the names to ask about', () => {
  it('are the relations and the derived names, each once', () => {
    assert.deepEqual(namesToAsk(WORDED), [...RELATIONS, 'can_read']);
    assert.deepEqual(namesToAsk(NO_RULES), RELATIONS);
  });
});

describe('what a check looks for', () => {
  it('is every name that suffices on the object, and on its parents one level up', () => {
    assert.deepEqual(describeWanted(WORDED, 'can_read', 'doc:1'), {
      names: ['can_read', 'owner', 'editor', 'viewer', 'guest'],
      relations: ['owner', 'editor', 'viewer', 'guest'],
      parents: [
        { relation: 'parent', names: ['viewer'] },
        { relation: 'member', names: ['can_read'] },
      ],
      gates: [],
    });
    assert.deepEqual(describeWanted(WORDED, 'editor', 'doc:1'), {
      names: ['editor', 'owner'],
      relations: ['owner', 'editor'],
      parents: [],
      gates: [],
    });
  });

  it('is a gate, in words', () => {
    const gate = { all_of: ['editor', { any_of: ['viewer'], but_not: ['guest'] }], but_not: ['member from parent'] };
    const gated = parseRuleSet({ rules: [{ namespace: 'doc', name: 'can_sign', any_of: ['owner', gate] }] });
    assert.deepEqual(describeWanted(gated, 'can_sign', 'doc:1'), {
      names: ['can_sign', 'owner'],
      relations: ['owner'],
      parents: [],
      gates: ['(editor and (viewer but not guest) but not member from parent)'],
    });
  });

  it('is the grant alone on objects without rules', () => {
    const alone = { names: ['editor'], relations: ['editor'], parents: [], gates: [] };
    assert.deepEqual(describeWanted(WORDED, 'editor', 'folder:1'), alone);
    assert.deepEqual(describeWanted(NO_RULES, 'editor', 'doc:1'), alone);
  });

  it('is nothing for a name that no rule defines', () => {
    assert.equal(describeWanted(WORDED, 'can_write', 'doc:1'), undefined);
    assert.equal(describeWanted(NO_RULES, 'can_read', 'doc:1'), undefined);
  });
});
