// What the front does with the largest rules, in turns of the event loop between which others are served. Turns are
// counted, not timed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rulesResponse } from '../../../../src/http/operations/rules.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { textOfRules } from '../../../../src/rules/rule-set.ts';
import { RULES_TEXT_TYPE, RulesText } from '../../../../src/rules/rules-text.ts';
import { diffInTurns, parseRulesRequest } from '../../../../src/rules/rules-writes.ts';
import { printRules } from '../../../../src/rules/text/printer.ts';

const RULES = 150;
const ELEMENTS = 100;
/** More than any step looks at. */
const ELEMENTS_PER_TURN = 3000;
const TURNS_MIN = Math.floor((RULES * ELEMENTS) / ELEMENTS_PER_TURN);

const LARGEST = parseRuleSet({
  rules: Array.from({ length: RULES }, (_, index) => ({
    namespace: 'doc',
    name: `n${index}`,
    any_of: Array.from({ length: ELEMENTS }, () => 'owner'),
  })),
});
const JSON_FORM = textOfRules(LARGEST);
const TEXT_FORM = printRules(LARGEST);
const TERMS = { headers: {}, outsideTypes: undefined };

/** The turns of the event loop that pass meanwhile. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next: NodeJS.Immediate | undefined;
  const look = (): void => {
    turns += 1;
    next = setImmediate(look);
  };
  next = setImmediate(look);
  await work();
  clearImmediate(next);
  return turns;
}

describe('the largest rules', () => {
  for (const [what, work] of [
    ['sent as JSON', () => parseRulesRequest({ json: JSON.parse(JSON_FORM) }, TERMS)],
    ['sent as text', () => parseRulesRequest({ text: TEXT_FORM }, TERMS)],
    ['stored as JSON and read as text', () => rulesResponse(new RulesText(JSON_FORM), { accept: RULES_TEXT_TYPE })],
    ['stored as text and read as JSON', () => rulesResponse(new RulesText(TEXT_FORM), {})],
    ['compared with others', () => diffInTurns({ ...LARGEST, rules: [] }, LARGEST)],
  ] as const) {
    it(`take many short turns of the event loop: ${what}`, async () => {
      const turns = await turnsOf(work);
      assert.ok(turns >= TURNS_MIN, `${turns}`);
    });
  }

  it('are not parsed at all if they are read as they are stored', async () => {
    for (const [text, accept] of [
      [JSON_FORM, undefined],
      [TEXT_FORM, RULES_TEXT_TYPE],
    ] as const) {
      const response = await rulesResponse(new RulesText(text), { accept });
      assert.equal(response.json, text);
    }
  });
});
