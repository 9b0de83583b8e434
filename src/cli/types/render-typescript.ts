// The types of a model in TypeScript, for @grantd/client.

import { headOf, type ModelTypes, parameterType } from './model-types.ts';

const BASIC: ReadonlyMap<string, string> = new Map([
  ['bool', 'boolean'],
  // Beyond 2^53 as a string of digits.
  ['int', 'number | string'],
  ['uint', 'number | string'],
  ['double', 'number | string'],
  ['any', 'unknown'],
]);

const literals = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(' | ');
const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`);

const typeOf = (type: string): string =>
  parameterType(
    type,
    (name) => BASIC.get(name) ?? 'string',
    (element) => `readonly ${element.includes('|') ? `(${element})` : element}[]`,
    (element) => `Readonly<Record<string, ${element}>>`,
  );

export function renderTypeScript(types: ModelTypes): string {
  const { relations, namespaces, conditions } = types;
  const names = namespaces.map(
    ({ namespace, derived }) =>
      `  ${key(namespace)}: ${['Relation', ...(derived.length > 0 ? [literals(derived)] : [])].join(' | ')};`,
  );
  const parameters = conditions.map(({ name, parameters: declared }) => {
    const fields = Object.entries(declared).map(([parameter, type]) => `    ${key(parameter)}?: ${typeOf(type)};`);
    return [`  ${key(name)}: {`, ...fields, '  };'].join('\n');
  });
  return [
    `// ${headOf(types)}`,
    '',
    "import type { GrantdFor } from '@grantd/client';",
    '',
    '/** What can be granted. */',
    `export type Relation =\n${relations.map((name) => `  | '${name}'`).join('\n')};`,
    '',
    '/** What can be asked about an object, by its namespace. */',
    `export interface Names {\n${names.join('\n')}\n}`,
    '',
    '/** The parameters of conditions, by their names. */',
    parameters.length === 0
      ? 'export type Conditions = Record<never, never>;'
      : `export interface Conditions {\n${parameters.join('\n')}\n}`,
    '',
    '/** A client that only takes names of this model. */',
    'export type Client = GrantdFor<{ names: Names; relation: Relation; conditions: Conditions }>;',
    '',
  ].join('\n');
}
