// OpenFGA in memory, with its limits as they are by default, apart from its time limits: it returns what it has found
// of a list when the time is over, which on a busy machine would look like a difference. Each world is a store of its
// own. All reads bypass its caches.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { answersOk, BackgroundProcess } from '../../../bench/server/background-process.ts';
import { freePorts } from '../../../tools/engines/free-port.ts';
import type { Answer, Change, Question } from '../question.ts';
import { namespaceOf, type World } from '../universe.ts';
import { openfgaModel, storedAs } from './openfga-model.ts';
import { demandJson, type JsonAnswer, type Peer, partsOf, post } from './peer.ts';

const START_SECONDS_MAX = 120;
/** Its defaults of listObjects-max-results and listUsers-max-results: lists end there without a word. */
export const RESULTS_MAX = 1000;
export const CONSISTENCY = { consistency: 'HIGHER_CONSISTENCY' };
const SETTINGS: readonly string[] = [
  '--playground-enabled=false',
  '--log-level=none',
  '--metrics-enabled=false',
  '--listObjects-deadline=100s',
  '--listUsers-deadline=100s',
  '--request-timeout=110s',
];

interface User {
  readonly object?: { readonly type: string; readonly id: string };
  readonly userset?: { readonly type: string; readonly id: string; readonly relation: string };
  readonly wildcard?: { readonly type: string };
}

function textOf({ object, userset, wildcard }: User): string {
  if (object !== undefined) return `${object.type}:${object.id}`;
  if (userset !== undefined) return `${userset.type}:${userset.id}#${userset.relation}`;
  return `${wildcard?.type}:*`;
}

/** An empty OpenFGA. */
export interface OpenfgaServer {
  readonly url: string;
  readonly parts: AsyncDisposableStack;
}

export async function startOpenfga(program: string): Promise<OpenfgaServer> {
  await using parts = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'grantd-openfga-'));
  parts.defer(() => rmSync(directory, { recursive: true, force: true }));
  const [http = '', grpc = ''] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
  const server = new BackgroundProcess({
    name: 'openfga',
    command: [program, 'run', '--http-addr', http, '--grpc-addr', grpc, '--datastore-engine=memory', ...SETTINGS],
    logFile: join(directory, 'openfga.log'),
  });
  parts.defer(() => server.stop());
  await server.waitUntil(() => answersOk(`http://${http}/healthz`), START_SECONDS_MAX);
  return { url: `http://${http}`, parts: parts.move() };
}

export class OpenfgaPeer implements Peer {
  readonly name = 'openfga';
  readonly standsTangles = true;
  readonly #url: string;
  readonly #parts: AsyncDisposableStack;
  #world: World | undefined;
  #store = '';
  #model = '';

  static async start(program: string): Promise<OpenfgaPeer> {
    return new OpenfgaPeer(await startOpenfga(program));
  }

  private constructor({ url, parts }: OpenfgaServer) {
    this.#url = url;
    this.#parts = parts;
  }

  async begin(world: World): Promise<void> {
    // The store of the world before, so that memory does not grow with the run.
    if (this.#store !== '') await post(`${this.#url}/stores/${this.#store}`, undefined, { method: 'DELETE' });
    const store = await post(`${this.#url}/stores`, { name: 'differential' });
    this.#store = demandJson<{ readonly id: string }>('openfga, a store', store).id;
    const model = openfgaModel(world);
    const written = await this.#call('authorization-models', model);
    if (written.status !== 201) throw new Error(`openfga refuses a model: ${written.text}\n${JSON.stringify(model)}`);
    this.#model = demandJson<{ readonly authorization_model_id: string }>(
      'openfga, a model',
      written,
    ).authorization_model_id;
    this.#world = world;
  }

  #call(path: string, body: object): Promise<JsonAnswer> {
    return post(`${this.#url}/stores/${this.#store}/${path}`, body);
  }

  async write(changes: readonly Change[]): Promise<void> {
    const { world } = this;
    const tuples = (some: readonly Change[]) => ({
      tuple_keys: some.map(({ subject, relation, object }) => ({
        user: subject,
        relation: storedAs(world, subject, relation, namespaceOf(object)),
        object,
      })),
    });
    for (const part of partsOf(changes)) {
      const granted = part.filter(({ revoke }) => !revoke);
      const revoked = part.filter(({ revoke }) => revoke);
      const body = {
        authorization_model_id: this.#model,
        ...(granted.length === 0 ? {} : { writes: tuples(granted) }),
        ...(revoked.length === 0 ? {} : { deletes: tuples(revoked) }),
      };
      demandJson('openfga, a write', await this.#call('write', body));
    }
  }

  private get world(): World {
    if (this.#world === undefined) throw new Error('There is no world yet.');
    return this.#world;
  }

  async answer(question: Question): Promise<Answer> {
    const common = { authorization_model_id: this.#model, ...CONSISTENCY };
    const { relation } = question;
    switch (question.kind) {
      case 'check': {
        const { subject, object } = question;
        const answer = await this.#call('check', { ...common, tuple_key: { user: subject, relation, object } });
        return this.#read(answer, ({ allowed }: { readonly allowed?: boolean }) => [String(allowed === true)]);
      }
      case 'objects': {
        const { subject, namespace } = question;
        const answer = await this.#call('list-objects', { ...common, type: namespace, relation, user: subject });
        return this.#read(answer, ({ objects }: { readonly objects: readonly string[] }) => objects);
      }
      case 'subjects': {
        const { object, namespace, name } = question;
        const answer = await this.#call('list-users', {
          ...common,
          object: { type: namespaceOf(object), id: object.slice(object.indexOf(':') + 1) },
          relation,
          user_filters: [{ type: namespace, ...(name === undefined ? {} : { relation: name }) }],
        });
        // Asked for `folder:…#viewer`, it also lists the folders themselves that are granted the relation.
        const isWanted = ({ userset }: User): boolean => userset?.relation === name;
        return this.#read(answer, ({ users }: { readonly users: readonly User[] }) =>
          users.filter(isWanted).map(textOf),
        );
      }
    }
  }

  #read<Found>(answer: JsonAnswer, itemsOf: (found: Found) => readonly string[]): Answer {
    if (answer.text.includes('authorization_model_resolution_too_complex')) return { limit: 'depth' };
    const items = itemsOf(demandJson<Found>('openfga, a question', answer));
    return items.length >= RESULTS_MAX ? { limit: `${RESULTS_MAX} results` } : { items };
  }

  stop(): Promise<void> {
    return this.#parts.disposeAsync();
  }
}
