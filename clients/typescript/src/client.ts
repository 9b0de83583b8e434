// The client: one method for each operation of the service. Invariant: a method returns only values read, field by
// field, from a response that its schema allows; anything else is thrown as a GrantdError.

import { decisionsIn } from './decisions.ts';
import { Changes, type ChangesQuery } from './feed.ts';
import { createFilter, type Filter, type FilterOptions } from './filter.ts';
import { Gatherer } from './gathering.ts';
import type {
  ActionSearch,
  BulkWrite,
  BulkWriteResult,
  ContextGrant,
  CreatedKey,
  Decision,
  DenialReason,
  EvaluationRequest,
  EvaluationsRequest,
  FoundEntity,
  Grant,
  GrantFilter,
  GrantRequest,
  Join,
  Key,
  Namespace,
  OpenapiDocument,
  Question,
  Relation,
  ResourceSearch,
  RuleSet,
  RuleSetRequest,
  RulesPreview,
  RulesVersion,
  SetsRequest,
  SubjectSearch,
  SubjectSets,
  Tuple,
  WrittenGrant,
} from './generated/schemas.ts';
import { createKey, type KeyCreation } from './key-creation.ts';
import { Listing, type Page } from './listing.ts';
import { type KnownOf, knownMembers, membersOf, objectOf } from './members.ts';
import { type GrantdOptions, knownOptions, transportOptions } from './options.ts';
import { isSendable, jsonOf, listParameter, RULES_TYPE, refused, revisionTag, segmentOf } from './outgoing.ts';
import {
  checkDecision,
  checkKey,
  checkNamespace,
  checkPreview,
  checkReason,
  checkRuleSet,
  checkRulesVersion,
  checkSets,
  Field,
  grantIn,
  grantOf,
} from './shapes.ts';
import { type Call, type CallOptions, type CallReply, Transport } from './transport.ts';

interface PageSize {
  /** Items per page: 1 to 1000. */
  readonly limit?: number | undefined;
}

/** The context of one check or listing. It is not stored, and no other call sees it. */
export interface CallContext {
  /** Values for parameters of conditions; what a grant stores takes precedence. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** At most 100 grants that count for this call as if they were stored. */
  readonly context_grants?: readonly ContextGrant[] | undefined;
}

export interface CheckRequest extends Question, CallContext {}

export interface BulkCheckRequest extends CallContext {
  /** Up to 100. */
  readonly checks: readonly Question[];
}

export interface ObjectsQuery extends CallContext, PageSize {
  readonly subject: string;
  readonly relation: string;
  readonly namespace?: string | undefined;
  /** `direct`: only grants of the relation itself count, without the rules. */
  readonly via?: 'direct' | undefined;
}

export interface JoinQuery {
  readonly namespace: string;
  readonly name: string;
  /** Namespaces of containers whose grants are mirrored, too. */
  readonly deep?: readonly string[] | undefined;
}

export interface SubjectsQuery extends Omit<ObjectsQuery, 'subject'> {
  readonly object: string;
  /** `self`: also the groups `object#name` of the object itself whose members hold the relation by definition. */
  readonly include?: 'self' | undefined;
}

/** Exactly one of `subject` and `object`. */
export interface GrantsQuery extends PageSize {
  readonly subject?: string | undefined;
  readonly object?: string | undefined;
  readonly relation?: Relation | undefined;
}

export interface SnapshotQuery extends PageSize {
  /** Relations on objects of namespaces, each as `namespace:relation`. */
  readonly on: readonly string[];
}

export interface KeysQuery extends PageSize {}

export interface GrantPage extends Page<Grant> {
  /** The cursor of the change feed before this page. To follow from a snapshot, use that of the first page. */
  readonly feedCursor: string | undefined;
}

export interface SnapshotPage extends GrantPage {
  readonly feedCursor: string;
  /** The entry as of which the page was read. The grants are exact once the feed has reached that of every page. */
  readonly seq: number;
}

export interface SubjectPage extends Page<string> {
  /** Those that do not hold the relation although `ns:*` of their namespace is listed, in the range of this page. */
  readonly excluded: readonly string[];
}

