// The one layout of the text form: comments stay, and so does what the rules mean.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { formatSource, printRules } from '../../../../src/rules/text/printer.ts';
import { ruleSetOfSource } from '../../../../src/rules/text/rules-source.ts';

const WRITTEN = `
# What may be done with folders.


# And who may.
namespace folder
    viewer :user,user:*,  team#member # who may be granted it
    can_read=viewer or can_read from parent   but not blocked
    blocked: user

    # Of those that are indented.
    can_edit = editor
      # why
      or (owner but not (blocked or guest)) # all but some
public: agent
condition up_to( amount:int,limit : int )=amount <= limit   # CEL "#"
condition soon( x : int )  # as JSON
    as   # behind it
    " x < 1"   # and there
condition hours(now: timestamp) =
        now.getHours("# no comment") >= 9 && // CEL
        # ours
          now.getHours("UTC") < 17
# the end
`;

const FORMATTED = `# What may be done with folders.

# And who may.
namespace folder
  viewer: user, user:*, team#member  # who may be granted it
  can_read = viewer or can_read from parent but not blocked
  blocked: user

  # Of those that are indented.
  can_edit = editor  # why
      or (owner but not (blocked or guest))  # all but some

public: agent

condition up_to(amount: int, limit: int) = amount <= limit   # CEL "#"
condition soon(x: int)  # as JSON
    as
  # behind it
  " x < 1"   # and there
condition hours(now: timestamp) =
  now.getHours("# no comment") >= 9 && // CEL
  # ours
    now.getHours("UTC") < 17
# the end
`;

describe('the layout of the text form', () => {
  it('keeps comments and meaning, and what has it already', () => {
    assert.equal(formatSource(WRITTEN), FORMATTED);
    assert.equal(formatSource(FORMATTED), FORMATTED);
    assert.deepEqual(ruleSetOfSource(FORMATTED), ruleSetOfSource(WRITTEN));
  });

  it('is that of a text with other line ends, or indented as a whole', () => {
    assert.equal(formatSource(WRITTEN.replaceAll('\n', '\r\n')), FORMATTED);
    assert.equal(formatSource(WRITTEN.replaceAll(/^(?=.)/gm, '\t')), FORMATTED);
  });

  it('ends lines before they are too long', () => {
    const names = Array.from({ length: 30 }, (_, index) => `relation_${index}`);
    const text = printRules(
      parseRuleSet({ relations: names, rules: [{ namespace: 'doc', name: 'can_read', any_of: names }] }),
    );
    const lines = text.slice(text.indexOf('namespace')).trimEnd().split('\n');
    assert.ok(lines.length > 4 && lines.every((line) => line.length <= 100), text);
    assert.ok(
      lines.slice(2).every((line) => line.startsWith('      or ')),
      text,
    );
  });

  it('says what types leave out', () => {
    const text = printRules(
      parseRuleSet({
        relations: ['approver', 'members', 'reader'],
        types: [
          { namespace: 'doc', relation: 'reader', subjects: ['user:*', 'team#members'] },
          { namespace: 'doc', relation: 'owner', subjects: [] },
        ],
        rules: [{ namespace: 'doc', name: 'can_read', any_of: [{ all_of: ['reader'] }] }],
        groups: false,
        public: ['agent'],
      }),
    );
    assert.equal(
      text,
      `groups: off
public: agent
private: user
relations: approver, members

namespace doc
  reader: user:*, team#members
  owner: nobody
  can_read = and reader
`,
    );
  });
});

describe('hostile texts', () => {
  const LENGTH = 64 * 1024;
  for (const piece of [
    '(',
    '"',
    '#',
    ' #',
    "'",
    '"""',
    'a ',
    'a\n',
    ' a\n',
    'namespace a\n',
    'a: ',
    'condition a(',
    '\\"',
    '\u2028',
    '\r',
  ]) {
    const texts = [
      piece,
      `namespace a\n  b = ${piece}`,
      `namespace a\n  b: ${piece}`,
      `condition a(b: int) = ${piece}`,
    ].map((start) => (start + piece.repeat(LENGTH / piece.length)).slice(0, LENGTH));
    it(`are refused or read, and stay what they are: ${JSON.stringify(piece)}`, () => {
      for (const text of texts) {
        let ruleSet: unknown;
        try {
          ruleSet = ruleSetOfSource(text);
        } catch (error) {
          assert.ok(error instanceof Error && 'code' in error && error.code === 'invalid-request', String(error));
          continue;
        }
        assert.deepEqual(ruleSetOfSource(formatSource(text)), ruleSet);
      }
    });
  }
});
