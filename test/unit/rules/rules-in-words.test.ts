// Rules in words: sentences, and what a check looks for.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RELATIONS } from '../../../src/core/tuples.ts';
import { NO_RULES, parseRuleSet } from '../../../src/rules/rule-set.ts';
import { describeWanted, namesToAsk, orList, sentenceOfRule } from '../../../src/rules/rules-text.ts';

const RULES = parseRuleSet({
  rules: [
    { namespace: 'doc', name: 'editor', any_of: ['owner'] },
    { namespace: 'doc', name: 'viewer', any_of: ['editor', 'guest', 'viewer from parent', 'can_read from member'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer'] },
  ],
  groups: true,
});

describe('a rule in words', () => {
  it('is a sentence', () => {
    assert.deepEqual(RULES.rules.map(sentenceOfRule), [
      'editor of doc: owner',
      'viewer of doc: editor or guest, or viewer from parent, or can_read from member',
      'can_read of doc: viewer',
    ]);
    assert.equal(orList(['a', 'b', 'c']), 'a, b or c');
  });
});

describe('the names to ask about', () => {
  it('are the relations and the derived names, each once', () => {
    assert.deepEqual(namesToAsk(RULES), [...RELATIONS, 'can_read']);
    assert.deepEqual(namesToAsk(NO_RULES), RELATIONS);
  });
});

describe('what a check looks for', () => {
  it('is all that suffices on the object, and on its parents one level up', () => {
    assert.deepEqual(describeWanted(RULES, 'can_read', 'doc:1'), {
      names: ['can_read', 'owner', 'editor', 'viewer', 'guest'],
      relations: ['owner', 'editor', 'viewer', 'guest'],
      parents: [
        { relation: 'parent', names: ['viewer'] },
        { relation: 'member', names: ['can_read'] },
      ],
    });
    assert.deepEqual(describeWanted(RULES, 'editor', 'doc:1'), {
      names: ['editor', 'owner'],
      relations: ['owner', 'editor'],
      parents: [],
    });
  });

  it('is the grant alone on objects without rules', () => {
    const alone = { names: ['editor'], relations: ['editor'], parents: [] };
    assert.deepEqual(describeWanted(RULES, 'editor', 'folder:1'), alone);
    assert.deepEqual(describeWanted(NO_RULES, 'editor', 'doc:1'), alone);
  });

  it('is nothing for a name that no rule defines', () => {
    assert.equal(describeWanted(RULES, 'can_write', 'doc:1'), undefined);
    assert.equal(describeWanted(NO_RULES, 'can_read', 'doc:1'), undefined);
  });
});