export interface Explanation {
  readonly authorized: boolean;
  /** If authorized: a shortest chain of grants from the subject to the object. */
  readonly because: readonly Grant[];
  /** If denied: why, in one sentence, and the grants that it names. */
  readonly reason?: DenialReason;
  /** Under rules with gates: why, as a tree that the API describes. */
  readonly proof?: Readonly<Record<string, unknown>>;
}

export interface RevisedRules {
  readonly rule_set: RuleSet;
  readonly revision: string;
}

/** Rules in the text form, as they were set, or printed from JSON. */
export interface RulesText {
  readonly text: string;
  readonly revision: string;
}

export interface RulesChange {
  /** Rules in the text form, or the object that JSON has. */
  readonly rule_set: string | RuleSetRequest;
  /** Only if the rules still have it. */
  readonly revision?: string | undefined;
  /** Beside a text: stored grants that stricter types exclude stay, and count. An object has it as a member. */
  readonly outside_types?: 'keep' | undefined;
}

export interface WrittenNamespace extends Namespace {
  readonly created: boolean;
}

export type { KeyCreation } from './key-creation.ts';

type Query = NonNullable<Call['query']>;
type SearchBody = SubjectSearch | ResourceSearch | ActionSearch;

const get = (operation: string, path: string, query: Query = {}): Call => ({
  operation,
  method: 'GET',
  path,
  query,
  expected: [200],
});
const post = (operation: string, path: string, body: object, expected: readonly number[] = [200]): Call => ({
  operation,
  method: 'POST',
  path,
  body: objectOf(body),
  expected,
});

// What each call takes. A body that goes to the service as it is has no table: the service refuses unknown members.
const TUPLE: KnownOf<Tuple> = { subject: true, relation: true, object: true };
const CONTEXT: KnownOf<CallContext> = { context: true, context_grants: true };
const EXPLAIN = { explain: 'call the method explain' };
const CHECK = { ...TUPLE, ...CONTEXT, ...EXPLAIN } satisfies KnownOf<CheckRequest>;
const BULK_CHECK: KnownOf<BulkCheckRequest> = { checks: true, ...CONTEXT };
const PAGE = { limit: true, cursor: 'give it to the method page of what this call returns' } as const;
const LISTING = { relation: true, namespace: true, via: true, ...PAGE, ...CONTEXT } as const;
const OBJECTS = { subject: true, ...LISTING } satisfies KnownOf<ObjectsQuery>;
const SUBJECTS = { object: true, include: true, ...LISTING } satisfies KnownOf<SubjectsQuery>;
const GRANTS = { ...TUPLE, ...PAGE, ...{ on: 'call the method snapshotGrants' } } satisfies KnownOf<GrantsQuery>;
const SNAPSHOT = { on: true, ...PAGE } satisfies KnownOf<SnapshotQuery>;
const KEYS = PAGE satisfies KnownOf<KeysQuery>;
const KEY: KnownOf<{ readonly key_id: string }> = { key_id: true };
const RULES: KnownOf<{ readonly unless_revision?: string | undefined }> = { unless_revision: true };
const IN_RULE_SET = 'it is a member of "rule_set": { rule_set: { rules: [] } }';
const RULE_SET = ['rules', 'relations', 'states', 'conditions', 'types', 'groups', 'public'];
const RULES_CHANGE = {
  rule_set: true,
  revision: true,
  outside_types: true,
  ...{ dry_run: 'call the method previewRules', text: 'a text is given as "rule_set"' },
  ...Object.fromEntries(RULE_SET.map((name) => [name, IN_RULE_SET])),
} satisfies KnownOf<RulesChange>;
const JOIN: KnownOf<JoinQuery> = { namespace: true, name: true, deep: true };
const RULES_VERSION: KnownOf<{ readonly version: number }> = { version: true };
// The service ignores members that AuthZEN does not define.
const ENTITY = { type: true, id: true, properties: true } as const;
const ACTION = { name: true, properties: true } as const;
const EVALUATION: KnownOf<EvaluationRequest> = { subject: ENTITY, action: ACTION, resource: ENTITY, context: true };
const EVALUATIONS: KnownOf<EvaluationsRequest> = {
  ...EVALUATION,
  evaluations: EVALUATION,
  options: { evaluations_semantic: true },
};
const SEARCH = { ...EVALUATION, page: { token: true, limit: true, properties: true } } as const;
const SUBJECT_SEARCH: KnownOf<SubjectSearch> = SEARCH;
const RESOURCE_SEARCH: KnownOf<ResourceSearch> = SEARCH;
const ACTION_SEARCH: KnownOf<ActionSearch> = SEARCH;

