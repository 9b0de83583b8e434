// The order of the rooms of src/ and of the packages beside it, and every way to break it that an import can show.

import { posix } from 'node:path';
import { codeText } from './code-text.ts';

/** From the top to the bottom: a room imports only from those after it. */
const LAYERS: readonly string[] = [
  'main',
  'roles',
  'sync',
  'convert',
  'cli',
  'console',
  'config',
  'operator',
  'http',
  'front',
  'rpc',
  'shard',
  'store',
  'discovery',
  'telemetry',
  'rules',
  'core',
];
const COMMON_LAYERS = new Set(['core', 'rules', 'telemetry']);

/**
 * A room of `packages/` stands beside the service: it uses only these rooms, and of the others types. The pages of the
 * console are made of what the server below them is made of.
 */
const PACKAGES = new Map<string, readonly string[]>([
  ['sync', ['core', 'rules', 'config', 'cli']],
  ['convert', ['core', 'rules', 'cli']],
  ['cli', ['core', 'rules', 'config']],
  ['console', ['core', 'rules', 'http', 'operator']],
]);
/** Entry points of a package: each starts what it wants, as `src/main.ts` does. */
const ENTRIES = new Set(['packages/cli/src/start.ts', 'packages/cli/src/main.ts']);

/** What a neighbour may see of a room above it, as a type. */
const PORTS = new Set([
  'src/store/store.ts',
  'src/shard/shard.ts',
  'src/front/front.ts',
  'src/front/changes.ts',
  'src/front/limits/rate-limiter.ts',
  'src/discovery/discovery.ts',
]);

/**
 * What sees a shard through its port: a row of its store is nothing to it, so that a new column changes no interface.
 */
const ABOVE_THE_SHARD = new Set(['cli', 'console', 'http', 'operator', 'front', 'rpc']);
const SHARD_PORT = 'src/shard/shard.ts';

/** Rooms whose folders or files are adapters of one port, which these files make: none knows another. */
const ADAPTER_LAYERS = new Map<string, readonly string[]>([
  ['store', ['src/store/store.ts', 'src/store/store-adapter.ts', 'src/store/stored-rows.ts']],
  ['discovery', ['src/discovery/discovery.ts']],
]);

/** Parts that are put together: only a role chooses them. */
const WIRED = new Set([
  'src/http/server.ts',
  'src/operator/server.ts',
  'packages/console/src/page-table.ts',
  'src/rpc/serving/server.ts',
  'src/rpc/links/owner-links.ts',
  'src/shard/shard-node.ts',
  'src/shard/reader-shard.ts',
  'src/front/create-front.ts',
  'src/front/limits/memory-counts.ts',
  'src/front/limits/memory-rate-limiter.ts',
  'src/front/limits/shared-rate-limiter.ts',
  'src/front/limits/redis-connection.ts',
  'src/front/limits/redis-windows.ts',
  'src/front/limits/failure-limiter.ts',
]);

/** Each library has its rooms; elsewhere its port is used, or a type of it. */
const LIBRARIES = new Map<string, readonly string[]>([
  ['@grpc/grpc-js', ['rpc', 'roles']],
  ['@grpc/proto-loader', ['rpc']],
  ['@kubernetes/client-node', ['discovery', 'cli']],
  ['@modelcontextprotocol/server', ['cli']],
  ['@grantd/convert', ['cli']],
  ['@grantd/sync', ['cli']],
  ['@opentelemetry/api', ['telemetry']],
  ['@peculiar/x509', ['cli']],
  ['@opentelemetry/exporter-trace-otlp-proto', ['telemetry']],
  ['@opentelemetry/sdk-trace-base', ['telemetry']],
  ['cli-table3', ['cli']],
  ['commander', ['roles', 'cli']],
  ['d3-scale', ['console']],
  ['d3-shape', ['console']],
  ['express', ['http', 'operator', 'console']],
  ['htm', ['http']],
  ['pg', ['sync']],
  ['pino', ['telemetry']],
  ['pino-pretty', ['telemetry']],
  ['preact', ['http']],
  ['preact-render-to-string', ['http']],
  ['prom-client', ['telemetry', 'sync']],
  ['proxy-addr', ['http']],
  ['ioredis', ['front']],
  ['rate-limiter-flexible', ['front']],
  ['reflect-metadata', ['cli']],
  ['re2js', ['rules']],
  ['yaml', ['cli']],
  ['jose', ['operator']],
  ['openid-client', ['operator']],
  ['zod', ['http', 'operator', 'console', 'cli', 'shard', 'rules']],
  ['node:sqlite', ['store', 'sync']],
  ['cassandra-driver', ['store']],
]);

