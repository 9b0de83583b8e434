// grantd, OpenFGA and SpiceDB with a model, its tuples and questions about them, each over its HTTP interface.

import { installTool } from '../../../bench/compare/tools.ts';
import type { JsonObject } from '../../../src/core/json-members.ts';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';
import { callWithRetries } from '../grantd.ts';
import type { Limited } from '../question.ts';
import { demandJson, type JsonAnswer, partsOf, post } from '../system.ts';
import { ConvertedModel, type Facts } from './converted-model.ts';
import { type Dialect, entityOf, idOf, type Model, type ModelQuestion, type Tuple, typeOf } from './model.ts';
import { openfgaJson } from './openfga-model.ts';
import {
  askSpicedb,
  callSpicedb,
  isDepthError,
  type Line,
  type PeerServer,
  startOpenfga,
  startSpicedb,
  TOO_LATE,
} from './servers.ts';
import { spicedbText } from './spicedb-model.ts';

export type ModelAnswer = Facts | Limited;

export interface ModelSystem {
  readonly name: string;
  /** A new world without tuples. Resolves to why the system refuses the model. */
  begin(model: Model): Promise<string | undefined>;
  write(granted: readonly Tuple[], revoked: readonly Tuple[]): Promise<void>;
  /** Undefined: the system has no such question. */
  answer(question: ModelQuestion): Promise<ModelAnswer | undefined>;
  stop(): Promise<void>;
}

/** Refusals of the peers, by what stands in the answer. */
export const REFUSALS = { depth: 'depth', parameters: 'missing parameters', time: TOO_LATE.limit } as const;
const UNDEFINED: Facts = { items: ['undefined'] };
/** Small, so that most lists take several pages. */
const PAGE_LIMITS = [1, 3, 1000];
const PAGES_MAX = 1000;

interface Page {
  readonly objects?: readonly string[];
  readonly subjects?: readonly string[];
  readonly excluded?: readonly string[];
  readonly next_cursor: string | null;
}

export class GrantdModels implements ModelSystem {
  readonly name = 'grantd';
  readonly #service: HttpService;
  #key = '';
  #models = 0;
  #lists = 0;
  #converted: ConvertedModel | undefined;

  static async start(): Promise<GrantdModels> {
    return new GrantdModels(await startHttpService());
  }

  private constructor(service: HttpService) {
    this.#service = service;
  }

