// The types of the TypeScript client, from the schemas of the OpenAPI description.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const OPENAPI = join(import.meta.dirname, '..', 'docs', 'reference', 'openapi.json');
export const CLIENT_TYPES = 'clients/typescript/src/generated/schemas.ts';
const REFERENCE = '#/components/schemas/';

interface Description {
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** Schemas that only describe values, and would repeat at every use. */
const WITHOUT = new Set(['pattern', 'maxItems', 'minItems', 'example', 'format', 'x-error-codes']);

/** The requests and results of the client; schemas that they refer to follow. */
const ROOTS = [
  'ActionSearch',
  'BulkWrite',
  'BulkWriteResult',
  'Change',
  'DenialReason',
  'ContextGrant',
  'CreatedKey',
  'Decision',
  'EvaluationRequest',
  'EvaluationsRequest',
  'FoundEntity',
  'Grant',
  'GrantFilter',
  'GrantRequest',
  'Join',
  'Key',
  'KeyRequest',
  'Namespace',
  'OpenapiDocument',
  'Question',
  'ResourceSearch',
  'RuleSet',
  'RuleSetRequest',
  'RulesPreview',
  'RulesVersion',
  'SetsRequest',
  'SubjectSearch',
  'SubjectSets',
  'Tuple',
];

/** A rule that a client reads is one that it can write: the short form in JSON is for those who write by hand. */
export const clientOpenapiText = (): string =>
  readFileSync(OPENAPI, 'utf8').replaceAll(`${REFERENCE}RuleRequest"`, `${REFERENCE}Rule"`);

/** Every array as one of any length: the types of a list of one to a hundred are a hundred tuples. */
function simplified(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplified);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !WITHOUT.has(name));
  return Object.fromEntries(
    members.map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string' ? each.replace(REFERENCE, '#/$defs/') : simplified(each),
    ]),
  );
}

/** The roots and all that they refer to, in the order of the description. */
function usedOf(schemas: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const used = new Set(ROOTS);
  // Iterating a set includes elements added meanwhile.
  for (const name of used) {
    if (!(name in schemas)) throw new Error(`There is no schema ${name}.`);
    for (const [, found = ''] of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      used.add(found);
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}

/** The text of the file that `npm run generate -- types` writes. */
export async function renderClientTypes(): Promise<string> {
  // The compiler changes its process when it is loaded, so only this task loads it.
  const { compile } = await import('json-schema-to-typescript');
  const { components }: Description = JSON.parse(clientOpenapiText());
  const text = await compile(
    { type: 'object', $defs: simplified(usedOf(components.schemas)) as object },
    'AllSchemas',
    {
      additionalProperties: false,
      bannerComment: '// Made by `npm run generate -- types` from docs/reference/openapi.json.',
      declareExternallyReferenced: true,
      enableConstEnums: false,
      unknownAny: true,
      unreachableDefinitions: true,
      style: { singleQuote: true, printWidth: 120 },
    },
  );
  return (
    text
      // The banner of the compiler, and the schema that only contains the others.
      .replaceAll(/\n \*\n \* This interface was referenced by [^\n]*\n \* via the [^\n]*\n/g, '\n')
      .replaceAll(/\/\*\*\n \* This interface was referenced by [^\n]*\n \* via the [^\n]*\n \*\/\n/g, '')
      .replace('export interface AllSchemas {}\n', '')
      // Read-only, so that callers may pass frozen lists.
      .replaceAll(/(: |\| )(\w+)\[\]/g, '$1readonly $2[]')
  );
}
