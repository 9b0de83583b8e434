// Asks tables of a real Postgres with filters of the TypeScript client: for each question of its standard input, a line
// of JSON, it writes a line with the ids of the rows that pass. `filter-run.ts` asks and judges.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import {
  type Filter,
  type FilterOptions,
  Grantd,
  GrantdError,
  MirrorError,
} from '../../../clients/typescript/src/exports.ts';
import { PostgresDatabase } from '../../../packages/sync/src/postgres-database.ts';

interface Question {
  readonly table: string;
  readonly subject: string;
  readonly name: string;
  readonly options: Omit<FilterOptions, 'query'>;
}

const grantd = new Grantd();
const database = await PostgresDatabase.open(process.env.FILTER_DATABASE ?? '', 'public');
const query = (sql: string, params: readonly string[]) => database.run(sql, ...params);

/** A query builder: the texts and values of a template, numbered from a parameter on. */
const sqlFrom =
  (first: number) =>
  (texts: TemplateStringsArray, ...values: readonly string[]) => ({
    sql: texts.reduce((sql, text, index) => `${sql}$${first + index - 1}${text}`),
    values,
  });

async function passing(table: string, filter: Filter): Promise<readonly unknown[]> {
  const idsOf = async (condition: string, params: readonly string[]) => {
    const sql = `SELECT d.id::text FROM ${table} d WHERE d.archived = $1 AND ${condition}`;
    return (await query(sql, ['false', ...params])).map(({ id }) => id);
  };
  const ids = await idsOf(filter.sql, filter.params);
  const { sql, values } = filter.as(sqlFrom(2));
  assert.deepEqual((await idsOf(sql, values)).sort(), ids.toSorted());
  return ids;
}

async function answerTo({ table, subject, name, options }: Question): Promise<object> {
  try {
    const filter = await grantd.filter(subject, name, { ...options, query, firstParameter: 2 });
    return { ids: await passing(table, filter), form: filter.form };
  } catch (error) {
    if (error instanceof MirrorError) return { mirror: error.reason };
    if (error instanceof GrantdError) return { error: error.type };
    if (error instanceof Error && 'code' in error) return { sqlstate: error.code };
    throw error;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answerTo(JSON.parse(line)))}\n`);
}
