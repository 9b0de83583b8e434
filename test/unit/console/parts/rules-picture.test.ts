// The picture of rules: its columns, its bounds, and its words.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RULES_EXAMPLES } from '../../../../packages/console/src/parts/rules-examples.ts';
import { graphOfRules, rulesPicture } from '../../../../packages/console/src/parts/rules-picture.ts';
import { renderMarkup } from '../../../../src/http/pages/markup.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES } from '../../../../src/rules/rule-set.ts';

const RULES = parseRuleSet({
  rules: [
    { namespace: 'doc', name: 'editor', any_of: ['owner'] },
    { namespace: 'doc', name: 'viewer', any_of: ['editor', 'viewer from parent'] },
    { namespace: 'doc', name: 'can_read', any_of: ['viewer'] },
    { namespace: 'folder', name: 'viewer', any_of: ['owner'] },
  ],
  groups: true,
  public: ['user'],
});
const ofDoc = RULES.rules.slice(0, 3);

describe('the graph of rules', () => {
  it('has a column for each step of what follows', () => {
    const { nodes, arrows } = graphOfRules(ofDoc);
    assert.deepEqual(Object.fromEntries(nodes.map(({ text, kind, column }) => [text, `${kind} ${column}`])), {
      owner: 'built-in 0',
      editor: 'built-in 1',
      'viewer from parent': 'inherited 1',
      viewer: 'built-in 2',
      can_read: 'derived 3',
    });
    assert.deepEqual(arrows, [
      { from: 'owner', to: 'editor' },
      { from: 'editor', to: 'viewer' },
      { from: 'viewer from parent', to: 'viewer' },
      { from: 'viewer', to: 'can_read' },
    ]);
  });

  it('has a node for each gate, to which its operands and what it excludes lead', () => {
    const { rules } = parseRuleSet({
      rules: [
        { namespace: 'doc', name: 'can_read', any_of: ['owner', { all_of: ['viewer', 'editor'], but_not: ['guest'] }] },
      ],
    });
    const { nodes, arrows } = graphOfRules(rules);
    const gate = '(viewer and editor but not guest)';
    assert.deepEqual(
      nodes.filter(({ kind }) => kind !== 'built-in').map(({ text, kind, column }) => `${text}: ${kind} ${column}`),
      [`${gate}: gate 1`, 'can_read: derived 2'],
    );
    assert.deepEqual(arrows, [
      { from: 'owner', to: 'can_read' },
      { from: gate, to: 'can_read' },
      { from: 'viewer', to: gate },
      { from: 'editor', to: gate },
      { from: 'guest', to: gate, excludes: true },
    ]);
  });

  it('ends where names follow from each other', () => {
    const { rules } = parseRuleSet({
      rules: [
        { namespace: 'doc', name: 'editor', any_of: ['owner', 'editor'] },
        { namespace: 'doc', name: 'owner', any_of: ['editor'] },
      ],
    });
    const { nodes, arrows } = graphOfRules(rules);
    assert.deepEqual(nodes.map(({ text }) => text).sort(), ['editor', 'owner']);
    assert.equal(arrows.length, 2);
  });
});

describe('the picture of rules', () => {
  it('is drawn for each namespace, with a title, and said in sentences', () => {
    const text = renderMarkup(rulesPicture(RULES));
    assert.equal(text.match(/<svg /g)?.length, 2);
    assert.match(text, /role="img" aria-labelledby="picture-0-title picture-0-description"/);
    assert.match(text, /<title id="picture-0-title">Relations of doc<\/title>/);
    assert.match(text, /<li>viewer of doc: editor, or viewer from parent<\/li>/);
    assert.match(text, /<li>Public: a grant to <code dir="ltr">user:\*<\/code>/);
    assert.doesNotMatch(text, /NaN|undefined|Infinity/);
    const svg = text.slice(0, text.indexOf('</svg>'));
    assert.equal(svg.match(/class="rule-arrow"/g)?.length, 4);
    assert.equal(svg.match(/class="rule-name /g)?.length, 5);
  });

  it('leaves sentences alone where there is too much to draw', () => {
    const names = Array.from({ length: 100 }, (_, index) => `can_do_${index}`);
    const many = parseRuleSet({
      rules: names.map((name) => ({ namespace: 'doc', name, any_of: ['owner', 'viewer'] })),
    });
    const text = renderMarkup(rulesPicture(many));
    assert.doesNotMatch(text, /<svg/);
    assert.match(text, /102 names and 200 arrows are too many for a picture/);
    assert.match(text, /<li>can_do_99 of doc: owner or viewer<\/li>/);
  });

  it('says so where there are no rules', () => {
    assert.match(renderMarkup(rulesPicture(NO_RULES)), /Relations follow from grants alone/);
  });
});

describe('the examples', () => {
  it('have names of their own, and a picture of each namespace', () => {
    assert.equal(new Set(RULES_EXAMPLES.map(({ name }) => name)).size, RULES_EXAMPLES.length);
    for (const { ruleSet } of RULES_EXAMPLES) {
      const namespaces = new Set(ruleSet.rules.map(({ namespace }) => namespace));
      assert.equal(renderMarkup(rulesPicture(ruleSet)).match(/<svg /g)?.length, namespaces.size);
    }
  });
});
