// Rules as people write them: JSON text, with the line of what is wrong in it.

import { GrantdError } from '../core/errors.ts';
import { parseJson } from '../core/text/json.ts';
import { findJsonPlace, lineAt } from '../core/text/json-places.ts';
import { parseRuleSet, type RuleSet } from './rule-set.ts';

export type ParsedRules =
  | { readonly kind: 'parsed'; readonly ruleSet: RuleSet }
  /** `line` is counted from 1. `message` is one sentence or more; it names the place and what to write instead. */
  | { readonly kind: 'wrong'; readonly line: number; readonly message: string };

/** What a message of `parseRuleSet` begins with, if it is about a part of the rules. */
const PLACE = /^"([^"]+)"/;

/** What a message ends with, if a member is given twice. */
const LINE = / at line (\d+), column \d+\.$/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function parseRulesText(text: string): ParsedRules {
  try {
    return { kind: 'parsed', ruleSet: parseRuleSet(parseJson(text, 'The text')) };
  } catch (error) {
    if (!isJson(text)) {
      const place = findJsonPlace(text, '');
      const message = place.kind === 'syntax' ? place.message : 'something is wrong';
      return { kind: 'wrong', line: lineAt(text, place.offset), message: `This is not JSON: ${message}.` };
    }
    if (!(error instanceof GrantdError)) throw error;
    const [, line] = LINE.exec(error.message) ?? [];
    if (line !== undefined) return { kind: 'wrong', line: Number(line), message: error.message };
    const { offset } = findJsonPlace(text, PLACE.exec(error.message)?.[1] ?? '');
    return { kind: 'wrong', line: lineAt(text, offset), message: error.message.replace(/^The body/, 'The text') };
  }
}