/**
 * The order within a room that has rooms of its own: what stands in a line imports only from the lines below it. `*` is
 * whatever the list does not name, and stands at the bottom where the list does not place it.
 */
const INNER_LAYERS = new Map<string, readonly string[]>([
  [
    'src/roles',
    [
      'program.ts',
      'testing-command.ts',
      'service-commands.ts',
      'command-line.ts',
      'service-choice.ts',
      'embedded.ts',
      'testing.ts',
      'dev.ts',
      'dev-thread.ts',
      'front.ts',
      'shard.ts',
      'console.ts',
      'migrate.ts',
      'watch.ts',
      'open',
      'dev',
      'process',
    ],
  ],
  [
    'packages/cli/src',
    [
      'commands.ts',
      'commands',
      'mcp',
      'model',
      'types',
      'checks',
      'apply',
      'rules-file.ts',
      'import',
      'secrets',
      'deletion-wait.ts',
      'grant-revocation.ts',
      'rules-replacement.ts',
      'audit-log-stream.ts',
      'retries.ts',
      'command-parts.ts',
      'context-options.ts',
      'converter.ts',
      'progress.ts',
      'cli-context.ts',
      'connections.ts',
      'embedded-tenant.ts',
      'tenant-rules.ts',
      'yaml-file.ts',
      'context-file.ts',
      'service-choice.ts',
      'service-client.ts',
      'output',
    ],
  ],
  [
    'src/http',
    [
      'server.ts',
      'app.ts',
      'pages',
      'pipeline',
      'openapi',
      'operation-table.ts',
      'operations',
      'streams',
      'schema',
      'wire',
    ],
  ],
  ['src/operator', ['server.ts', 'api']],
  ['src/operator/api', ['app.ts', 'operator-door.ts', 'operation-table.ts', 'operator-openapi.ts', 'operations']],
  ['packages/console/src', ['page-table.ts', 'router.ts', 'pages', 'log-in-code.ts', 'parts']],
  ['src/front', ['create-front.ts', 'operator', 'requests', 'feeds', 'links', 'limits']],
  ['src/rpc', ['serving', 'links', 'calls', 'transport', 'protocol.ts', 'codec']],
  ['src/rpc/calls', ['table.ts', '*', 'define-call.ts', 'fields.ts', 'schema.ts']],
  [
    'src/shard',
    [
      'shard-node.ts',
      'reader-shard.ts',
      'observers.ts',
      'peers',
      'readers',
      'evaluation',
      'ownership',
      'log',
      'memory',
    ],
  ],
  ['src/store/cassandra', ['cassandra-store.ts', 'schema', 'tables', 'driver']],
  ['src/store/sqlite', ['sqlite-store.ts', 'worker-client.ts', 'worker']],
  ['src/core', ['*', 'structures', 'async']],
]);

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** Static, dynamic and re-exporting imports of a file. */
export function importsOf(text: string): Import[] {
  const code = codeText(text, { strings: 'kept' });
  const statements = code.matchAll(
    /^\s*(?:import|export)\s+(?<clause>(?:type\s)?[^'";]*?)from\s*['"](?<specifier>[^'"]+)['"]/gm,
  );
  const bare = code.matchAll(/^\s*import\s*['"](?<specifier>[^'"]+)['"]/gm);
  const dynamic = code.matchAll(/\b(?:import|require)\s*\(\s*['"](?<specifier>[^'"]+)['"]/g);
  return [...statements, ...bare, ...dynamic].map(({ groups }) => ({
    specifier: groups?.specifier ?? '',
    typeOnly: /^type\s/.test(groups?.clause ?? ''),
  }));
}

const layerOf = (path: string): string =>
  ENTRIES.has(path) ? 'main' : (path.split('/')[1]?.replace(/\.ts$/, '') ?? '');
const packageOf = (specifier: string): string =>
  specifier.startsWith('node:') ? specifier : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

function externalViolation(path: string, specifier: string, typeOnly: boolean): string | undefined {
  const room = layerOf(path);
  const rooms = LIBRARIES.get(packageOf(specifier));
  if (rooms !== undefined && !rooms.includes(room) && !typeOnly)
    return `${path} imports ${specifier}, which belongs to ${rooms.join(', ')}`;
  if (room === 'core' && !specifier.startsWith('node:')) return `${path} imports ${specifier}; core imports nothing`;
  return undefined;
}

/** Which adapter of its room a file belongs to: its folder, or itself. */
const adapterOf = (path: string): string => path.split('/')[2] ?? '';

/** What a path is called in the list of the room `inner`: its folder there, or its file. */
const nameIn = (inner: string, path: string): string => path.slice(inner.length + 1).split('/', 1)[0] ?? '';

function innerViolation(path: string, target: string): string | undefined {
  for (const [inner, order] of INNER_LAYERS) {
    if (!path.startsWith(`${inner}/`) || !target.startsWith(`${inner}/`)) continue;
    const [from, to] = [nameIn(inner, path), nameIn(inner, target)];
    if (from === to) continue;
    const rest = order.includes('*') ? order.indexOf('*') : order.length;
    const floorOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : rest);
    if (floorOf(to) < floorOf(from)) return `${path} imports ${target}, against the order within ${inner}`;
  }
  return undefined;
}

function internalViolation(path: string, target: string, typeOnly: boolean): string | undefined {
  const [from, to] = [layerOf(path), layerOf(target)];
  const [fromLevel, toLevel] = [LAYERS.indexOf(from), LAYERS.indexOf(to)];
  if (fromLevel < 0) return `${path} is in no room`;
  if (toLevel < 0)
    return target.endsWith('package.json') ? undefined : `${path} imports ${target}, which is in no room`;
  if (to === 'store' && (ABOVE_THE_SHARD.has(from) || path === SHARD_PORT)) {
    return `${path} imports ${target}; rows of the store stay within the shard`;
  }
  const port = ADAPTER_LAYERS.get(to);
  const isAdapter = port !== undefined && !port.includes(target);
  if (from === to) {
    const sibling = isAdapter && !port.includes(path) && adapterOf(path) !== adapterOf(target);
    return sibling ? `${path} imports its sibling ${target}` : innerViolation(path, target);
  }
  if (!typeOnly && PACKAGES.get(from)?.includes(to) === false) {
    return `${path} imports ${target}; a package sees no more of the service than its types`;
  }
  const allowedUp = typeOnly && PORTS.has(target);
  if (toLevel < fromLevel && !allowedUp) return `${path} imports ${target}, against the order of the rooms`;
  if (from === 'core') return `${path} imports ${target}; core imports nothing`;
  if (!typeOnly && !COMMON_LAYERS.has(to) && from !== 'roles' && (WIRED.has(target) || isAdapter)) {
    return `${path} puts ${target} together; only src/roles does`;
  }
  return undefined;
}

const READS_PROCESS =
  /\bprocess\s*\??\.\s*(env|argv)\b|\bprocess\s*\[|\{[^{}]*\b(env|argv)\b[^{}]*\}\s*=\s*process\b|\bimport\s*\{[^}]*\b(env|argv)\b[^}]*\}\s*from\s*['"](node:)?process['"]/;

/** One line per import or read that breaks a rule. `files`: path to text, all below `src/` or a package's `src/`. */
export function findLayerViolations(files: ReadonlyMap<string, string>): string[] {
  const violations: string[] = [];
  for (const [path, text] of files) {
    for (const { specifier, typeOnly } of importsOf(text)) {
      const violation = specifier.startsWith('.')
        ? internalViolation(path, posix.join(posix.dirname(path), specifier), typeOnly)
        : externalViolation(path, specifier, typeOnly);
      if (violation !== undefined) violations.push(violation);
    }
    if (layerOf(path) !== 'main' && READS_PROCESS.test(codeText(text, { strings: 'kept' }))) {
      violations.push(`${path} reads the environment or the arguments; only src/main.ts does`);
    }
  }
  return violations;
}

/**
 * Files that import one another in a circle, types included: each circle as its paths in order, none twice.
 * `files`: path to text.
 */
export function findCircles(files: ReadonlyMap<string, string>): string[][] {
  const targetsOf = (path: string): string[] =>
    importsOf(files.get(path) ?? '')
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => posix.join(posix.dirname(path), specifier))
      .filter((target) => files.has(target));
  const circles: string[][] = [];
  const done = new Set<string>();
  const walk = (path: string, auditLog: readonly string[]): void => {
    if (auditLog.includes(path)) circles.push(auditLog.slice(auditLog.indexOf(path)));
    if (auditLog.includes(path) || done.has(path)) return;
    for (const target of targetsOf(path)) walk(target, [...auditLog, path]);
    done.add(path);
  };
  for (const path of files.keys()) walk(path, []);
  return circles;
}
