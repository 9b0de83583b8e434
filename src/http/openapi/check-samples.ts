// How given checks are called with the clients and with curl. Identifiers come from users: a sample holds them as
// string literals of its language, in which nothing ends the literal or is invisible.

import type { NamedTuple } from '../../rules/questions.ts';

export interface ClientSamples {
  readonly typescript: string;
  readonly go: string;
  readonly python: string;
}

/** Characters that nobody sees, or that turn what follows: a reader could take one text for another. */
const UNSEEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

const hex = (character: string, digits: number): string =>
  (character.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');

/** The same escapes stand in TypeScript, Go and Python; only those above U+FFFF differ. */
const escaped = (text: string, quote: string, above: (character: string) => string): string =>
  text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll(UNSEEN, (character) => (character.length > 1 ? above(character) : `\\u${hex(character, 4)}`));

const inTypescript = (text: string): string => `'${escaped(text, "'", (character) => `\\u{${hex(character, 1)}}`)}'`;
const inQuotes = (text: string): string => `"${escaped(text, '"', (character) => `\\U${hex(character, 8)}`)}"`;

/** JSON for the command line, with the unseen characters escaped. */
export const sampleJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(UNSEEN, (character) =>
    character === ' '
      ? character
      : Array.from(
          { length: character.length },
          (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
        ).join(''),
  );

const inOrder = ({ subject, relation, object }: NamedTuple): readonly string[] => [subject, relation, object];

export function checkSamples(question: NamedTuple): ClientSamples {
  const parts = inOrder(question);
  return {
    typescript: `const allowed = await grantd.check(${parts.map(inTypescript).join(', ')});`,
    go: `allowed, err := client.Check(ctx, ${parts.map(inQuotes).join(', ')})`,
    python: `allowed = client.check(${parts.map(inQuotes).join(', ')})`,
  };
}

/** `names`: of the results, one for each check; without them, one name for all. */
export function checkBulkSamples(questions: readonly NamedTuple[], names?: readonly string[]): ClientSamples {
  const typescript = questions.map(({ subject, relation, object }) => {
    const [first, second, third] = [subject, relation, object].map(inTypescript);
    return `  { subject: ${first}, relation: ${second}, object: ${third} },`;
  });
  const go = questions.map(({ subject, relation, object }) => {
    const [first, second, third] = [subject, relation, object].map(inQuotes);
    return `\t{Subject: ${first}, Relation: ${second}, Object: ${third}},`;
  });
  const python = questions.map((question) => `    (${inOrder(question).map(inQuotes).join(', ')}),`);
  const results = names?.join(', ');
  return {
    typescript: [
      `const ${results === undefined ? 'results' : `[${results}]`} = await grantd.checkBulk([`,
      ...typescript,
      ']);',
    ].join('\n'),
    go: ['result, err := client.CheckBulk(ctx, []grantd.Question{', ...go, '})'].join('\n'),
    python: [`${results ?? 'results'} = client.check_bulk([`, ...python, '])'].join('\n'),
  };
}
