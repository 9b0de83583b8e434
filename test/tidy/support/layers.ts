// The order of the rooms of src/, and every way to break it that an import can show.

import { posix } from 'node:path';
import { codeText } from './code-text.ts';

/** From the top to the bottom: a room imports only from those after it. */
const ROOMS: readonly string[] = [
  'main',
  'roles',
  'cli',
  'config',
  'http',
  'console',
  'front',
  'rpc',
  'shard',
  'store',
  'discovery',
  'telemetry',
  'core',
];
const COMMON_ROOMS = new Set(['core', 'telemetry']);

/** What a neighbour may see of a room above it, as a type. */
const PORTS = new Set([
  'src/store/store.ts',
  'src/shard/shard.ts',
  'src/front/front.ts',
  'src/front/limits/rate-limiter.ts',
  'src/discovery/discovery.ts',
]);

/** Rooms whose folders or files are adapters of one port: none knows another. */
const ADAPTER_ROOMS = new Map([
  ['store', 'src/store/store.ts'],
  ['discovery', 'src/discovery/discovery.ts'],
]);

/** Parts that are put together: only a role chooses them. */
const WIRED = new Set([
  'src/http/server.ts',
  'src/console/server.ts',
  'src/rpc/server.ts',
  'src/shard/node.ts',
  'src/front/create-front.ts',
  'src/front/limits/memory-rate-limiter.ts',
  'src/front/limits/shared-rate-limiter.ts',
  'src/front/limits/redis-connection.ts',
  'src/front/limits/redis-windows.ts',
  'src/front/limits/failure-limiter.ts',
]);

/** Each library has its rooms; elsewhere its port is used, or a type of it. */
const LIBRARIES = new Map<string, readonly string[]>([
  ['@bomb.sh/tab', ['cli']],
  ['@grpc/grpc-js', ['rpc', 'roles']],
  ['@grpc/proto-loader', ['rpc']],
  ['@kubernetes/client-node', ['discovery', 'cli']],
  ['@opentelemetry/api', ['telemetry']],
  ['@opentelemetry/exporter-trace-otlp-proto', ['telemetry']],
  ['@opentelemetry/sdk-trace-base', ['telemetry']],
  ['cli-progress', ['cli']],
  ['cli-table3', ['cli']],
  ['commander', ['main', 'cli']],
  ['d3-scale', ['console']],
  ['d3-shape', ['console']],
  ['express', ['http', 'console']],
  ['htm', ['console']],
  ['pino', ['telemetry']],
  ['pino-pretty', ['telemetry']],
  ['preact', ['console']],
  ['preact-render-to-string', ['console']],
  ['prom-client', ['telemetry']],
  ['proxy-addr', ['http', 'console']],
  ['ioredis', ['front']],
  ['rate-limiter-flexible', ['front']],
  ['zod', ['http', 'console', 'cli', 'shard']],
  ['node:sqlite', ['store']],
  ['cassandra-driver', ['store']],
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

const roomOf = (path: string): string => path.split('/')[1]?.replace(/\.ts$/, '') ?? '';
const packageOf = (specifier: string): string =>
  specifier.startsWith('node:') ? specifier : specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

function externalViolation(path: string, specifier: string, typeOnly: boolean): string | undefined {
  const room = roomOf(path);
  const rooms = LIBRARIES.get(packageOf(specifier));
  if (rooms !== undefined && !rooms.includes(room) && !typeOnly)
    return `${path} imports ${specifier}, which belongs to ${rooms.join(', ')}`;
  if (room === 'core' && !specifier.startsWith('node:')) return `${path} imports ${specifier}; core imports nothing`;
  return undefined;
}

/** Which adapter of its room a file belongs to: its folder, or itself. */
const adapterOf = (path: string): string => path.split('/')[2] ?? '';

function internalViolation(path: string, target: string, typeOnly: boolean): string | undefined {
  const [from, to] = [roomOf(path), roomOf(target)];
  const [fromLevel, toLevel] = [ROOMS.indexOf(from), ROOMS.indexOf(to)];
  if (fromLevel < 0) return `${path} is in no room`;
  if (toLevel < 0) return target === 'package.json' ? undefined : `${path} imports ${target}, which is in no room`;
  const port = ADAPTER_ROOMS.get(to);
  const isAdapter = port !== undefined && target !== port;
  if (from === to) {
    const sibling = isAdapter && path !== port && adapterOf(path) !== adapterOf(target);
    return sibling ? `${path} imports its sibling ${target}` : undefined;
  }
  const allowedUp = typeOnly && PORTS.has(target);
  if (toLevel < fromLevel && !allowedUp) return `${path} imports ${target}, against the order of the rooms`;
  if (from === 'core') return `${path} imports ${target}; core imports nothing`;
  if (!typeOnly && !COMMON_ROOMS.has(to) && from !== 'roles' && (WIRED.has(target) || isAdapter)) {
    return `${path} puts ${target} together; only src/roles does`;
  }
  return undefined;
}

const READS_PROCESS =
  /\bprocess\s*\??\.\s*(env|argv)\b|\bprocess\s*\[|\{[^{}]*\b(env|argv)\b[^{}]*\}\s*=\s*process\b|\bimport\s*\{[^}]*\b(env|argv)\b[^}]*\}\s*from\s*['"](node:)?process['"]/;

/** One line per import or read that breaks a rule. `files`: path to text, all below `src/`. */
export function findLayerViolations(files: ReadonlyMap<string, string>): string[] {
  const violations: string[] = [];
  for (const [path, text] of files) {
    for (const { specifier, typeOnly } of importsOf(text)) {
      const violation = specifier.startsWith('.')
        ? internalViolation(path, posix.join(posix.dirname(path), specifier), typeOnly)
        : externalViolation(path, specifier, typeOnly);
      if (violation !== undefined) violations.push(violation);
    }
    if (path !== 'src/main.ts' && READS_PROCESS.test(codeText(text, { strings: 'kept' }))) {
      violations.push(`${path} reads the environment or the arguments; only src/main.ts does`);
    }
  }
  return violations;
}
