// The strict schemas of Kubernetes and of the custom resources that the chart can make. write-schemas.ts says where
// they come from.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import type { KubernetesObject } from './helm.ts';

const { kinds, $defs } = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, 'schemas.json.gz'))).toString(),
) as { readonly kinds: Record<string, object>; readonly $defs: object };

const ajv = new Ajv({ strict: false, allErrors: true });
const validators = new Map(Object.keys(kinds).map((kind) => [kind, () => ajv.compile({ ...kinds[kind], $defs })]));
const compiled = new Map<string, ReturnType<typeof ajv.compile>>();

/** `apiVersion/kind` of everything that there is a schema of. */
export const KNOWN_KINDS: readonly string[] = [...validators.keys()];

/** What is wrong with an object, one line each. */
export function findSchemaViolations(object: KubernetesObject): string[] {
  const kind = `${object.apiVersion}/${object.kind}`;
  const compile = validators.get(kind);
  if (compile === undefined) return [`there is no schema of ${kind}`];
  const validate = compiled.get(kind) ?? compile();
  compiled.set(kind, validate);
  if (validate(object)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const field = 'additionalProperty' in params ? ` (${params.additionalProperty})` : '';
    return `${object.kind} ${object.metadata?.name}: ${instancePath} ${message}${field}`;
  });
}