  get converted(): ConvertedModel {
    if (this.#converted === undefined) throw new Error('There is no model yet.');
    return this.#converted;
  }

  #call(path: string, body: unknown, method = 'POST'): Promise<JsonAnswer> {
    return callWithRetries(this.#service, this.#key, path, body, method);
  }

  async begin(model: Model): Promise<string | undefined> {
    this.#models += 1;
    this.#converted = new ConvertedModel(model, this.#models % 2 === 0);
    const { lost, rules } = this.#converted;
    if (lost.length > 0) throw new Error(`Not converted: ${lost.join('; ')}`);
    const { key } = await this.#service.createTenant();
    this.#key = key;
    demandJson('grantd, rules', await this.#call('/v1/rules', rules, 'PUT'));
    return undefined;
  }

  async write(granted: readonly Tuple[], revoked: readonly Tuple[]): Promise<void> {
    const revocations = (await this.converted.grantsOf(revoked)).map(({ condition: _, ...grant }) => grant);
    for (const part of partsOf(revocations))
      demandJson('grantd, revocations', await this.#call('/v1/grants/bulk', { revocations: part }));
    for (const part of partsOf(await this.converted.grantsOf(granted)))
      demandJson('grantd, grants', await this.#call('/v1/grants/bulk', { grants: part }));
  }

  async answer(question: ModelQuestion): Promise<ModelAnswer> {
    const { kind, context, contextTuples } = question;
    const grants = await this.converted.grantsOf(contextTuples);
    const call = { context, ...(grants.length === 0 ? {} : { context_grants: grants }) };
    const type = kind === 'objects' ? question.type : typeOf(question.object);
    const relation = this.converted.nameOf(type, question.relation);
    if (kind === 'check') {
      const { object } = question;
      const subject = this.converted.subjectOf(question.subject);
      const answer = await this.#call('/v1/check', { subject, relation, object, ...call });
      if (answer.status === 422) return this.#refusal(answer);
      return { items: [String(demandJson<{ readonly authorized: boolean }>('grantd, a check', answer).authorized)] };
    }
    if (kind === 'objects') {
      const subject = this.converted.subjectOf(question.subject);
      return this.#list('objects', { subject, relation, namespace: question.type, ...call });
    }
    const { object, type: namespace } = question;
    return this.#list('subjects', { object, relation, namespace, include: 'self', ...call });
  }

  #refusal({ text }: JsonAnswer): ModelAnswer {
    if (/context-incomplete|evaluation-cyclic/.test(text)) return UNDEFINED;
    throw new Error(`grantd refuses: ${text}`);
  }

  async #list(what: 'objects' | 'subjects', query: JsonObject): Promise<ModelAnswer> {
    const items: string[] = [];
    const excluded: string[] = [];
    this.#lists += 1;
    const limit = PAGE_LIMITS[this.#lists % PAGE_LIMITS.length] ?? 1;
    let cursor: string | null = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const body: JsonObject = { ...query, limit, ...(cursor === null ? {} : { cursor }) };
      const answer = await this.#call(`/v1/${what}`, body);
      if (answer.status === 422) return this.#refusal(answer);
      const found = demandJson<Page>(`grantd, ${what}`, answer);
      items.push(...(found[what] ?? []));
      excluded.push(...(found.excluded ?? []));
      cursor = found.next_cursor;
      if (cursor !== null) continue;
      const isAscending = items.every((item, index) => index === 0 || (items[index - 1] ?? '') < item);
      const single = items.filter((each) => !each.includes('#'));
      return { items: isAscending ? single : ['out of order:', ...single], excluded };
    }
    throw new Error(`A list of grantd has more than ${PAGES_MAX} pages.`);
  }

  stop(): Promise<void> {
    return this.#service.stop();
  }
}

export class OpenfgaModels implements ModelSystem {
  readonly name = 'openfga';
  readonly #url: string;
  readonly #parts: AsyncDisposableStack;
  #store = '';
  #model = '';

  constructor({ url, parts }: PeerServer) {
    this.#url = url;
    this.#parts = parts;
  }

  #call(path: string, body: object): Promise<JsonAnswer> {
    return post(`${this.#url}/stores/${this.#store}/${path}`, body);
  }

  async begin(model: Model): Promise<string | undefined> {
    if (this.#store !== '') await post(`${this.#url}/stores/${this.#store}`, undefined, { method: 'DELETE' });
    const store = await post(`${this.#url}/stores`, { name: 'differential' });
    this.#store = demandJson<{ readonly id: string }>('openfga, a store', store).id;
    const written = await this.#call('authorization-models', openfgaJson(model));
    if (written.status !== 201) return written.text;
    const { authorization_model_id } = demandJson<{ readonly authorization_model_id: string }>('a model', written);
    this.#model = authorization_model_id;
    return undefined;
  }

  async write(granted: readonly Tuple[], revoked: readonly Tuple[]): Promise<void> {
    const write = async (part: object): Promise<void> => {
      demandJson('openfga, a write', await this.#call('write', { authorization_model_id: this.#model, ...part }));
    };
    const keys = revoked.map(({ subject, relation, object }) => ({ user: subject, relation, object }));
    for (const part of partsOf(keys)) await write({ deletes: { tuple_keys: part } });
    for (const part of partsOf(granted.map(recordOf))) await write({ writes: { tuple_keys: part } });
  }

  async answer(question: ModelQuestion): Promise<ModelAnswer> {
    const { relation, context } = question;
    const tuples = question.contextTuples.map(recordOf);
    const common = { authorization_model_id: this.#model, consistency: 'HIGHER_CONSISTENCY', context };
    const contextual = tuples.length === 0 ? {} : { contextual_tuples: { tuple_keys: tuples } };
    switch (question.kind) {
      case 'check': {
        const { subject, object } = question;
        const body = { ...common, ...contextual, tuple_key: { user: subject, relation, object } };
        return this.#read(await this.#call('check', body), ({ allowed }: { readonly allowed?: boolean }) => [
          String(allowed === true),
        ]);
      }
      case 'objects': {
        const body = { ...common, ...contextual, type: question.type, relation, user: question.subject };
        const answer = await this.#call('list-objects', body);
        return this.#read(answer, ({ objects }: { readonly objects: readonly string[] }) => objects);
      }
      case 'subjects': {
        const body = {
          ...{ ...common, contextual_tuples: tuples, relation, user_filters: [{ type: question.type }] },
          object: { type: typeOf(question.object), id: idOf(question.object) },
        };
        return this.#read(await this.#call('list-users', body), ({ users }: { readonly users: readonly User[] }) =>
          users.map(({ object, wildcard }) =>
            object === undefined ? `${wildcard?.type}:*` : `${object.type}:${object.id}`,
          ),
        );
      }
    }
  }

  #read<Found>(answer: JsonAnswer, itemsOf: (found: Found) => readonly string[]): ModelAnswer {
    if (answer.text.includes('authorization_model_resolution_too_complex')) return { limit: REFUSALS.depth };
    // It refuses what hangs on any missing parameter.
    if (answer.status === 400 && /missing context|missing parameters|context parameter/i.test(answer.text))
      return { limit: REFUSALS.parameters };
    return { items: itemsOf(demandJson<Found>('openfga, a question', answer)) };
  }