const hasContext = ({ context, context_grants: grants }: CallContext): boolean =>
  context !== undefined || grants !== undefined;

/** A listing: a GET with a query, or with a context the same as a POST. */
const listingCall = (
  operation: string,
  path: string,
  query: ObjectsQuery | SubjectsQuery,
  cursor: string | undefined,
): Call => {
  const { context, context_grants, ...rest } = query;
  return hasContext(query)
    ? post(`${operation}InContext`, path, { ...rest, cursor, context, context_grants })
    : get(operation, path, { ...rest, cursor });
};

function revisionOf(reply: CallReply): string {
  const [, revision] = /^"([0-9a-f]{32})"$/.exec(reply.headers.get('etag') ?? '') ?? [];
  return revision ?? Field.of(reply).refuse('comes without a revision of the rules');
}

function grantPageOf(reply: CallReply): GrantPage {
  const field = Field.of(reply);
  return {
    items: field.at('grants').list().map(grantIn),
    cursor: field.at('next_cursor').cursorOrNull(),
    feedCursor: reply.headers.get('x-service-cursor') ?? undefined,
  };
}

export class Grantd {
  readonly #transport: Transport;
  readonly #gatherer: Gatherer | undefined;
  readonly #silenceMs: number;

  constructor(options: GrantdOptions = {}) {
    const known = knownOptions(options);
    const { batching = true, silenceMs = 45_000 } = known;
    this.#transport = new Transport(transportOptions(known));
    this.#silenceMs = silenceMs;
    const sender = {
      one: (question: Question) => this.#checkOne(question),
      many: (questions: readonly Question[]) => this.checkBulk({ checks: questions }),
    };
    this.#gatherer = batching ? new Gatherer(sender) : undefined;
  }

  /**
   * Whether the relationship holds. True only if the service said so for exactly this question; every other outcome is
   * thrown. Checks of one moment are gathered into one request, unless they have options or a context of their own.
   */
  async check(request: CheckRequest, options?: CallOptions): Promise<boolean> {
    const question = knownMembers(request, CHECK);
    if (options !== undefined || hasContext(question) || this.#gatherer === undefined) {
      return this.#checkOne(question, options);
    }
    // What cannot be sent fails here, alone. Other types than texts are rare, and the service refuses most of them.
    const { subject, relation, object } = question;
    for (const each of [subject, relation, object]) {
      if (typeof each !== 'string' || !isSendable(each)) jsonOf(question);
    }
    return this.#gatherer.check(question);
  }

