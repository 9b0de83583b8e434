// The rules as text, one fold for each namespace: what each name follows from, and what the switches mean. Every rule
// stands there, in the order of the rule set.

import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { hasRules, type Rule, type RuleSet } from '../../../../src/rules/rule-set.ts';
import { textOfElements } from '../../../../src/rules/text/printer.ts';
import { code, plural } from './parts.ts';

/** Rule sets with more rules start folded. */
const OPEN_MAX = 30;

/** The names stand below each other, and so does what they follow from. */
function textOfRules(rules: readonly Rule[]): string {
  const width = Math.max(...rules.map(({ name }) => name.length));
  return rules.map(({ name, anyOf }) => `${name.padEnd(width)} = ${textOfElements(anyOf)}`).join('\n');
}

export function rulesOutline(ruleSet: RuleSet): Markup {
  const { rules, groups, public: namespaces } = ruleSet;
  if (!hasRules(ruleSet)) return html`<p>Relations follow from grants alone.</p>`;
  const folds = [...Map.groupBy(rules, ({ namespace }) => namespace)].map(
    ([namespace, each]) => html`<details open=${rules.length <= OPEN_MAX}>
      <summary>${code(namespace)} <small>${plural(each.length, 'name')}</small></summary>
      <pre dir="ltr" tabindex="0" role="group" aria-label="Rules of ${namespace}">${textOfRules(each)}</pre>
    </details>`,
  );
  const switches = [
    groups
      ? html`<li>Groups: a grant to ${code('team:eng#member')} is one to every member of ${code('team:eng')}.</li>`
      : undefined,
    ...namespaces.map(
      (namespace) =>
        html`<li>Public: a grant to ${code(`${namespace}:*`)} is one to every subject of ${code(namespace)}.</li>`,
    ),
  ];
  return html`${folds}<ul>${switches}</ul>`;
}
