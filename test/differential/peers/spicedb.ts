// SpiceDB in memory, with its limits as they are by default. It has one schema, so a new world replaces the schema and
// all relationships. All reads are fully consistent.
//
// What it is not asked: about the subject `*`, which it refuses; and about groups of public namespaces. To SpiceDB, a
// grant to `user:*` is also one to the group `user:1#friend`, whatever its members. To the others, it is not.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackgroundProcess } from '../../../bench/server/background-process.ts';
import { freePorts } from '../../../tools/engines/free-port.ts';
import type { Answer, Change, Limited, Question } from '../question.ts';
import { NAMESPACES, namespaceOf, type World } from '../universe.ts';
import { demandJson, type JsonAnswer, NoAnswer, type Peer, partsOf, post } from './peer.ts';
import { spicedbRelation, spicedbSchema } from './spicedb-schema.ts';

const START_SECONDS_MAX = 120;
const KEY = 'the-key-of-the-differential-test';
const CONSISTENCY = { consistency: { fullyConsistent: true } };
/** Of address space: lists over cycles of grants could otherwise take all memory of the machine. */
const MEMORY_BYTES_MAX = 4 * 1024 ** 3;
/** It goes round in cycles of grants until it reaches its limit of depth: if there are several, that takes forever. */
const ASK_MS_MAX = 10_000;
export const TOO_LATE: Limited = { limit: 'no answer in 10 s' };
const SETTINGS: readonly string[] = [
  '--skip-release-check',
  '--telemetry-endpoint=',
  '--log-level=error',
  '--metrics-enabled=false',
  '--datastore-engine=memory',
  '--dispatch-cluster-enabled=false',
  '--grpc-max-conn-age=24h',
  '--streaming-api-response-delay-timeout=100s',
];

const entityOf = (text: string) => ({ objectType: namespaceOf(text), objectId: text.slice(text.indexOf(':') + 1) });

function subjectOf(text: string): object {
  const [entity = '', optionalRelation = ''] = text.split('#');
  return { object: entityOf(entity), optionalRelation };
}

/** A line of a streamed answer. */
export interface Line<Found> {
  readonly result?: Found;
  readonly error?: { readonly message?: string };
}

export const isDepthError = (text: string): boolean => /maximum depth|max depth/i.test(text);

/** An empty SpiceDB. */
export interface SpicedbServer {
  readonly url: string;
  readonly parts: AsyncDisposableStack;
}

export async function startSpicedb(program: string): Promise<SpicedbServer> {
  await using parts = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'grantd-spicedb-'));
  parts.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [http = '', grpc = ''] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  const addresses = ['--grpc-addr', grpc, '--http-enabled', '--http-addr', http, '--grpc-preshared-key', KEY];
  const server = new BackgroundProcess({
    name: 'spicedb',
    command: ['prlimit', `--as=${MEMORY_BYTES_MAX}`, program, 'serve', ...addresses, ...SETTINGS],
    logFile: join(directory, 'spicedb.log'),
  });
  parts.defer(() => server.stop());
  const url = `http://${http}`;
  const writesSchema = (): Promise<boolean> =>
    callSpicedb(url, 'schema/write', { schema: 'definition user {}' }).then(
      ({ status }) => status === 200,
      () => false,
    );
  await server.waitUntil(writesSchema, START_SECONDS_MAX);
  return { url, parts: parts.move() };
}

export const callSpicedb = (url: string, path: string, body: object): Promise<JsonAnswer> =>
  post(`${url}/v1/${path}`, body, { key: KEY });

