// The functions by which an application asks a mirror in Postgres. They belong to the owner of the mirror: a role that
// may use the schema may call them, and sees no grants beside. Invariant: they answer from a state in which the mirror
// has everything that their caller has to see, or raise an error.

import type { JoinQuery } from '../../../src/rules/join.ts';
import { isOf, JoinSql, POSTGRES_PARAMETERS, postgres } from './join-sql.ts';
import type { JoinSet } from './mirror.ts';
import { momentOf, refusalsBy } from './refusals.ts';

/** Longer identifiers are cut, and `:objects` comes behind. */
export const ID_LENGTH_MAX = 55;

/** The name of a function is the text of its join: another join has another one. */
export const functionId = ({ namespace, name, deep }: JoinQuery): string => `${namespace}.${[name, ...deep].join('+')}`;

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const typed = (parameters: Readonly<Record<string, string>>): string =>
  Object.entries(parameters)
    .map((each) => each.join(' '))
    .join(', ');

/** What a state of the mirror has to have for a caller; behind the parameters of a join. */
const STATE_PARAMETERS = { through: 'bigint', revision: 'text' } as const;
const { object: _, ...SETS_PARAMETERS } = POSTGRES_PARAMETERS;
const OBJECT_PARAMETERS = { ...POSTGRES_PARAMETERS, ...STATE_PARAMETERS };
const OBJECTS_PARAMETERS = {
  ...SETS_PARAMETERS,
  ...STATE_PARAMETERS,
  objects_max: 'integer DEFAULT NULL',
  wait_ms: 'integer DEFAULT 200',
};

/** With the rights of the owner, and no name of the caller's. One plan for all: to plan takes longer than to run. */
const FRAME = 'SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan';

const made = (name: string, parameters: string, returns: string, body: string): string =>
  `CREATE OR REPLACE FUNCTION ${name}(${parameters}) RETURNS ${returns} ${FRAME} AS $grantd$\n${body}\n$grantd$`;

/** Whether the mirror has what a caller has to see, and raises what it lacks; and the same after a while. */
function stateFunctions(schema: string): string[] {
  const refusals = refusalsBy('$1', '$2', '$3').map(
    ({ name, code, needs, why }) =>
      `  IF (${needs}) IS NOT TRUE THEN RAISE EXCEPTION '${name}: ${why}' USING ERRCODE = '${code}'; END IF;`,
  );
  const isRead = isReadOf(schema, ['$1', '$2', '$3']);
  const parameters = 'through bigint, at_seq bigint, revision text';
  return [
    made(
      `${schema}.reads`,
      parameters,
      'boolean LANGUAGE plpgsql STABLE',
      `DECLARE p record;
BEGIN
  SELECT * INTO p FROM ${schema}.place;
${refusals.join('\n')}
  RETURN true;
END`,
    ),
    made(
      `${schema}.ready`,
      `${parameters}, wait_ms integer DEFAULT 200`,
      'boolean LANGUAGE plpgsql VOLATILE',
      `DECLARE ends_at timestamptz := clock_timestamp() + least($4, 60000) * interval '1 ms';
BEGIN
  IF ${isRead} THEN RETURN true; END IF;
  -- Unlike a notification, which waits for the end of the transaction, this is seen at once.
  PERFORM nextval('${schema}.asked');
  -- A moment that the mirror has no more does not come back.
  WHILE clock_timestamp() < ends_at AND NOT EXISTS (SELECT FROM ${schema}.place AS p WHERE p.horizon > $2) LOOP
    PERFORM pg_sleep(0.005);
    IF ${isRead} THEN RETURN true; END IF;
  END LOOP;
  RETURN ${schema}.reads($1, $2, $3);
END`,
    ),
  ];
}

type StateArguments = Parameters<typeof refusalsBy>;

const isReadOf = (schema: string, state: StateArguments): string =>
  `EXISTS (SELECT FROM ${schema}.place AS p WHERE ${refusalsBy(...state)
    .map(({ needs }) => needs)
    .join(' AND ')})`;

const truthOf = (value: string): string => `CASE ${value} WHEN 2 THEN true WHEN 0 THEN false END`;

/** Rows of a mirror, at random. */
const SAMPLE_ROWS = 24;
/** Fewer say nothing. */
const SAMPLE_OBJECTS_MIN = 12;
/** About as many as a page has. */
const ROWS_PER_PAGE = 50;
/** Of the objects of a sample, one in so many is enough: there are too many to list in a large mirror. */
const DENSE = 8;
/** So many times as many rows as may be listed make a mirror large. */
const LARGE = 20;

/**
 * Whether somebody holds so much of a large mirror that a list would be too long, by a few objects: to find that out by
 * listing takes as long as a list. `value`: of the object `s.object`.
 */
