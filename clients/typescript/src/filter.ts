// Filters: the condition by which an application's own query on Postgres passes exactly the objects on which a subject
// holds a name, with a mirror of grants that `grantd sync` keeps beside its tables. Invariant: what passes is exact at
// one moment; where that cannot be had, there is an error, and never a condition that passes more.

import { type ErrorFacts, GrantdError } from './error.ts';
import type { ContextGrant, SetsRequest, SubjectSets } from './generated/schemas.ts';
import { type KnownOf, knownMembers } from './members.ts';
import { refused } from './outgoing.ts';

/** Why a mirror gives no answer: it lags, it no longer has the moment, it is for other rules, it is being made. */
export type MirrorReason = 'behind' | 'stale' | 'other-rules' | 'not-ready';

/** The mirror gives no answer now. The same call can succeed later. */
export class MirrorError extends GrantdError {
  readonly reason: MirrorReason;

  constructor(reason: MirrorReason, facts: ErrorFacts = {}) {
    super(`mirror-${reason}`, 0, DETAILS[reason], { ...facts, retryable: true });
    this.name = 'MirrorError';
    this.reason = reason;
  }
}

export interface FilterOptions {
  /** Runs a query of the application's database, and returns its rows. */
  readonly query: (sql: string, params: string[]) => Promise<readonly unknown[]>;
  /** SQL for the id in the application's table: what an object has behind `document:`. By default `id`. */
  readonly id?: string | undefined;
  /** SQL for the type of the id, such as `bigint` or `uuid`. By default `text`. */
  readonly idType?: string | undefined;
  /** Those of the join that is mirrored. */
  readonly deep?: readonly string[] | undefined;
  /** Values for parameters of conditions. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** Grants that count for this call alone: none of a relation that is mirrored. */
  readonly contextGrants?: readonly ContextGrant[] | undefined;
  /** Whether objects pass where a condition decides, too: for a bulk check with the context. By default false. */
  readonly candidates?: boolean | undefined;
  /** Where the mirror is. By default `grantd`. */
  readonly schema?: string | undefined;
  /** With more objects than this, the database asks the mirror for each row. By default 10,000. */
  readonly objectsMax?: number | undefined;
  /** How long to wait for the mirror. By default 200 ms. */
  readonly waitMs?: number | undefined;
  /** The number of the first parameter in `sql`: 3, if the query has `$1` and `$2` of its own. By default 1. */
  readonly firstParameter?: number | undefined;
}

const OPTIONS: KnownOf<FilterOptions> = {
  query: true,
  id: true,
  idType: true,
  deep: true,
  context: true,
  contextGrants: true,
  candidates: true,
  schema: true,
  objectsMax: true,
  waitMs: true,
  firstParameter: true,
};

const DETAILS: Readonly<Record<MirrorReason, string>> = {
  behind: 'The mirror has not come as far as the sets of the subject.',
  stale: 'The mirror no longer has the moment of the sets of the subject.',
  'other-rules': 'The mirror is for other rules than the sets of the subject.',
  'not-ready': 'The mirror is being made.',
};

/** By SQLSTATE. */
const REASONS: ReadonlyMap<unknown, MirrorReason> = new Map([
  ['GR001', 'behind'],
  ['GR002', 'stale'],
  ['GR003', 'other-rules'],
  ['GR004', 'not-ready'],
]);
/** Newer sets may help. */
const ASKED_AGAIN: ReadonlySet<MirrorReason> = new Set(['stale', 'other-rules']);
const ATTEMPTS_MAX = 3;
const PAUSE_MS = 50;
/** After an error, a transaction has no more answers. */
const TRANSACTION_ABORTED = '25P02';

