// The differences of rules, in their meaning and in their text, and the examples.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diffMarkup, rulesDiff } from '../../../../packages/console/src/parts/rules-diff.ts';
import { RULES_EXAMPLES } from '../../../../packages/console/src/parts/rules-examples.ts';
import { renderMarkup } from '../../../../src/http/pages/markup.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { ruleSetRecord } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { formatSource } from '../../../../src/rules/text/printer.ts';

/** The lines of each box, each with what it is. */
const boxesOf = async (from: string, to: string): Promise<readonly (readonly string[])[]> => {
  const text = renderMarkup(await rulesDiff(new RulesText(from).ruleSet, new RulesText(to).ruleSet));
  return [...text.matchAll(/<pre[^>]*>(.*?)<\/pre>/gs)].map(([, box = '']) =>
    [...box.matchAll(/<(ins|del|span|small)>([^<]*)<\/\1>/g)].map(([, kind, line]) => `${kind}|${line}`),
  );
};

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

  it('has the lines of the text, with comments and the namespace in which they are', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `  can_${index} = owner\n`).join('');
    const before = `namespace doc\n${names}  viewer = editor\n  last = owner\n`;
    const after = before.replace('viewer = editor', 'viewer = editor or owner  # both');
    const [meaning, text] = await boxesOf(before, after);
    assert.equal(meaning?.length, 2);
    assert.deepEqual(text, [
      'span|  namespace doc',
      'small|4 lines as before',
      'span|    can_4 = owner',
      'span|    can_5 = owner',
      'del|-   viewer = editor',
      'ins|+   viewer = editor or owner  # both',
      'span|    last = owner',
    ]);
  });

  it('says where only comments, order or layout differ, and where nothing does', async () => {
    const rules = 'namespace doc\n  viewer = editor\n';
    const commented = new RulesText(`# why\n${rules}`).ruleSet;
    const text = renderMarkup(await rulesDiff(new RulesText(rules).ruleSet, commented));
    assert.match(text, /only comments, order or layout differ/);
    assert.match(text, /<ins>\+ # why<\/ins>/);
    const json = parseRuleSet(ruleSetRecord(commented));
    assert.doesNotMatch(renderMarkup(await rulesDiff(json, commented)), /<pre/, 'JSON has no text to compare');
    assert.match(renderMarkup(await rulesDiff(commented, commented)), /Nothing: the rules are the same/);
  });
});

describe('the examples', () => {
  it('have names of their own, and are texts in the one layout that can be saved', () => {
    assert.equal(new Set(RULES_EXAMPLES.map(({ name }) => name)).size, RULES_EXAMPLES.length);
    for (const { text } of RULES_EXAMPLES) {
      assert.equal(formatSource(text), text);
      assert.ok(new RulesText(text).ruleSet.rules.length > 0);
    }
  });
});
