// What people write first who know another language for permissions, and what it is in ours.

import type { Token } from './lexer.ts';

const NAME = '([A-Za-z][A-Za-z0-9_.-]*)';

/** The kinds of subjects of another language as a list of ours: `[user, team#member]`, `user | team#member`. */
const listed = (kinds: string): string =>
  kinds
    .replaceAll(/[[\]]/g, '')
    .split(/\s*[|,]\s*|\s+or\s+/)
    .map((each) => each.trim().replace(/^@/, ''))
    .filter((each) => each !== '')
    .join(', ');

/** An expression of another language as one of ours, as far as words go. */
export const reworded = (expression: string): string =>
  expression
    .replaceAll(/([A-Za-z0-9_]+)\s*->\s*([A-Za-z0-9_]+)/g, '$2 from $1')
    .replaceAll(/\s*(?:&&?|\bAND\b)\s*(?:!|not\s+)/g, ' but not ')
    .replaceAll(/\band\s+not\s+/gi, 'but not ')
    .replaceAll(/\s+(?:-|except|unless|minus|without)\s+/g, ' but not ')
    .replaceAll(/\s*(?:&&?)\s*|\s+AND\s+/g, ' and ')
    .replaceAll(/\s*(?:\|\|?|\+)\s*|\s+OR\s+/g, ' or ')
    .replaceAll(/\bBUT NOT\b/g, 'but not')
    .trim();

/** `define viewer: [user, user:*] or editor` in OpenFGA is two lines here. */
function defined(name: string, right: string): string {
  const [, kinds, expression = right] = /^\[([^\]]*)\]\s*(?:or\s+)?(.*)$/.exec(right.trim()) ?? [];
  const lines = [
    kinds === undefined ? '' : `\`${name}: ${listed(kinds)}\``,
    expression.trim() === '' ? '' : `\`${name} = ${reworded(expression)}\``,
  ];
  return `write ${lines.filter((line) => line !== '').join(' and, on a line of its own, ')}`;
}

type Hint = readonly [pattern: RegExp, hint: (...groups: string[]) => string];

/** By the beginning of the statement; completes a sentence. */
const STATEMENTS: readonly Hint[] = [
  [/^\{/, () => 'this is JSON, which is sent with the content type application/json'],
  [/^(?:model|schema\b.*)$/, () => 'there is no header: begin with `namespace NAME`'],
  [new RegExp(`^(?:type|definition|entity|object)\\s+${NAME}`), (name) => `write \`namespace ${name}\``],
  [new RegExp(`^define\\s+${NAME}\\s*:(.*)$`, 's'), (name, right) => defined(name, right)],
  [
    new RegExp(`^relation\\s+${NAME}\\s*:?(.*)$`, 's'),
    (name, kinds) => `write \`${name}: ${listed(kinds).replaceAll(/\s+@/g, ', ')}\``,
  ],
  [new RegExp(`^permission\\s+${NAME}\\s*=\\s*nil\\s*$`), (name) => `write \`${name}: nobody\``],
  [
    new RegExp(`^(?:permission|action)\\s+${NAME}\\s*=(.*)$`, 's'),
    (name, right) => `write \`${name} = ${reworded(right)}\``,
  ],
  [/^relations\s*$/, () => 'no line of its own begins the relations: leave it out'],
  [
    new RegExp(`^caveat\\s+${NAME}\\s*\\(([^)]*)\\)`),
    (name, parameters) =>
      `write \`condition ${name}(${parameters}) = …\`, with a colon between a parameter and its type`,
  ],
  [/^[{}]/, () => 'there are no braces: what belongs to a namespace stands beneath it, indented'],
  [/^groups$/, () => 'write `groups: on`'],
  [/^-\s/, () => 'this looks like YAML: write `namespace NAME`, and its relations and rules beneath it'],
];

/** `text`: the whole statement. Undefined: nothing is known about it. */
export function statementHint(text: string): string | undefined {
  for (const [pattern, hint] of STATEMENTS) {
    const match = pattern.exec(text.slice(0, 1000));
    if (match !== null) return hint(...match.slice(1));
  }
  return undefined;
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['&', '`and`'],
  ['&&', '`and`'],
  ['AND', '`and`'],
  ['|', '`or`'],
  ['||', '`or`'],
  ['+', '`or`'],
  ['OR', '`or`'],
  ['-', '`but not`'],
  ['!', '`but not`'],
  ['not', '`but not`'],
  ['except', '`but not`'],
  ['unless', '`but not`'],
  ['without', '`but not`'],
  ['minus', '`but not`'],
  ['but', '`but not`'],
  ['->', '`viewer from parent` for parent->viewer'],
  ['>', '`viewer from parent` for parent->viewer'],
  ['[', 'who may be granted a relation on a line of its own: `viewer: user, team#member`'],
  ['{', 'parentheses, or nothing: there are no braces'],
  ['}', 'parentheses, or nothing: there are no braces'],
  [';', 'nothing: a line ends a definition'],
  ['*', '`user:*` for everyone of a namespace, or `states: NAME` above for a state of the object itself'],
  ['//', '`#`: with it a comment begins'],
  ['with', 'a condition with those who may be granted a relation: `viewer: user with CONDITION`'],
]);

/** What to write in the place of a token that may not stand here; undefined: nothing is known about it. */
export const tokenHint = ({ text }: Token): string | undefined => WORDS.get(text);
