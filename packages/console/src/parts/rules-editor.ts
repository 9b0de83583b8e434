// The editor of rules: a text box, which the browser's script (packages/rules-editor) replaces with an editor that
// highlights, completes and marks what is wrong; and the list of what is wrong, which is the same with and without it.

import { RELATIONS } from '../../../../src/core/tuples.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { functionNames, overloadsOf } from '../../../../src/rules/conditions/functions.ts';
import { PARAMETER_TYPES } from '../../../../src/rules/conditions/types.ts';
import type { ParsedRules, RulesProblem } from '../../../../src/rules/text/rules-source.ts';
import { type FormContent, submit, textArea } from './form-parts.ts';
import { code, plural, quoted, UNLESS_FAILED } from './parts.ts';

/**
 * UTF-16 units that the box takes, more than rules of the largest size have, one a line. Percent-encoded, it takes less
 * than a form may have.
 */
export const RULES_TEXT_LENGTH_MAX = 200_000;
const ROWS_MIN = 12;
const ROWS_MAX = 30;

/** Namespaces of the tenant that the script completes; more would make the page large. */
const NAMESPACES_MAX = 1000;

/** What the script completes besides the names in the text. */
const VOCABULARY = {
  relations: RELATIONS,
  types: PARAMETER_TYPES,
  functions: functionNames(false),
  /** By the name of each method, the types of what it is called on. */
  methods: Object.fromEntries(
    functionNames(true).map((name) => [
      name,
      [...new Set(overloadsOf(name, true).flatMap(({ parameters: [target] }) => target?.kind ?? []))],
    ]),
  ),
};

export interface RulesBox {
  readonly text: string;
  /** To where the text is sent while it is typed. */
  readonly validatePath: string;
  /** The tenant's. */
  readonly namespaces: readonly string[];
}

export function rulesBox({ text, validatePath, namespaces }: RulesBox, filled: FormContent | undefined): Markup {
  const options = {
    name: 'rules',
    label: 'Rules',
    hint: html`${code('viewer: user')} says who may be granted a relation, and ${code('can_read = viewer or can_read from parent')} what a name follows from. Rules in JSON can be pasted.`,
    rows: Math.min(ROWS_MAX, Math.max(ROWS_MIN, text.split('\n').length + 2)),
    lengthMax: RULES_TEXT_LENGTH_MAX,
    value: text,
    attributes: {
      'data-vocabulary': JSON.stringify({ ...VOCABULARY, namespaces: namespaces.slice(0, NAMESPACES_MAX) }),
      'hx-post': validatePath,
      'hx-trigger': 'input changed delay:400ms',
      'hx-target': '#rules-state',
      'hx-swap': 'outerMorph',
      'hx-sync': 'this:replace',
      ...UNLESS_FAILED,
    },
  };
  return textArea(options, filled);
}

/** `3 problems, the first in line 8.` */
function countProblems(problems: readonly RulesProblem[]): string {
  const counted = plural(problems.length, 'problem');
  const line = problems[0]?.place?.line;
  if (line === undefined) return `${counted}.`;
  return problems.length === 1 ? `${counted}, in line ${line}.` : `${counted}, the first in line ${line}.`;
}

function problemMarkup({ message, place }: RulesProblem): Markup {
  if (place === undefined) return html`<li>${quoted(message)}</li>`;
  const { line, column, length } = place;
  return html`<li><a href="#rules" data-line=${line} data-column=${column} data-length=${length}>Line ${line}</a>: ${quoted(message)}</li>`;
}

/** The state of the text: a sentence that a screen reader announces while it is typed, and what is wrong. */
export function rulesState(parsed: ParsedRules | undefined, isJson = false): Markup {
  const problems = parsed?.kind === 'wrong' ? parsed.problems : [];
  const text =
    parsed === undefined
      ? ''
      : parsed.kind === 'wrong'
        ? countProblems(problems)
        : `No errors: ${plural(parsed.ruleSet.rules.length, 'rule')}.`;
  return html`<div id="rules-state" class=${problems.length > 0 ? 'wrong' : undefined}>
    <p role="status">${text}</p>
    ${isJson && parsed?.kind !== 'wrong' && html`<p>This is JSON. ${submit('Write it as text', 'secondary', { name: 'action', value: 'edit' })}</p>`}
    <ol id="rules-problems" aria-label="Problems" hidden=${problems.length === 0}>${problems.map(problemMarkup)}</ol>
  </div>`;
}