  /** A check that also returns the grants on which its result rests. */
  async explain(request: CheckRequest, options: CallOptions = {}): Promise<Explanation> {
    const body = { ...knownMembers(request, CHECK), explain: true };
    const field = Field.of(await this.#transport.send(post('check', '/v1/check', body), options));
    field.at('checked_at').time();
    const authorized = field.at('authorized').boolean();
    const because = authorized ? field.at('because').list().map(grantIn) : [];
    return {
      authorized,
      because,
      ...(field.has('reason') ? { reason: field.at('reason').checked<DenialReason>(checkReason) } : {}),
      ...(field.has('proof') ? { proof: field.at('proof').checked<Readonly<Record<string, unknown>>>(() => {}) } : {}),
    };
  }

  /** Up to 100 checks, all decided at one moment; the results are in the order of the checks. */
  async checkBulk(request: BulkCheckRequest, options: CallOptions = {}): Promise<readonly boolean[]> {
    const body = knownMembers(request, BULK_CHECK);
    const field = Field.of(await this.#transport.send(post('checkBulk', '/v1/check/bulk', body), options));
    field.at('checked_at').time();
    return field
      .at('results')
      .listOf(body.checks.length)
      .map((each) => each.at('authorized').boolean());
  }

  /** Idempotent. After a lost response, `created` may be false although this call has created the grant. */
  async createGrant(grant: GrantRequest, options?: CallOptions): Promise<WrittenGrant> {
    const reply = await this.#transport.send(post('createGrant', '/v1/grants', grant, [200, 201]), options);
    return { ...grantOf<Grant>(Field.of(reply), grant), created: reply.status === 201 };
  }

  /** Whether there was such a grant. After a lost response, false may mean that this call has revoked it. */
  async revokeGrant(tuple: Tuple, options?: CallOptions): Promise<boolean> {
    const query = { ...knownMembers(tuple, TUPLE) };
    return this.#remove({ ...get('revokeGrant', '/v1/grants', query), method: 'DELETE' }, 'grant-not-found', options);
  }

  /** Up to 100 grants and revocations that take effect at one moment, or not at all. */
  async writeBulk(write: BulkWrite, options?: CallOptions): Promise<BulkWriteResult> {
    const call = post('writeBulk', '/v1/grants/bulk', write);
    const { grants = [], revocations = [], if: conditions = [] } = write;
    const conditional = conditions.length > 0;
    const field = Field.of(await this.#transport.send({ ...call, conditional }, options));
    const written = field.at('grants').listOf(grants.length);
    const revoked = field.at('revocations').listOf(revocations.length);
    return {
      grants: grants.map((grant, index) =>
        grantOf<WrittenGrant>(written[index] ?? field, grant, (each) => each.at('created').boolean()),
      ),
      revocations: revoked.map((each) => ({ revoked: each.at('revoked').boolean() })),
    };
  }

  /** Revokes all grants of a subject, or on an object, and says how many. Repeats the call until none is left. */
  async revokeGrants(filter: GrantFilter, options?: CallOptions): Promise<number> {
    for (let revoked = 0; ; ) {
      const field = Field.of(await this.#transport.send(post('revokeGrants', '/v1/grants/revoke', filter), options));
      revoked += field.at('revoked').count();
      if (field.at('complete').boolean()) return revoked;
    }
  }

  listGrants(query: GrantsQuery, options: CallOptions = {}): Listing<Grant, GrantPage> {
    const known = knownMembers(query, GRANTS);
    return new Listing(async (cursor, callOptions) => {
      const call = get('listGrants', '/v1/grants', { ...known, cursor });
      return grantPageOf(await this.#transport.send(call, callOptions));
    }, options);
  }

  /** All grants of some relations on objects of some namespaces. The feed leads on from that of the first page. */
  snapshotGrants(query: SnapshotQuery, options: CallOptions = {}): Listing<Grant, SnapshotPage> {
    const { on, ...known } = knownMembers(query, SNAPSHOT);
    const pairs = listParameter(on, 'on');
    return new Listing(async (cursor, callOptions) => {
      const call = get('listGrants', '/v1/grants', { ...known, on: pairs, cursor });
      const reply = await this.#transport.send(call, callOptions);
      const { feedCursor, ...page } = grantPageOf(reply);
      const field = Field.of(reply);
      if (feedCursor === undefined) return field.refuse('comes without a cursor of the feed');
      return { ...page, feedCursor, seq: field.at('seq').count() };
    }, options);
  }

  /** The objects on which the subject has the relation. */
  listObjects(query: ObjectsQuery, options: CallOptions = {}): Listing<string> {
    const known = knownMembers(query, OBJECTS);
    return new Listing(async (cursor, callOptions) => {
      const call = listingCall('listObjects', '/v1/objects', known, cursor);
      const field = Field.of(await this.#transport.send(call, callOptions));
      return { items: field.at('objects').texts(), cursor: field.at('next_cursor').cursorOrNull() };
    }, options);
  }

  /** The subjects that have the relation on the object. */
  listSubjects(query: SubjectsQuery, options: CallOptions = {}): Listing<string, SubjectPage> {
    const known = knownMembers(query, SUBJECTS);
    return new Listing(async (cursor, callOptions) => {
      const call = listingCall('listSubjects', '/v1/subjects', known, cursor);
      const field = Field.of(await this.#transport.send(call, callOptions));
      const excluded = field.has('excluded') ? field.at('excluded').texts() : [];
      return { items: field.at('subjects').texts(), cursor: field.at('next_cursor').cursorOrNull(), excluded };
    }, options);
  }

  async createNamespace(namespace: { readonly name: string }, options?: CallOptions): Promise<WrittenNamespace> {
    const call = post('createNamespace', '/v1/namespaces', namespace, [200, 201]);
    const reply = await this.#transport.send(call, options);
    return { ...Field.of(reply).checked<Namespace>(checkNamespace), created: reply.status === 201 };
  }

  listNamespaces(options: CallOptions = {}): Listing<Namespace> {
    return new Listing(async (_, callOptions) => {
      const field = Field.of(await this.#transport.send(get('listNamespaces', '/v1/namespaces'), callOptions));
      const namespaces = field.at('namespaces').list();
      return { items: namespaces.map((each) => each.checked<Namespace>(checkNamespace)), cursor: null };
    }, options);
  }

  /** Creates one key, also over a lost response. Its text is in this result and nowhere else. */
  async createKey(request: KeyCreation, options: CallOptions = {}): Promise<CreatedKey> {
    return createKey(this.#transport, membersOf(objectOf(request)), options);
  }

  listKeys(query: KeysQuery = {}, options: CallOptions = {}): Listing<Key> {
    return this.#listing('listKeys', '/v1/keys', { ...knownMembers(query, KEYS) }, options, 'keys', (each) =>
      each.checked<Key>((key) => {
        checkKey(key);
        key.at('last_used_at').timeOrNull();
      }),
    );
  }

  /** Whether there was such a key. */
  async revokeKey(key: { readonly key_id: string }, options?: CallOptions): Promise<boolean> {
    const { key_id } = knownMembers(key, KEY);
    // No path leads to these.
    if (key_id === '' || key_id === '.' || key_id === '..') return false;
    const call = { ...get('revokeKey', `/v1/keys/${segmentOf(key_id, 'key_id')}`), method: 'DELETE' } as const;
    return this.#remove(call, 'key-not-found', options);
  }

  readRules(query?: { readonly unless_revision?: undefined }, options?: CallOptions): Promise<RevisedRules>;
  /** Undefined if the rules still have the revision. */
  readRules(query: { readonly unless_revision: string }, options?: CallOptions): Promise<RevisedRules | undefined>;
  async readRules(
    query: { readonly unless_revision?: string | undefined } = {},
    options: CallOptions = {},
  ): Promise<RevisedRules | undefined> {
    const { unless_revision: unlessRevision } = knownMembers(query, RULES);
    const headers =
      unlessRevision === undefined ? {} : { 'if-none-match': revisionTag(unlessRevision, 'unless_revision') };
    const expected = unlessRevision === undefined ? [200] : [200, 304];
    const reply = await this.#transport.send({ ...get('readRules', '/v1/rules'), headers, expected }, options);
    if (reply.status === 304) return undefined;
    return { rule_set: Field.of(reply).checked<RuleSet>(checkRuleSet), revision: revisionOf(reply) };
  }

  /** The rules in the text form, with their comments: the present ones, or those of a version that is kept. */
  async readRulesText(
    query: { readonly version?: number | undefined } = {},
    options?: CallOptions,
  ): Promise<RulesText> {
    const { version } = knownMembers<{ readonly version?: number | undefined }>(query, RULES_VERSION);
    const call =
      version === undefined
        ? get('readRules', '/v1/rules')
        : get('readRulesVersion', `/v1/rules/versions/${segmentOf(version, 'version')}`);
    const reply = await this.#transport.send({ ...call, headers: { accept: RULES_TYPE } }, options);
    return { text: Field.of(reply).text(), revision: revisionOf(reply) };
  }

  /** Replaces the rules; with `revision`, only if they still have it. */
  async writeRules(change: RulesChange, options: CallOptions = {}): Promise<RevisedRules> {
    const reply = await this.#putRules(change, options, {});
    return { rule_set: Field.of(reply).checked<RuleSet>(checkRuleSet), revision: revisionOf(reply) };
  }

  /** What `writeRules` would change. */
  async previewRules(change: RulesChange, options: CallOptions = {}): Promise<RulesPreview> {
    const reply = await this.#putRules(change, options, { dry_run: 'true' });
    return Field.of(reply).checked<RulesPreview>(checkPreview);
  }

  /** The versions of the rules that are kept, from the newest back. */
  listRulesVersions(options: CallOptions = {}): Listing<RulesVersion> {
    return new Listing(async (_, callOptions) => {
      const field = Field.of(await this.#transport.send(get('listRulesVersions', '/v1/rules/versions'), callOptions));
      const versions = field.at('versions').list();
      return { items: versions.map((each) => each.checked<RulesVersion>(checkRulesVersion)), cursor: null };
    }, options);
  }

  /** Throws a GrantdError `rules-version-not-found` if the version is not kept. */
  async readRulesVersion(query: { readonly version: number }, options?: CallOptions): Promise<RevisedRules> {
    const { version } = knownMembers(query, RULES_VERSION);
    const reply = await this.#transport.send(
      get('readRulesVersion', `/v1/rules/versions/${segmentOf(version, 'version')}`),
      options,
    );
    return { rule_set: Field.of(reply).checked<RuleSet>(checkRuleSet), revision: revisionOf(reply) };
  }

  /** The change feed: an endless iteration that resumes after interruptions. */
  changes(query: ChangesQuery = {}, options: CallOptions = {}): Changes {
    return new Changes(this.#transport, query, options, this.#silenceMs);
  }

  async evaluate(request: EvaluationRequest, options?: CallOptions): Promise<Decision> {
    const call = post('evaluate', '/access/v1/evaluation', knownMembers(request, EVALUATION));
    return Field.of(await this.#transport.send(call, options)).checked<Decision>(checkDecision);
  }

  /** The decisions, in the order of the request. With a semantic that ends early, up to the one that settles it. */
  async evaluateMany(request: EvaluationsRequest, options?: CallOptions): Promise<readonly Decision[]> {
    const known = knownMembers(request, EVALUATIONS);
    const call = post('evaluateMany', '/access/v1/evaluations', known);
    return decisionsIn(Field.of(await this.#transport.send(call, options)), known);
  }

  searchSubjects(search: SubjectSearch, options: CallOptions = {}): Listing<FoundEntity> {
    return this.#search(
      'searchSubjects',
      '/access/v1/search/subject',
      knownMembers(search, SUBJECT_SEARCH),
      options,
      (each) => ({
        type: each.at('type').text(),
        id: each.at('id').text(),
      }),
    );
  }

  searchResources(search: ResourceSearch, options: CallOptions = {}): Listing<FoundEntity> {
    return this.#search(
      'searchResources',
      '/access/v1/search/resource',
      knownMembers(search, RESOURCE_SEARCH),
      options,
      (each) => ({
        type: each.at('type').text(),
        id: each.at('id').text(),
      }),
    );
  }

  searchActions(search: ActionSearch, options: CallOptions = {}): Listing<{ readonly name: string }> {
    return this.#search(
      'searchActions',
      '/access/v1/search/action',
      knownMembers(search, ACTION_SEARCH),
      options,
      (each) => ({
        name: each.at('name').text(),
      }),
    );
  }

  /** How a list of objects on which a subject holds the name follows from mirrored grants. */
  async readJoin(query: JoinQuery, options?: CallOptions): Promise<Join> {
    const { deep, ...name } = knownMembers(query, JOIN);
    const call = get('readJoin', '/v1/join', { ...name, deep: listParameter(deep, 'deep', { mayBeEmpty: true }) });
    const field = Field.of(await this.#transport.send(call, options));
    return field.checked<Join>((join) => {
      join.at('revision').text();
      join.at('ask').texts();
    });
  }

  /** The sets of a subject: with the grants that the join mirrors, they say on which objects it holds the name. */
  async readSets(request: SetsRequest, options?: CallOptions): Promise<SubjectSets> {
    const field = Field.of(await this.#transport.send(post('readSets', '/v1/sets', request), options));
    return field.checked<SubjectSets>(checkSets);
  }

  /**
   * The condition by which a query of the application passes exactly the objects on which the subject holds the name,
   * such as `document.can_read`, with the mirror that `grantd sync` keeps in its Postgres. Throws a MirrorError if that
   * has no answer; other errors of the database pass through as they are.
   */
  filter(subject: string, name: string, options: FilterOptions, callOptions: CallOptions = {}): Promise<Filter> {
    const source = {
      readSets: (request: SetsRequest) => this.readSets(request, callOptions),
      pause: (durationMs: number) => this.#transport.pause(durationMs, callOptions),
    };
    return createFilter(source, { subject, name, options });
  }

  /** The OpenAPI description of the interface. */
  async readOpenapi(options?: CallOptions): Promise<OpenapiDocument> {
    const field = Field.of(await this.#transport.send(get('readOpenapi', '/openapi.json'), options));
    return field.checked<OpenapiDocument>((document) => {
      document.at('openapi').text();
      document.at('info').at('version').text();
    });
  }

  async #checkOne(request: CheckRequest, options: CallOptions = {}): Promise<boolean> {
    const field = Field.of(await this.#transport.send(post('check', '/v1/check', request), options));
    field.at('checked_at').time();
    return field.at('authorized').boolean();
  }

  async #remove(call: Call, absent: string, options?: CallOptions): Promise<boolean> {
    try {
      await this.#transport.send({ ...call, expected: [204] }, options);
      return true;
    } catch (error) {
      if (error instanceof Error && 'type' in error && error.type === absent) return false;
      throw error;
    }
  }

  #putRules(change: RulesChange, options: CallOptions, query: Query): Promise<CallReply> {
    const { rule_set: rules, revision, outside_types } = knownMembers(change, RULES_CHANGE);
    const isText = typeof rules === 'string';
    if (!isText && outside_types !== undefined)
      throw refused('outside_types', `stands beside no text: ${IN_RULE_SET}.`);
    const call: Call = {
      operation: 'writeRules',
      method: 'PUT',
      path: '/v1/rules',
      query: { ...query, outside_types },
      body: isText ? rules : objectOf(rules, 'rule_set'),
      headers: revision === undefined ? {} : { 'if-match': revisionTag(revision, 'revision') },
      expected: [200],
      conditional: revision !== undefined,
    };
    return this.#transport.send(call, options);
  }

  #listing<T>(
    operation: string,
    path: string,
    query: Query,
    options: CallOptions,
    member: string,
    read: (field: Field) => T,
  ): Listing<T> {
    return new Listing(async (cursor, callOptions) => {
      const field = Field.of(await this.#transport.send(get(operation, path, { ...query, cursor }), callOptions));
      return { items: field.at(member).list().map(read), cursor: field.at('next_cursor').cursorOrNull() };
    }, options);
  }

  #search<T>(
    operation: string,
    path: string,
    search: SearchBody,
    options: CallOptions,
    read: (field: Field) => T,
  ): Listing<T> {
    return new Listing(async (cursor, callOptions) => {
      const page = cursor === undefined ? search.page : { ...search.page, token: cursor };
      const body = page === undefined ? search : { ...search, page };
      const field = Field.of(await this.#transport.send(post(operation, path, body), callOptions));
      const token = field.at('page').at('next_token').text();
      return { items: field.at('results').list().map(read), cursor: token === '' ? null : token };
    }, options);
  }
}
