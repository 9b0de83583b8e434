// Rules as text, with the line of an error, and in words.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RELATIONS } from '../../../src/core/tuples.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { NO_RULES } from '../../../src/rules/rule-set.ts';
import { renderRuleSet } from '../../../src/rules/rules-diff.ts';
import { describeWanted, namesToAsk, orList, parseRulesText } from '../../../src/rules/rules-text.ts';

const RULES = parseRuleSet({
  rules: [
    { namespace: 'doc', name: 'editor', any_of: ['owner'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer', 'viewer from parent'] },
  ],
  groups: true,
  public: ['user'],
});
const TEXT = renderRuleSet(RULES);

const parse = (text: string) => parseRulesText(text, () => Promise.resolve());

/** What is wrong with a text: each place with what stands there, and the sentence. */
async function problemsOf(text: string): Promise<readonly string[]> {
  const parsed = await parse(text);
  assert.ok(parsed.kind === 'wrong', text);
  return parsed.problems.map(({ message, place }) => {
    if (place === undefined) return message;
    const { line, column, length } = place;
    const marked = text.split(/\r?\n/)[line - 1]?.slice(column - 1, column - 1 + length);
    return `${line}:${column} ${marked}: ${message}`;
  });
}

describe('the text of rules', () => {
  it('parses to the rule set that it was rendered from', async () => {
    assert.deepEqual(await parse(TEXT), { kind: 'parsed', ruleSet: RULES });
    assert.deepEqual(await parse(renderRuleSet(NO_RULES)), { kind: 'parsed', ruleSet: NO_RULES });
  });

  it('is refused if invalid, with the line of the error', async () => {
    const cases: readonly (readonly [from: string, to: string, line: number, message: RegExp])[] = [
      ['"groups": true', '"groups": 1', 6, /^"groups" must be true or false/],
      ['"viewer from parent"', '"reader from parent"', 4, /^"rules\[1\]\.any_of\[1\]" uses "reader"/],
      ['"name":"can_read"', '"name":"can read"', 4, /^"rules\[1\]\.name" must be a letter/],
      [
        '"name":"can_read"',
        '"title":"can_read"',
        4,
        /^"rules\[1\]\.name" .* is missing\.\n"rules\[1\]\.title" is unknown; known here: "namespace", "name", "any_of", "all_of", "but_not"\.$/,
      ],
      ['["owner"]', '[]', 3, /^"rules\[0\]\.any_of" is empty/],
      ['"public"', '"everyone"', 7, /^"everyone" is unknown; known here: "relations", /],
      ['"editor",', '"editor"', 3, /^This is not JSON: a comma or a closing brace is missing here\.$/],
    ];
    for (const [from, to, line, message] of cases) {
      assert.ok(TEXT.includes(from), from);
      const parsed = await parse(TEXT.replace(from, to));
      assert.ok(parsed.kind === 'wrong', to);
      assert.match(parsed.problems.map((each) => each.message).join('\n'), message);
      for (const { place } of parsed.problems) assert.equal(place?.line, line, to);
    }
  });

  it('is refused if it is not an object', async () => {
    for (const text of ['[]', '[{"rules": []}]']) {
      assert.match((await problemsOf(text)).join('\n'), /^1:1 .*: The text must be a JSON object/);
    }
  });

  it('is refused with everything that is wrong, each with what to mark, in the order of the text', async () => {
    const text = `{
  "rules": [
    {"namespace": "doc", "name": "can read", "any_of": ["viewer", {"all_of": ["editor", 7]}]},
    {"namespace": "doc", "any_of": []}
  ],
  "groups": 1,
  "groupz": true
}`.replaceAll('\n', '\r\n');
    assert.deepEqual(
      (await problemsOf(text)).map((each) => each.slice(0, 46)),
      [
        '3:34 "can read": "rules[0].name" must be a let',
        '3:89 7: "rules[0].any_of[1].all_of[1]" must be',
        '4:5 {: "rules[1].name" must be a letter, then ',
        '4:36 [: "rules[1].any_of" is empty; it needs a',
        '6:13 1: "groups" must be true or false.',
        '7:13 true: "groupz" is unknown; the nearest kn',
      ],
    );
  });

  it('is refused with the words of its expressions that are wrong, however they are escaped', async () => {
    const conditions = [
      { name: 'a', parameters: { a: 'string', n: 'int' }, expression: 'a == "x" &&\n  n < zone && "y\\"" > 3' },
      { name: 'b', parameters: { z: 'text' }, expression: 'true' },
      { name: 'c', parameters: {}, expression: '1 +' },
    ];
    const text = `{"rules": [], "conditions": [\n${conditions.map((each) => JSON.stringify(each)).join(',\n')}]}`;
    assert.deepEqual(await problemsOf(text), [
      '2:86 zone: "conditions[0].expression", line 2, column 7: "zone" is unknown; known here: "a", "n".',
      '2:104 >: "conditions[0].expression", line 2, column 21: `>` does not apply to string and int.',
      '3:31 "text": "conditions[1].parameters.z" has an unknown type; the types are any, bool, bytes, double, duration, int, ipaddress, string, timestamp, uint, list<T>, map<T>.',
      '4:46 ": "conditions[2].expression", line 1, column 4: Expected a value, but the expression ends.',
    ]);
  });

  it('is refused with at most 20 places, and the number of the others', async () => {
    const rules = Array.from({ length: 30 }, () => ({ namespace: 'doc', name: 'x y', any_of: ['viewer'] }));
    const problems = await problemsOf(JSON.stringify({ rules }));
    assert.equal(problems.length, 21);
    assert.equal(problems.at(-1), 'And 10 more.');
  });

  it('is refused where a member is given twice', async () => {
    assert.deepEqual(await problemsOf('{"rules": [],\n "groups": true, "groups": false}'), [
      '2:18 ": The text gives "groups" twice in one object, the second time at line 2, column 18.',
    ]);
  });

  it('takes a turn before each expression', async () => {
    const turnsFor = async (names: readonly string[]): Promise<number> => {
      const conditions = names.map((name) => ({ name, parameters: {}, expression: 'true' }));
      let turns = 0;
      await parseRulesText(JSON.stringify({ rules: [], conditions }), async () => {
        turns += 1;
      });
      return turns;
    };
    assert.equal((await turnsFor(['a', 'b'])) - (await turnsFor([])), 2);
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

describe('names in words', () => {
  it('are a list', () => {
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