/** A question. Undefined: there was no answer in time. */
export async function askSpicedb(url: string, path: string, body: object): Promise<JsonAnswer | undefined> {
  try {
    return await post(`${url}/v1/permissions/${path}`, { ...CONSISTENCY, ...body }, { key: KEY, boundMs: ASK_MS_MAX });
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

export class SpicedbPeer implements Peer {
  readonly name = 'spicedb';
  readonly standsTangles = false;
  readonly #url: string;
  readonly #parts: AsyncDisposableStack;
  #world: World | undefined;

  static async start(program: string): Promise<SpicedbPeer> {
    return new SpicedbPeer(await startSpicedb(program));
  }

  private constructor({ url, parts }: SpicedbServer) {
    this.#url = url;
    this.#parts = parts;
  }

  #call(path: string, body: object): Promise<JsonAnswer> {
    return callSpicedb(this.#url, path, body);
  }

  #ask(path: string, body: object): Promise<JsonAnswer | undefined> {
    return askSpicedb(this.#url, path, body);
  }

  async begin(world: World): Promise<void> {
    if (this.#world !== undefined) {
      for (const namespace of NAMESPACES) {
        const filter = { relationshipFilter: { resourceType: namespace } };
        demandJson('spicedb, a deletion', await this.#call('relationships/delete', filter));
      }
    }
    const schema = spicedbSchema(world);
    const written = await this.#call('schema/write', { schema });
    if (written.status !== 200) throw new Error(`spicedb refuses a schema: ${written.text}\n${schema}`);
    this.#world = world;
  }

  async write(changes: readonly Change[]): Promise<void> {
    const { world } = this;
    for (const part of partsOf(changes)) {
      const updates = part.map(({ subject, relation, object, revoke }) => ({
        operation: revoke ? 'OPERATION_DELETE' : 'OPERATION_CREATE',
        relationship: {
          resource: entityOf(object),
          relation: spicedbRelation(world, subject, relation, namespaceOf(object)),
          subject: subjectOf(subject),
        },
      }));
      demandJson('spicedb, a write', await this.#call('relationships/write', { updates }));
    }
  }

  private get world(): World {
    if (this.#world === undefined) throw new Error('There is no world yet.');
    return this.#world;
  }

  #canBeAsked(question: Question): boolean {
    const isPublic = (namespace: string) => this.world.ruleSet.public.includes(namespace);
    if (question.kind === 'subjects') return question.name === undefined || !isPublic(question.namespace);
    const { subject } = question;
    return !subject.endsWith(':*') && !(subject.includes('#') && isPublic(namespaceOf(subject)));
  }

  async answer(question: Question): Promise<Answer | undefined> {
    const { relation: permission } = question;
    if (!this.#canBeAsked(question)) return undefined;
    switch (question.kind) {
      case 'check': {
        const body = { resource: entityOf(question.object), permission, subject: subjectOf(question.subject) };
        const answer = await this.#ask('check', body);
        if (answer === undefined) return TOO_LATE;
        if (isDepthError(answer.text)) return { limit: 'depth' };
        const found: { readonly permissionship: string } = demandJson('spicedb, a check', answer);
        return { items: [String(found.permissionship === 'PERMISSIONSHIP_HAS_PERMISSION')] };
      }
      case 'objects': {
        const { namespace, subject } = question;
        const body = { resourceObjectType: namespace, permission, subject: subjectOf(subject) };
        const answer = await this.#ask('resources', body);
        return this.#read(
          answer,
          (found: { readonly resourceObjectId: string }) => `${namespace}:${found.resourceObjectId}`,
        );
      }
      case 'subjects': {
        const { object, namespace, name } = question;
        const body = {
          resource: entityOf(object),
          permission,
          subjectObjectType: namespace,
          ...(name === undefined ? {} : { optionalSubjectRelation: name }),
        };
        const answer = await this.#ask('subjects', body);
        const ending = name === undefined ? '' : `#${name}`;
        return this.#read(
          answer,
          (found: { readonly subject: { readonly subjectObjectId: string } }) =>
            `${namespace}:${found.subject.subjectObjectId}${ending}`,
        );
      }
    }
  }

  #read<Found>(answer: JsonAnswer | undefined, itemOf: (found: Found) => string): Answer {
    if (answer === undefined) return TOO_LATE;
    const { status, text } = answer;
    if (isDepthError(text)) return { limit: 'depth' };
    if (status !== 200) throw new Error(`spicedb, a list: ${status} ${text}`);
    const lines = text.split('\n').filter((line) => line !== '');
    const items = lines.map((line) => {
      const { result }: Line<Found> = JSON.parse(line);
      if (result === undefined) throw new Error(`spicedb, a list: ${line}`);
      return itemOf(result);
    });
    return { items };
  }

  stop(): Promise<void> {
    return this.#parts.disposeAsync();
  }
}
