// Writes schemas.json.gz: the strict schemas of every kind of object that the chart makes, taken from the sources of
// Kubernetes, the Gateway API, the Prometheus operator and cert-manager. They are committed, so that tests need neither
// these sources nor a network. Run it with Go at hand, after a change of a version or of the kinds.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'yaml';

const KUBERNETES = 'k8s.io/kubernetes@v1.35.4';
/** `apiVersion/kind` of Kubernetes itself. */
const KINDS: ReadonlySet<string> = new Set([
  'v1/ConfigMap',
  'v1/PersistentVolumeClaim',
  'v1/Pod',
  'v1/Secret',
  'v1/Service',
  'v1/ServiceAccount',
  'apps/v1/Deployment',
  'apps/v1/StatefulSet',
  'autoscaling/v2/HorizontalPodAutoscaler',
  'batch/v1/CronJob',
  'batch/v1/Job',
  'networking.k8s.io/v1/Ingress',
  'networking.k8s.io/v1/NetworkPolicy',
  'policy/v1/PodDisruptionBudget',
  'rbac.authorization.k8s.io/v1/Role',
  'rbac.authorization.k8s.io/v1/RoleBinding',
  'scheduling.k8s.io/v1/PriorityClass',
]);
const PROMETHEUS_OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const GATEWAY_API = 'sigs.k8s.io/gateway-api@v1.4.1';
const CERT_MANAGER = 'github.com/cert-manager/cert-manager@v1.19.2';
const prometheusFile = (plural: string): string =>
  `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`;
/** Where custom resources are defined. */
const DEFINITIONS: readonly (readonly [module: string, file: string])[] = [
  [PROMETHEUS_OPERATOR, prometheusFile('podmonitors')],
  [PROMETHEUS_OPERATOR, prometheusFile('servicemonitors')],
  [PROMETHEUS_OPERATOR, prometheusFile('prometheusrules')],
  [GATEWAY_API, 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  [CERT_MANAGER, 'deploy/crds/cert-manager.io_certificates.yaml'],
  [CERT_MANAGER, 'deploy/crds/cert-manager.io_issuers.yaml'],
];
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
const nodesOf = (value: unknown): [string, Node][] =>
  Object.entries(isNode(value) ? value : {}).filter((entry): entry is [string, Node] => isNode(entry[1]));

/** Bounds of a value; a word among them that is also the name of a field is only met below `properties`. */
const KEPT = [
  'type',
  'enum',
  'required',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  '$ref',
];

/** Go and JavaScript differ in some; one that is not understood here bounds nothing. */
function isPattern(pattern: unknown): boolean {
  try {
    new RegExp(String(pattern), 'u');
    return true;
  } catch {
    return false;
  }
}

/** A schema of OpenAPI as a strict one: a field that it does not name is refused. */
function toStrict(schema: Node): Node {
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') {
    return { type: ['string', 'integer'] };
  }
  const strict: Node = Object.fromEntries(KEPT.filter((key) => key in schema).map((key) => [key, schema[key]]));
  if ('pattern' in strict && !isPattern(strict.pattern)) delete strict.pattern;
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    if (Array.isArray(schema[key])) strict[key] = schema[key].filter(isNode).map(toLoose);
  }
  if (isNode(schema.items)) strict.items = toStrict(schema.items);
  if (isNode(schema.additionalProperties)) strict.additionalProperties = toStrict(schema.additionalProperties);
  if (isNode(schema.properties)) {
    strict.properties = Object.fromEntries(nodesOf(schema.properties).map(([name, each]) => [name, toStrict(each)]));
    const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
    if (!isOpen && strict.additionalProperties === undefined) strict.additionalProperties = false;
  }
  return strict;
}

/** A part of a schema that says only something about fields that are described elsewhere. */
function toLoose(schema: Node): Node {
  const { additionalProperties: _, ...rest } = toStrict(schema);
  return rest;
}

/** The folder of a module, fetched where it is not there. */
function moduleFolder(module: string): string {
  const text = execFileSync('go', ['mod', 'download', '-json', module], { cwd: tmpdir(), encoding: 'utf8' });
  const { Dir: folder }: { Dir: string } = JSON.parse(text);
  return folder;
}

/** An object of that kind; `name` leads to its schema. */
const ofKind = (name: string, apiVersion: string, kind: string): Node => ({
  required: ['apiVersion', 'kind', 'metadata'],
  properties: { apiVersion: { const: apiVersion }, kind: { const: kind } },
  $ref: `#/$defs/${name}`,
});

const definitions: Node = {};
const kinds: Node = {};

const swagger: unknown = JSON.parse(
  readFileSync(join(moduleFolder(KUBERNETES), 'api', 'openapi-spec', 'swagger.json'), 'utf8'),
);
const sources = new Map(isNode(swagger) ? nodesOf(swagger.definitions) : []);

/** Takes a definition over, with all that it refers to. */
function take(name: string): void {
  const source = sources.get(name);
  if (name in definitions || source === undefined) return;
  definitions[name] = name === QUANTITY ? { type: ['string', 'number'] } : toStrict(source);
  for (const [, reference = ''] of JSON.stringify(source).matchAll(/"#\/definitions\/([^"]+)"/g)) take(reference);
}

for (const [name, source] of sources) {
  const groups: unknown = source['x-kubernetes-group-version-kind'];
  if (!Array.isArray(groups) || groups.length !== 1) continue;
  const { group, version, kind }: { group: string; version: string; kind: string } = groups[0];
  const apiVersion = group === '' ? version : `${group}/${version}`;
  if (!KINDS.has(`${apiVersion}/${kind}`)) continue;
  take(name);
  kinds[`${apiVersion}/${kind}`] = ofKind(name, apiVersion, kind);
}

for (const [module, file] of DEFINITIONS) {
  const { spec } = parse(readFileSync(join(moduleFolder(module), file), 'utf8'));
  const version = spec.versions.find((each: { storage: boolean }) => each.storage);
  const name = `${spec.group}.${version.name}.${spec.names.kind}`;
  const { properties, ...schema }: Node = version.schema.openAPIV3Schema;
  const strict = toStrict({ ...schema, properties: { ...(isNode(properties) ? properties : {}), metadata: {} } });
  if (isNode(strict.properties)) strict.properties.metadata = { $ref: `#/definitions/${OBJECT_META}` };
  definitions[name] = strict;
  kinds[`${spec.group}/${version.name}/${spec.names.kind}`] = ofKind(
    name,
    `${spec.group}/${version.name}`,
    spec.names.kind,
  );
}

const text = JSON.stringify({ kinds, $defs: definitions }).replaceAll('#/definitions/', '#/$defs/');
writeFileSync(join(import.meta.dirname, 'schemas.json.gz'), gzipSync(text, { level: 9 }));
process.stdout.write(
  `${Object.keys(kinds).length} kinds, ${Object.keys(definitions).length} definitions, ${text.length} bytes\n`,
);