/** Where libraries have the error of the database, and its SQLSTATE. */
const CAUSES = ['cause', 'meta', 'driverAdapterError'];
const STATES = ['code', 'originalCode'];
const DEPTH_MAX = 5;

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
/** Postgres cuts longer identifiers, and `:objects` comes behind. */
const FUNCTION_LENGTH_MAX = 55;
/** What the functions of a mirror take of the sets. */
const SETS_TYPES = ['text[]', 'text[]', 'text[]', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text'];
const LIMIT_TYPES = ['integer', 'integer'];

/** A condition of SQL. */
export class Filter {
  /** For a WHERE, with the parameters from `$1` or `firstParameter` on. */
  readonly sql: string;
  readonly params: string[];
  /** `objects`: the ids are a parameter. `rows`: the mirror is asked for each row. */
  readonly form: 'objects' | 'rows';
  /** The moment of which the answer is. */
  readonly at: SubjectSets['at'];
  /** That of the rules. */
  readonly revision: string;
  readonly #texts: readonly string[];

  constructor(form: Filter['form'], { at, revision }: SubjectSets, { texts, params, first }: Condition) {
    this.form = form;
    this.at = at;
    this.revision = revision;
    this.params = params;
    this.sql = numbered(texts, first);
    this.#texts = texts;
  }

  /** The same for the tag of a query builder: that of Kysely, of Drizzle, or `Prisma.sql`. */
  as<T>(tag: (texts: TemplateStringsArray, ...values: string[]) => T): T {
    return tag(Object.assign([...this.#texts], { raw: this.#texts }), ...this.params);
  }
}

interface Condition {
  /** Around the parameters. */
  readonly texts: readonly string[];
  readonly params: string[];
  readonly first: number;
}

const numbered = (texts: readonly string[], first: number): string =>
  texts.reduce((sql, text, index) => `${sql}$${first + index - 1}${text}`);

/**
 * A call, as the texts around its parameters. Each is a text that is cast, since some drivers declare and send it as
 * one; in a query of its own, so that it is read once and not for each row.
 */
function calling(
  name: string,
  { args = '', types, after }: { args?: string; types: readonly string[]; after: string },
) {
  const between = types.map((type, index) => {
    const next = index === types.length - 1 ? `)${after}` : ', (SELECT CAST(CAST(';
    return ` AS text) AS ${type}))${next}`;
  });
  return [`${name}(${args}(SELECT CAST(CAST(`, ...between];
}

const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The text of an array, as every driver can send it. */
const arrayText = (items: readonly string[]): string =>
  `{${items.map((each) => `"${each.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;

function setsParams({ subjects, held, perhaps, own, at, through, ...sets }: SubjectSets): string[] {
  const end = Math.max(0, own.lastIndexOf('#'));
  return [
    ...[subjects, held, perhaps].map(arrayText),
    ...[own.slice(0, end), own.slice(end + 1)],
    ...[at.seq, Date.parse(at.time), through].map(String),
    `${sets.tenant_id}:${sets.revision}`,
  ];
}

function stateIn(error: unknown, states: ReadonlySet<unknown>, depth = 0): unknown {
  if (typeof error !== 'object' || error === null || depth > DEPTH_MAX) return undefined;
  const found = STATES.map((name): unknown => Reflect.get(error, name)).find((state) => states.has(state));
  if (found !== undefined) return found;
  for (const name of CAUSES) {
    const below = stateIn(Reflect.get(error, name), states, depth + 1);
    if (below !== undefined) return below;
  }
  return undefined;
}

const MIRROR_STATES: ReadonlySet<unknown> = new Set(REASONS.keys());

/** The error of a mirror, if it is one, or the same error. */
function mirrorErrorOf(error: unknown): unknown {
  const reason = REASONS.get(stateIn(error, MIRROR_STATES));
  return reason === undefined ? error : new MirrorError(reason, { cause: error });
}

/** The join of `document.can_read`. */
function joinOf(name: string, deep: readonly string[] = []): SetsRequest['join'] {
  const [, namespace = '', relation = ''] = /^(.*)\.(.*)$/s.exec(name) ?? [];
  if (!Array.isArray(deep) || ![namespace, relation, ...deep].every((each) => NAME.test(each))) {
    throw refused('name', 'must be like "document.can_read", and "deep" a list of namespaces.');
  }
  return { namespace, name: relation, deep };
}

function checkedOptions(options: FilterOptions) {
  const { id = 'id', idType = 'text', schema = 'grantd', ...known } = knownMembers(options, OPTIONS, 'options');
  const { objectsMax = 10_000, waitMs = 200, firstParameter = 1, candidates = false, ...others } = known;
  if (typeof others.query !== 'function') throw refused('options.query', 'must be a function.');
  for (const [name, text] of Object.entries({ id, idType, schema })) {
    if (typeof text !== 'string' || text.includes('\0')) throw refused(`options.${name}`, 'is not SQL.');
  }
  for (const [name, count] of Object.entries({ objectsMax, waitMs, firstParameter })) {
    if (!Number.isSafeInteger(count) || count < (name === 'firstParameter' ? 1 : 0))
      throw refused(`options.${name}`, 'is not a count.');
  }
  return { ...others, id, idType, schema, objectsMax, waitMs, firstParameter, candidates };
}

type KnownOptions = ReturnType<typeof checkedOptions>;

interface Mirror {
  readonly options: KnownOptions;
  readonly namespace: string;
  /** The function for an object, quoted, and that for all. */
  readonly ofObject: string;
  readonly ofObjects: string;
}

/** The ids behind `document:`. Undefined: there are too many. */
function idsIn(rows: unknown, { options: { candidates }, namespace }: Mirror): readonly string[] | undefined {
  if (!Array.isArray(rows)) throw refused('options.query', 'must return the rows, each an object with its columns.');
  const ids: string[] = [];
  for (const row of rows) {
    const { object, sure }: { readonly object?: unknown; readonly sure?: unknown } = Object(row);
    if (object === null) return undefined;
    const isFound = typeof object === 'string' && object.startsWith(`${namespace}:`);
    if (!isFound || (typeof sure !== 'boolean' && sure !== null)) {
      throw refused('options.query', `must return rows with an "object" of the namespace "${namespace}" and "sure".`);
    }
    if (sure ?? candidates) ids.push(object.slice(namespace.length + 1));
  }
  return ids;
}

async function filterOf(mirror: Mirror, sets: SubjectSets): Promise<Filter> {
  const { options, namespace, ofObject, ofObjects } = mirror;
  const { query, id, idType, candidates, objectsMax, waitMs, firstParameter: first } = options;
  const params = setsParams(sets);
  const texts = calling(`SELECT object, sure FROM ${ofObjects}`, { types: [...SETS_TYPES, ...LIMIT_TYPES], after: '' });
  const rows = await query(numbered(texts, 1), [...params, String(objectsMax), String(waitMs)]);
  const ids = idsIn(rows, mirror);
  if (ids !== undefined) {
    // The type is that of the parameter: the database knows the ids before it makes its plan.
    const found = { texts: [`(${id}) = ANY(CAST(`, ` AS ${idType}[]))`], params: [arrayText(ids)], first };
    return new Filter('objects', sets, found);
  }
  const after = candidates ? ' IS NOT FALSE' : ' IS TRUE';
  const args = `'${namespace}:' || (${id}), `;
  return new Filter('rows', sets, { texts: calling(ofObject, { args, types: SETS_TYPES, after }), params, first });
}

/** `readSets`: with the bounds of the call. `pause`: between two attempts. */
export interface FilterSource {
  readonly readSets: (request: SetsRequest) => Promise<SubjectSets>;
  readonly pause: (durationMs: number) => Promise<void>;
}

export async function createFilter(
  { readSets, pause }: FilterSource,
  { subject, name, options }: { readonly subject: string; readonly name: string; readonly options: FilterOptions },
): Promise<Filter> {
  const known = checkedOptions(options);
  const { schema, context, contextGrants: context_grants, candidates: perhaps } = known;
  const join = joinOf(name, known.deep);
  const id = `${join.namespace}.${[join.name, ...(join.deep ?? [])].join('+')}`;
  if (id.length > FUNCTION_LENGTH_MAX) throw refused('name', `is too long for a function of a mirror: ${id}`);
  const [ofObject = '', ofObjects = ''] = [id, `${id}:objects`].map((each) => [schema, each].map(quotedName).join('.'));
  const request = { subject, join, perhaps, ...(context && { context }), ...(context_grants && { context_grants }) };
  let last: unknown;
  for (let attempt = 1; ; attempt += 1) {
    const sets = await readSets(request);
    try {
      return await filterOf({ options: known, namespace: join.namespace, ofObject, ofObjects }, sets);
    } catch (error) {
      // The first error of a transaction says why it has no more answers.
      if (last !== undefined && stateIn(error, new Set([TRANSACTION_ABORTED])) !== undefined) throw last;
      last = mirrorErrorOf(error);
      const isOld = last instanceof MirrorError && ASKED_AGAIN.has(last.reason);
      if (!isOld || attempt === ATTEMPTS_MAX) throw last;
    }
    await pause(PAUSE_MS);
  }
}
