// Expressions of Prometheus held against what is served: names, labels and their values, and whether the functions suit
// the types. Not a parser of the language, but of the part of it that the chart uses; what it does not know is a
// finding.

import type { Family } from './exposition.ts';

/** What monitors of pods give to every series. */
const COMMON_LABELS = ['namespace', 'pod'];
const OVER_TIME = new Set(['rate', 'increase']);
const FUNCTIONS = new Set([...OVER_TIME, 'sum', 'max', 'absent', 'histogram_quantile', 'time', 'abs']);
const KEYWORDS = new Set(['by', 'and', 'or', 'on']);

const SELECTOR = /(?<name>[a-z][a-z0-9]*_[a-z0-9_]+)(?:\{(?<matchers>[^}]*)\})?(?<range>\[[^\]]+\])?/g;

interface Context {
  /** The functions around a place, the innermost first. */
  readonly around: readonly string[];
  /** The labels that the aggregations around it keep. */
  readonly kept: readonly string[];
}

/** The functions that are open at `end`, with the `by (…)` of each. */
function contextAt(expression: string, end: number): Context {
  const open: { name: string; by: string[] }[] = [];
  const tokens = /(?<call>[a-z_]+)?\s*(?:by\s*\((?<by>[^)]*)\)\s*)?\(|\)/g;
  const plain = expression.slice(0, end).replaceAll(/\{[^}]*\}/g, (text) => ' '.repeat(text.length));
  for (const { 0: text, groups } of plain.matchAll(tokens)) {
    if (text === ')') open.pop();
    else open.push({ name: groups?.call ?? '', by: (groups?.by ?? '').split(',').map((each) => each.trim()) });
  }
  return {
    around: open.map(({ name }) => name).reverse(),
    kept: open.flatMap(({ by }) => by).filter((label) => label !== ''),
  };
}

function findWrongMatchers(matchers: string, name: string, family: Family, labelNames: readonly string[]): string[] {
  const found: string[] = [];
  for (const [, label = '', operator = '', value = ''] of matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)) {
    if (COMMON_LABELS.includes(label)) continue;
    if (!labelNames.includes(label)) found.push(`${name} has no label ${label}`);
    // A value that did not occur is at least one of those that the metric says it has.
    const isValue = family.labels.get(label)?.has(value) === true || new RegExp(`\\b${value}\\b`).test(family.help);
    if (operator.length === 1 || operator === '!=' ? !isValue : false) found.push(`${name} has no ${label}="${value}"`);
  }
  return found;
}

/** One line for each thing that is not as it is served. `labelsOf`: the labels that a metric is declared with. */
export function findWrong(
  expression: string,
  served: ReadonlyMap<string, Family>,
  labelsOf: (family: Family) => readonly string[],
): string[] {
  const found: string[] = [];
  const text = expression.replaceAll('$__rate_interval', '5m');
  for (const match of text.matchAll(SELECTOR)) {
    const { name = '', matchers = '', range } = match.groups ?? {};
    const { around, kept } = contextAt(text, match.index);
    const called = text
      .slice(match.index + name.length)
      .trimStart()
      .startsWith('(');
    if (called || KEYWORDS.has(name)) continue;
    // The labels of a `by (…)` are looked at with the series that they group.
    if (/\b(?:by|on)\s*\([^)]*$/.test(text.slice(0, match.index))) continue;
    const family = served.get(name);
    if (family === undefined) {
      found.push(`${name} is not served`);
      continue;
    }
    const labelNames = labelsOf(family).filter((label) => label !== 'le' || name.endsWith('_bucket'));
    found.push(...findWrongMatchers(matchers, name, family, labelNames));
    for (const label of kept) {
      if (![...labelNames, ...COMMON_LABELS].includes(label)) found.push(`${name} has no label ${label} to keep`);
    }
    const grows = family.type === 'counter' || (family.type !== 'gauge' && name !== '' && !served.has(`${name}_sum`));
    const [inner = ''] = around;
    if (grows !== OVER_TIME.has(inner)) {
      found.push(grows ? `${name} only grows, and is taken as it is` : `${name} is no counter, but is in ${inner}()`);
    }
    if (OVER_TIME.has(inner) !== (range !== undefined))
      found.push(`${name} has a range where none belongs, or lacks one`);
    const quantile = around.includes('histogram_quantile');
    if (quantile !== name.endsWith('_bucket')) found.push(`${name} and histogram_quantile() do not go together`);
    if (quantile && !kept.includes('le')) found.push(`${name} loses le before histogram_quantile()`);
  }
  for (const [, call = ''] of text.replaceAll(/\{[^}]*\}/g, '').matchAll(/\b([a-z_]+)\s*\(/g)) {
    if (!FUNCTIONS.has(call) && !KEYWORDS.has(call)) found.push(`${call}() is not known here`);
  }
  return [...new Set(found)];
}
