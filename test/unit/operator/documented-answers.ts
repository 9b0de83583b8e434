// Holds the answers of the operator's API to its OpenAPI document: the status, the content type, and every field.

import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { operatorOpenapiText } from '../../../scripts/docs/operator-openapi.ts';
import { isJsonObject, type JsonObject } from '../../../src/core/json-members.ts';

const document: JsonObject = JSON.parse(operatorOpenapiText());

const objectAt = (root: JsonObject, ...path: readonly string[]): JsonObject | undefined => {
  const found = path.reduce<unknown>((node, name) => (isJsonObject(node) ? node[name] : undefined), root);
  return isJsonObject(found) ? found : undefined;
};

/** The same schemas, in which an object has no field that they do not name, unless they say so. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (!isJsonObject(value)) return value;
  const inner = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, strict(each)]));
  return isJsonObject(value.properties) ? { additionalProperties: false, ...inner } : inner;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
const schemas = strict(objectAt(document, 'components', 'schemas'));
const validators = new Map<string, ReturnType<typeof ajv.compile>>();

function assertFits(schema: JsonObject, value: unknown, where: string): void {
  const key = JSON.stringify(schema);
  let validator = validators.get(key);
  if (validator === undefined) {
    validator = ajv.compile({ ...schema, components: { schemas } });
    validators.set(key, validator);
  }
  assert.ok(validator(value), `${where}: ${ajv.errorsText(validator.errors)}\n${JSON.stringify(value)}`);
}

const patterns = Object.entries(objectAt(document, 'paths') ?? {}).map(([path, operations]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  operations: isJsonObject(operations) ? operations : {},
}));

/** Answers at paths, or to methods, that the document does not have are not its business. */
export function assertDocumented(method: string, path: string, response: Response, text: string): void {
  const [pathname = ''] = `/operator/v1${path}`.split('?');
  const found = patterns.find(({ pattern }) => pattern.test(pathname));
  const operation = objectAt(found?.operations ?? {}, method.toLowerCase());
  if (operation === undefined) return;
  const where = `${method} ${path} ${response.status}`;
  const documented = objectAt(operation, 'responses', String(response.status));
  assert.ok(documented !== undefined, `${where} is not documented: ${text}`);
  const [contentType = ''] = (response.headers.get('content-type') ?? '').split(';');
  if (contentType === '') {
    assert.deepEqual([documented.content, text], [undefined, ''], where);
    return;
  }
  const schema = objectAt(documented, 'content', contentType, 'schema');
  assert.ok(schema !== undefined, `${where} is not documented as ${contentType}`);
  const line = objectAt(schema, 'x-line');
  if (contentType === 'application/problem+json') {
    const { type }: { readonly type: string } = JSON.parse(text);
    const codes = objectAt(operation, 'responses', String(response.status), 'content', contentType, 'examples') ?? {};
    assert.ok((type.split('/').at(-1) ?? '') in codes, `${where} is not documented with ${type}`);
  } else if (contentType === 'application/x-ndjson') {
    for (const each of text.split('\n').filter((part) => part !== '')) {
      assertFits(line ?? schema, JSON.parse(each), where);
    }
  } else if (contentType === 'application/json') {
    assertFits(schema, JSON.parse(text), where);
  }
}