function isDense(schema: string, namespace: string, { max, value }: { readonly max: string; readonly value: string }) {
  const table = `'${`${schema}.grants`.replaceAll("'", "''")}'::regclass`;
  return `EXISTS (SELECT FROM pg_class AS c WHERE c.oid = ${table} AND c.reltuples > ${LARGE} * ${max}::bigint)
  AND (SELECT count(*) >= ${SAMPLE_OBJECTS_MIN} AND ${DENSE} * count(*) FILTER (WHERE ${value} > 0) >= count(*)
    FROM (SELECT g.object FROM ${schema}.grants AS g WHERE ${isOf('g.object', namespace)} AND g.ctid = ANY (ARRAY(
      SELECT format('(%s,%s)', floor(random() * c.relpages), 1 + floor(random() * ${ROWS_PER_PAGE}))::tid
      FROM pg_class AS c, generate_series(1, ${2 * SAMPLE_ROWS}) WHERE c.oid = ${table})) LIMIT ${SAMPLE_ROWS}) AS s)`;
}

/** `id(object, …)`, NULL if undecided; and `id:objects(…)`: what it is true or NULL of. */
function joinFunctions(schema: string, { id, join }: JoinSet['joins'][number]): string[] {
  const names = (parameters: object): readonly string[] => Object.keys(parameters);
  const state = (parameters: object): StateArguments => {
    const [through = '', seq, time, revision = ''] = ['through', 'at_seq', 'at_time', 'revision'].map(
      (name) => `$${names(parameters).indexOf(name) + 1}`,
    );
    return [through, momentOf(seq, time), revision];
  };
  const [ofObject, ofObjects] = [state(OBJECT_PARAMETERS), state(OBJECTS_PARAMETERS)];
  const [max = '', wait] = ['objects_max', 'wait_ms'].map((name) => `$${names(OBJECTS_PARAMETERS).indexOf(name) + 1}`);
  const value = new JoinSql(join, postgres(schema, names(OBJECT_PARAMETERS))).value('$1', 'up');
  const objects = new JoinSql(join, postgres(schema, names(OBJECTS_PARAMETERS)));
  const sampled = isDense(schema, join.namespace, { max, value: objects.value('s.object', 'up') });
  return [
    made(
      `${schema}.${quotedName(id)}`,
      typed(OBJECT_PARAMETERS),
      'boolean LANGUAGE plpgsql STABLE',
      `BEGIN
  IF NOT ${isReadOf(schema, ofObject)} THEN PERFORM ${schema}.reads(${ofObject.join(', ')}); END IF;
  RETURN ${truthOf(value)};
END`,
    ),
    // Volatile: each statement sees what has been committed when it begins.
    made(
      `${schema}.${quotedName(`${id}:objects`)}`,
      typed(OBJECTS_PARAMETERS),
      'TABLE (object text, sure boolean) LANGUAGE plpgsql VOLATILE',
      `#variable_conflict use_column
BEGIN
  PERFORM ${schema}.ready(${ofObjects.join(', ')}, ${wait});
  IF ${max} IS NOT NULL AND ${sampled} THEN
    RETURN QUERY SELECT NULL::text, NULL::boolean WHERE ${schema}.reads(${ofObjects.join(', ')});
    RETURN;
  END IF;
  RETURN QUERY SELECT found.object, ${truthOf('found.value')} FROM (
${objects.objects(max)}) AS found
  WHERE (SELECT ${schema}.reads(${ofObjects.join(', ')}));
END`,
    ),
  ];
}

/** What makes the functions. `schema`: quoted. */
export const postgresFunctions = (schema: string, { joins }: JoinSet): string[] => [
  ...stateFunctions(schema),
  ...joins.flatMap((each) => joinFunctions(schema, each)),
];

/** A policy that takes the sets from a setting of the transaction. `schema`: quoted. */
export function policyOf(schema: string, { id, join }: JoinSet['joins'][number]): string {
  const sets = `current_setting('grantd.sets')::jsonb`;
  const texts = (name: string): string => `(SELECT ARRAY(SELECT jsonb_array_elements_text(${sets} -> '${name}')))`;
  const own = `${sets} ->> 'own'`;
  const values = [
    ...['subjects', 'held', 'perhaps'].map(texts),
    `(SELECT regexp_replace(${own}, '#[^#]*$', ''))`,
    `(SELECT coalesce(substring(${own} FROM '#([^#]*)$'), ''))`,
    `(SELECT (${sets} #>> '{at,seq}')::bigint)`,
    `(SELECT (1000 * extract(epoch FROM (${sets} #>> '{at,time}')::timestamptz))::bigint)`,
    `(SELECT (${sets} ->> 'through')::bigint)`,
    `(SELECT ${sets} ->> 'tenant_id' || ':' || (${sets} ->> 'revision'))`,
  ];
  return `-- First, in each transaction: SELECT set_config('grantd.sets', '<the response of POST /v1/sets>', true),
-- and SELECT ${schema}.ready(through, at.seq, tenant_id || ':' || revision).
CREATE POLICY ${quotedName(id)} ON ${quotedName(`${join.namespace}s`)} FOR SELECT USING (
  ${schema}.${quotedName(id)}('${join.namespace}:' || id, ${values.join(',\n    ')}) IS TRUE)`;
}