  stop(): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

interface User {
  readonly object?: { readonly type: string; readonly id: string };
  readonly wildcard?: { readonly type: string };
}

const recordOf = ({ subject, ...rest }: Tuple) => ({ user: subject, ...rest });

const objectOf = (text: string) => ({ objectType: typeOf(text), objectId: idOf(text) });
const subjectOf = (text: string) => ({
  object: objectOf(entityOf(text)),
  optionalRelation: text.split('#')[1] ?? '',
});

const TRUTHS: Readonly<Record<string, string>> = {
  PERMISSIONSHIP_HAS_PERMISSION: 'true',
  PERMISSIONSHIP_NO_PERMISSION: 'false',
  PERMISSIONSHIP_CONDITIONAL_PERMISSION: 'undefined',
};
const LISTED = 'LOOKUP_PERMISSIONSHIP_HAS_PERMISSION';

interface ListEntry {
  readonly subjectObjectId: string;
  readonly permissionship: string;
}

export class SpicedbModels implements ModelSystem {
  readonly name = 'spicedb';
  readonly #url: string;
  readonly #parts: AsyncDisposableStack;
  #types: readonly string[] = [];

  constructor({ url, parts }: PeerServer) {
    this.#url = url;
    this.#parts = parts;
  }

  async begin(model: Model): Promise<string | undefined> {
    for (const resourceType of this.#types) {
      const body = { relationshipFilter: { resourceType } };
      demandJson('spicedb, a deletion', await callSpicedb(this.#url, 'relationships/delete', body));
    }
    const written = await callSpicedb(this.#url, 'schema/write', { schema: spicedbText(model) });
    if (written.status !== 200) return written.text;
    this.#types = model.types.map(({ name }) => name);
    return undefined;
  }

  async write(granted: readonly Tuple[], revoked: readonly Tuple[]): Promise<void> {
    const updateOf = (operation: string) => (tuple: Tuple) => ({
      operation,
      relationship: {
        resource: objectOf(tuple.object),
        relation: tuple.relation,
        subject: subjectOf(tuple.subject),
        ...(tuple.condition === undefined
          ? {}
          : { optionalCaveat: { caveatName: tuple.condition.name, context: tuple.condition.context } }),
      },
    });
    const updates = [...revoked.map(updateOf('OPERATION_DELETE')), ...granted.map(updateOf('OPERATION_TOUCH'))];
    for (const part of partsOf(updates))
      demandJson('spicedb, a write', await callSpicedb(this.#url, 'relationships/write', { updates: part }));
  }

  /** It refuses to be asked about the subject `*`. */
  async answer(question: ModelQuestion): Promise<ModelAnswer | undefined> {
    if (question.kind !== 'subjects' && question.subject.endsWith(':*')) return undefined;
    const { relation: permission, context } = question;
    switch (question.kind) {
      case 'check': {
        const { object, subject } = question;
        const body = { resource: objectOf(object), permission, subject: subjectOf(subject), context };
        const answer = await askSpicedb(this.#url, 'check', body);
        if (answer === undefined) return TOO_LATE;
        if (isDepthError(answer.text)) return { limit: REFUSALS.depth };
        const { permissionship } = demandJson<{ readonly permissionship: string }>('spicedb, a check', answer);
        return { items: [TRUTHS[permissionship] ?? permissionship] };
      }
      case 'objects': {
        const body = { resourceObjectType: question.type, permission, subject: subjectOf(question.subject), context };
        const answer = await askSpicedb(this.#url, 'resources', body);
        return this.#read(answer, (found: { readonly resourceObjectId: string; readonly permissionship: string }) => ({
          [found.permissionship === LISTED ? 'items' : 'unknown']: [`${question.type}:${found.resourceObjectId}`],
        }));
      }
      case 'subjects': {
        const resource = objectOf(question.object);
        const body = { resource, permission, subjectObjectType: question.type, context };
        const of = (found: readonly ListEntry[], isKnown: boolean): readonly string[] =>
          found
            .filter(({ permissionship }) => (permissionship === LISTED) === isKnown)
            .map(({ subjectObjectId }) => `${question.type}:${subjectObjectId}`);
        const answer = await askSpicedb(this.#url, 'subjects', body);
        return this.#read(
          answer,
          ({
            subject,
            excludedSubjects = [],
          }: {
            readonly subject: ListEntry;
            readonly excludedSubjects?: readonly ListEntry[];
          }) => ({
            items: of([subject], true),
            unknown: [...of([subject], false), ...of(excludedSubjects, false)],
            excluded: [...of(excludedSubjects, true), ...of(excludedSubjects, false)],
          }),
        );
      }
    }
  }

  #read<Found>(answer: JsonAnswer | undefined, factsOf: (found: Found) => Partial<Facts>): ModelAnswer {
    if (answer === undefined) return TOO_LATE;
    const { status, text } = answer;
    if (isDepthError(text)) return { limit: REFUSALS.depth };
    if (status !== 200) throw new Error(`spicedb, a list: ${status} ${text}`);
    const lines = text.split('\n').filter((line) => line !== '');
    const facts = lines.map((line) => {
      const { result }: Line<Found> = JSON.parse(line);
      if (result === undefined) throw new Error(`spicedb, a list: ${line}`);
      return factsOf(result);
    });
    return {
      items: [...new Set(facts.flatMap(({ items = [] }) => items))],
      unknown: facts.flatMap(({ unknown = [] }) => unknown),
      excluded: facts.flatMap(({ excluded = [] }) => excluded),
    };
  }

  stop(): Promise<void> {
    return this.#parts.disposeAsync();
  }
}

export const MODEL_PEERS: readonly Dialect[] = ['openfga', 'spicedb'];

/** Undefined if this machine cannot have it; the reason is on standard error. */
export async function startModelPeer(name: Dialect): Promise<ModelSystem | undefined> {
  const program = installTool(name);
  if (program === undefined) return undefined;
  return name === 'openfga'
    ? new OpenfgaModels(await startOpenfga(program))
    : new SpicedbModels(await startSpicedb(program));
}
