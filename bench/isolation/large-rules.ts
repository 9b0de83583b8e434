// Rules of nearly the largest size: full of gates, of conditions, or of names.

/** Less than the bound on the canonical text, by what the other members take. */
const RULES_BYTES = 127 * 1024;
const RULES = 400;
const NAMES = 399;
/** Bytes of an expression. */
const EXPRESSION_BYTES = 1900;

const name = (index: number): string => `n${index % NAMES}`;

/** Rules whose elements come from `element`, of the number of those before, until the bytes are used up. */
function filled(element: (number: number) => unknown) {
  const each = Math.floor(RULES_BYTES / RULES);
  let count = 0;
  return Array.from({ length: RULES }, (_, rule) => {
    const elements: unknown[] = [];
    const head = JSON.stringify({ namespace: 'document', name: `n${rule}`, any_of: [] }).length;
    for (let bytes = head; ; count += 1) {
      const next = element(count);
      bytes += JSON.stringify(next).length + 1;
      if (bytes > each) break;
      elements.push(next);
    }
    return { namespace: 'document', name: `n${rule}`, any_of: elements.length === 0 ? ['viewer'] : elements };
  });
}

/** Five gates in each other. */
const deep = (number: number): unknown => {
  let element: unknown = name(number);
  for (let depth = 0; depth < 5; depth += 1) element = { all_of: [element, 'viewer'] };
  return element;
};

/** `closing`: names that make circles through `but_not`, which are refused. */
export const manyGates = (closing: readonly string[]) => ({
  relations: ['blocked'],
  rules: filled((number) =>
    number % 8 === 0 ? { all_of: ['viewer', 'editor'], but_not: ['blocked', ...closing] } : deep(number),
  ),
  groups: true,
});

/** `number`: in each expression, so that rules differ. */
export const manyConditions = (number: number) => ({
  conditions: Array.from({ length: Math.floor(RULES_BYTES / (EXPRESSION_BYTES + 100)) }, (_, index) => {
    const term = (part: number): string => `l.exists(x, x==${number}+${part})`;
    const terms: string[] = [];
    for (let bytes = 0, part = 0; bytes < EXPRESSION_BYTES - 30; part += 1) {
      terms.push(term(part));
      bytes += term(part).length + 2;
    }
    return { name: `c${index}`, parameters: { l: 'list<int>' }, expression: terms.join('||') };
  }),
  rules: [],
});

/** Each rule follows many names from a parent. */
export const manyNames = () => ({ rules: filled((number) => `${name(number * 7)} from parent`), groups: true });
