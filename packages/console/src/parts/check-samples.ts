// Checks as code in each language. They contain identifiers that come from users: as string literals, in which nothing
// ends the literal or is invisible. Address and key come from the environment.

import type { JsonObject } from '../../../../src/core/json-members.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import { copyBlock } from './parts.ts';

/** Characters that are invisible or change the direction of what follows: one text could look like another. */
const INVISIBLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

const units = (text: string, unit: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, at) => unit(text.charCodeAt(at))).join('');

/** `hide`: the escape of an invisible character. */
const literal =
  (quote: string, hide: (character: string) => string) =>
  (text: string): string =>
    `${quote}${text.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll(INVISIBLE, hide)}${quote}`;

const asUnits = (character: string): string => units(character, (code) => `\\u${hex(code, 4)}`);
const inTypescript = literal("'", (character) =>
  character.length > 1 ? `\\u{${hex(character.codePointAt(0) ?? 0, 1)}}` : asUnits(character),
);
/** A literal of Go or Python. */
const inQuotes = literal('"', (character) =>
  character.length > 1 ? `\\U${hex(character.codePointAt(0) ?? 0, 8)}` : asUnits(character),
);
/** Java reads `\u000a` as an end of line before it reads literals. An octal escape is part of the literal. */
const inJava = literal('"', (character) =>
  units(character, (code) => (code < 0x100 ? `\\${code.toString(8).padStart(3, '0')}` : `\\u${hex(code, 4)}`)),
);

const list = ({ subject, relation, object }: NamedTuple, write: (text: string) => string): string =>
  [subject, relation, object].map(write).join(', ');

function members({ subject, relation, object }: NamedTuple): string {
  const [first, second, third] = [subject, relation, object].map(inTypescript);
  return `{ subject: ${first}, relation: ${second}, object: ${third} }`;
}

function goMembers({ subject, relation, object }: NamedTuple): string {
  const [first, second, third] = [subject, relation, object].map(inQuotes);
  return `{Subject: ${first}, Relation: ${second}, Object: ${third}}`;
}

/** For each language, one check and several of them in one call. */
const CLIENTS: Readonly<
  Record<string, readonly [one: (only: NamedTuple) => string, many: (all: readonly NamedTuple[]) => string]>
> = {
  TypeScript: [
    (only) => `const allowed = await grantd.check(${members(only)});`,
    (all) =>
      `const results = await grantd.checkBulk({\n  checks: [\n${all.map((each) => `    ${members(each)},\n`).join('')}  ],\n});`,
  ],
  Go: [
    (only) => `allowed, err := client.Check(ctx, ${list(only, inQuotes)})`,
    (all) =>
      `result, err := client.CheckBulk(ctx, []grantd.Question{\n${all.map((each) => `\t${goMembers(each)},\n`).join('')}})`,
  ],
  Python: [
    (only) => `allowed = client.check(${list(only, inQuotes)})`,
    (all) => `results = client.check_bulk([\n${all.map((each) => `    (${list(each, inQuotes)}),\n`).join('')}])`,
  ],
  Java: [
    (only) => `boolean allowed = grantd.check(${list(only, inJava)});`,
    (all) =>
      `BulkCheckResult result = grantd.checkBulk(List.of(\n${all.map((each) => `    new Question(${list(each, inJava)})`).join(',\n')}));`,
  ],
};

/** In single quotes, in which a shell changes nothing. */
function curl(path: string, body: JsonObject): string {
  const json = JSON.stringify(body).replaceAll(INVISIBLE, (character) =>
    character === ' ' ? ' ' : asUnits(character),
  );
  return [
    `curl -sSw '\\n' "$GRANTD_URL${path}"`,
    '-H "Authorization: Bearer $GRANTD_KEY"',
    "-H 'Content-Type: application/json'",
    `-d '${json.replaceAll("'", "'\\''")}'`,
  ].join(' \\\n  ');
}

/**
 * The samples of one check, or of several in one call, by language. `context`: the members `context` and
 * `context_grants`, which only the sample for curl shows.
 */
export function checkSamples(
  asked: NamedTuple | readonly NamedTuple[],
  context: JsonObject = {},
): Readonly<Record<string, string>> {
  const isOne = 'subject' in asked;
  const shell = isOne
    ? curl('/v1/check', { ...asked, ...context })
    : curl('/v1/check/bulk', { checks: asked, ...context });
  if (Object.keys(context).length > 0) return { curl: shell };
  const clients = Object.entries(CLIENTS).map(([label, [one, many]]) => [label, isOne ? one(asked) : many(asked)]);
  return { curl: shell, ...Object.fromEntries(clients) };
}

export const samplesMarkup = (summary: string, ...asked: Parameters<typeof checkSamples>): Markup =>
  html`<details class="samples">
    <summary>${summary}</summary>
    <p class="hint">Set <code>GRANTD_URL</code> and <code>GRANTD_KEY</code>; the samples do not contain a key.</p>
    ${Object.entries(checkSamples(...asked)).map(
      ([label, source]) => html`<h3>${label}</h3>${copyBlock(source, `the sample for ${label}`)}`,
    )}
  </details>`;
