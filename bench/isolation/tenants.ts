// The tenants of a run: the victim and the attackers, created by the operator, and the grants that attacks need. These
// are written through the store's adapter, which takes seconds where an import would take minutes.

import { IdFactory, parseTenantId, type TenantId } from '../../src/core/ids.ts';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import type { StateWrite, Store } from '../../src/store/store.ts';
import { forEachAtATime } from '../at-a-time.ts';
import { DataSet } from '../data-set.ts';
import type { PreparedRequest } from '../load/load-job.ts';
import type { Addresses } from '../server/grantd-process.ts';
import { importGrants, type TenantAccess } from '../server/operator.ts';
import { type FilledGrant, GATE_RULES, gateTuples } from './filled-gates.ts';
import {
  GRAPH_RULES,
  graphTuples,
  LARGE_GRANTS_PER_SUBJECT,
  LONG_GRANTS_PER_SUBJECT,
  LONG_SUBJECTS,
  largeTuple,
  longTuple,
  WIDE_GRANTS,
  wideTuple,
} from './filled-grants.ts';
import { callOnce } from './http-call.ts';

const VICTIM_PLAN = 'scale';
const VICTIM_GRANTS = 1000;
const QUESTIONS = 200;
const ROWS_PER_WRITE = 1000;
const WRITES_IN_FLIGHT = 4;
const WRITE_MS_MAX = 60_000;

export interface Attacker extends TenantAccess {
  /** With all scopes: the key of the owner, who is mostly no attacker. */
  readonly adminKey: string;
}

export interface Tenants {
  readonly victim: TenantAccess;
  readonly questions: readonly PreparedRequest[];
  readonly long: Attacker;
  readonly large: Attacker;
  readonly graph: Attacker;
  readonly gates: Attacker;
  readonly largeSubjects: number;
}

export async function callOperator<Body>(
  { console_url, operator_token }: Addresses,
  path: string,
  { method = 'POST', body }: { readonly method?: string; readonly body?: unknown } = {},
): Promise<Body> {
  const response = await callOnce({
    url: `${console_url}/operator/v1${path}`,
    method,
    key: operator_token,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.body}`);
  return JSON.parse(response.body);
}

export async function createAttacker(addresses: Addresses, plan: string): Promise<Attacker> {
  const { tenant_id: tenantId } = await callOperator<{ readonly tenant_id: string }>(addresses, '/tenants', {
    body: { name: 'isolation', plan },
  });
  const keyOf = async (scopes: readonly string[]): Promise<string> => {
    const { key } = await callOperator<{ readonly key: string }>(addresses, `/tenants/${tenantId}/keys`, {
      body: { scopes },
    });
    return key;
  };
  return {
    tenantId,
    key: await keyOf(['check:read', 'grant:write']),
    adminKey: await keyOf(['admin']),
  };
}

export async function createTenants(addresses: Addresses, largeSubjects: number): Promise<Tenants> {
  const victim = await createAttacker(addresses, VICTIM_PLAN);
  const data = new DataSet(VICTIM_GRANTS);
  await importGrants(addresses, victim, data);
  const questions = Array.from({ length: QUESTIONS }, (_, number) => {
    const { tuple, authorized } = data.question(number);
    return { body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},` };
  });
  const long = await createAttacker(addresses, 'free');
  const large = await createAttacker(addresses, 'free');
  const withRules = async (rules: object): Promise<Attacker> => {
    const attacker = await createAttacker(addresses, 'free');
    await callOperator(addresses, `/tenants/${attacker.tenantId}/rules`, { method: 'PUT', body: rules });
    return attacker;
  };
  const [graph, gates] = [await withRules(GRAPH_RULES), await withRules(GATE_RULES)];
  return { victim, questions, long, large, graph, gates, largeSubjects };
}

/** Every grant and the rows that belong to it, by subject. */
function* grantsOf({ long, large, graph, gates, largeSubjects }: Tenants): Generator<readonly [string, FilledGrant]> {
  for (let subject = 0; subject < LONG_SUBJECTS; subject += 1) {
    for (let number = 0; number < LONG_GRANTS_PER_SUBJECT; number += 1) {
      yield [long.tenantId, longTuple(subject, number)];
    }
  }
  for (let number = 0; number < WIDE_GRANTS; number += 1) yield [long.tenantId, wideTuple(number)];
  for (const tuple of graphTuples()) yield [graph.tenantId, tuple];
  for (const grant of gateTuples()) yield [gates.tenantId, grant];
  for (let subject = 0; subject < largeSubjects; subject += 1) {
    for (let number = 0; number < LARGE_GRANTS_PER_SUBJECT; number += 1) {
      yield [large.tenantId, largeTuple(subject, number)];
    }
  }
}

function tenantIdOf(text: string): TenantId {
  const id = parseTenantId(text);
  if (id === undefined) throw new Error(`${text} is no tenant id.`);
  return id;
}

function* batchesOf(tenants: Tenants): Generator<readonly StateWrite[]> {
  const ids = new IdFactory(systemClock, systemRandom);
  const createdAtMs = systemClock.wallMs();
  // No newer than later writes.
  const stamp = createdAtMs * 1000;
  let batch: StateWrite[] = [];
  let subject = '';
  for (const [text, grant] of grantsOf(tenants)) {
    const tenantId = tenantIdOf(text);
    if (grant.subject !== subject) {
      subject = grant.subject;
      batch.push({ kind: 'subject', tenantId, subject, stamp });
    }
    batch.push({ kind: 'grant', tenantId, ...grant, grantId: ids.create('grt'), createdAtMs, tombstone: false, stamp });
    if (batch.length < ROWS_PER_WRITE) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Writes to the tables behind the service, which must not have any of these subjects in memory. */
export async function fillStore(store: Store, tenants: Tenants): Promise<void> {
  await forEachAtATime(batchesOf(tenants), WRITES_IN_FLIGHT, (batch) =>
    store.writeState(batch, systemClock.monotonicMs() + WRITE_MS_MAX),
  );
}
