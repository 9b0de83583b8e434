// The attacks, with their requirements and what must keep working during each. Each is a program of its own in
// `attacks/`.

import { SMALL_PLAN, SMALL_PLAN_NAME } from './small-plan.ts';

/** What is requested once a second during the attack, on a new connection; it must succeed each time. */
export type Probe = 'readiness' | 'revoke-key' | 'operator';

export interface Attack {
  /** The name of its file, without the extension. */
  readonly name: string;
  readonly summary: string;
  /** The plan of the attacker. */
  readonly plan: string;
  /**
   * The grants of the attacker's tenant: long names, large subjects, groups and folders under rules, gates and
   * conditions, or none.
   */
  readonly tenant: 'long' | 'large' | 'graph' | 'gates' | 'new';
  /** Nothing from the store may be cached. */
  readonly isCold?: boolean;
  /**
   * What another tenant's p99 may be in the benchmark, in one process and in a cluster, where the usual bound is not
   * reached: docs/benchmarks.md says why.
   */
  readonly p99FloorMs?: { readonly embedded?: number; readonly cluster?: number };
  /** The victim uses a new connection for every request. */
  readonly victimReconnects?: boolean;
  readonly probe?: Probe;
  readonly settings?: Readonly<Record<string, string>>;
  /** It concerns the operator's side or a single process, and shows nothing more in a cluster. */
  readonly isEmbeddedOnly?: boolean;
}

export const ATTACKS: readonly Attack[] = [
  {
    name: 'sorted-listings',
    summary: 'listings of 9,990 objects with long common prefixes, each after a write to the subject',
    plan: 'free',
    tenant: 'long',
  },
  {
    name: 'unread-errors',
    summary: 'no key: 1,900 requests at once on each of 400 connections, responses not read',
    plan: 'free',
    tenant: 'long',
  },
  {
    name: 'unread-listings',
    summary: '560 listings of 1,000 objects at once on 4 connections, responses not read',
    plan: 'free',
    tenant: 'long',
    p99FloorMs: { embedded: 100, cluster: 200 },
  },
  {
    name: 'unfinished-bodies',
    summary: '590 bodies of 1 MiB whose last byte never comes',
    plan: 'free',
    tenant: 'long',
    p99FloorMs: { embedded: 125, cluster: 200 },
  },
  {
    name: 'dear-json',
    summary: '150 bodies of 1 MiB of deep or many-shaped JSON',
    plan: 'free',
    tenant: 'long',
    p99FloorMs: { embedded: 50, cluster: 50 },
  },
  {
    name: 'cold-bulk',
    summary: 'a bulk of 100 checks about 100 uncached subjects of 10,000 grants',
    plan: 'free',
    tenant: 'large',
    isCold: true,
  },
  {
    name: 'cold-bulks',
    summary: 'three such bulks at once',
    plan: 'free',
    tenant: 'large',
    isCold: true,
  },
  {
    name: 'cold-checks',
    summary: '300 single checks at once about 300 such subjects',
    plan: 'free',
    tenant: 'large',
    isCold: true,
  },
  {
    name: 'cold-import',
    summary: 'an import of 400 grants of 400 such subjects in one call',
    // Otherwise the plan's limit on grants would refuse the lines unread.
    plan: 'unlimited',
    tenant: 'large',
    isCold: true,
  },
  {
    name: 'idle-ops',
    summary: '110, then 1,000 idle connections on the ops port; the probes still succeed',
    plan: 'free',
    tenant: 'long',
    probe: 'readiness',
  },
  {
    name: 'refused-connections',
    summary: '10,000 connections from one address, each with an occasional 401; the victim opens new ones',
    plan: 'free',
    tenant: 'long',
    victimReconnects: true,
  },
  {
    name: 'leaked-key',
    summary: 'a key without the scope floods /v1/keys; its owner revokes keys',
    plan: 'free',
    tenant: 'long',
    probe: 'revoke-key',
  },
  {
    name: 'cross-site',
    summary: '60 cross-site requests to the console and 512 idle connections; the operator is served',
    plan: 'free',
    tenant: 'long',
    probe: 'operator',
    isEmbeddedOnly: true,
  },
  {
    name: 'grants-beyond-plan',
    summary: 'grants with the longest names beyond the plan: 403 grant-limit-reached',
    plan: SMALL_PLAN_NAME,
    tenant: 'new',
    settings: { GRANTD_PLANS: SMALL_PLAN },
    isEmbeddedOnly: true,
  },
  {
    name: 'dear-requests',
    summary: 'no limit: bulks of 100 and listings of 1,000, back to back on 64 connections',
    plan: 'unlimited',
    tenant: 'long',
    p99FloorMs: { cluster: 100 },
  },
  {
    name: 'many-checks',
    summary: 'no limit: single checks, back to back on 500 connections',
    plan: 'unlimited',
    tenant: 'long',
  },
  {
    name: 'wide-nest',
    summary: 'rules, no limit: a group of 10,000 members in a nest of 24, whose members change between the questions',
    plan: 'unlimited',
    tenant: 'graph',
  },
  {
    name: 'grid-of-folders',
    summary: 'rules, no limit: bulks of 100 and listings through a grid of folders with 9^24 paths',
    plan: 'unlimited',
    tenant: 'graph',
  },
  {
    name: 'nested-gates',
    summary: 'rules, no limit: a gate at each level of a nest of 24 over a group of 10,000, whose members change',
    plan: 'unlimited',
    tenant: 'gates',
  },
  {
    name: 'dear-conditions',
    summary: 'rules, no limit: conditions with nested loops that use every step, with contexts of 32 KiB',
    plan: 'unlimited',
    tenant: 'gates',
  },
  {
    name: 'backtracking',
    summary: 'rules, no limit: patterns that make an engine backtrack, over the longest texts',
    plan: 'unlimited',
    tenant: 'gates',
  },
  {
    name: 'dear-rules',
    summary: 'no limit: rules of 128 KiB, full of gates or of conditions, written back to back',
    plan: 'unlimited',
    tenant: 'new',
  },
];
