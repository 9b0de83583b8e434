// Evaluation of a call in rounds: a round runs at one moment and at one time of the slot. The grants that it missed are
// loaded, and the next round begins again, each in a turn of its tenant, until one finds everything in memory.

import type { Clock } from '../../core/async/clock.ts';
import { turnOf } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import type { Bound, SearchLimits } from '../../rules/graph.ts';
import type { ServedTenure } from '../log/tenure.ts';
import { LARGE_EVALUATION_BYTES } from '../memory/memory-budget.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { GrantConditions } from './grant-conditions.ts';
import { PageGraph, type Reach } from './page-graph.ts';

/** Bytes that a call keeps of entities that are too large for whole pages: half of its reservation for them. */
export const RANGE_BYTES_MAX = LARGE_EVALUATION_BYTES / 2;
/** Attempts of an evaluation that takes several steps and is interrupted by commits. */
const TRIES = 4;

const CHANGED = 'The grants on which the answer rests change faster than it is evaluated.';
const LOST =
  'The grants on which the answer rests leave the page cache, or change, faster than it is evaluated. Retry later; if that does not help, the service needs a larger page cache.';

/** The tenant of a call. */
export interface CallTenant {
  readonly clock: Clock;
  readonly tenure: ServedTenure;
  readonly memory: TenantMemory;
  /** Throws if no front waits for the answer any more. */
  readonly assertWanted: () => void;
}

export interface RoundOptions {
  /** Estimated bytes of the call while it waits. */
  readonly bytes: number;
  readonly roundsMax: number;
  readonly reach: Reach;
  /** What the first step of a round costs at least. */
  readonly turnMs: number;
}

/**
 * `missing`: the graph has recorded the missing grants. `changed`: a commit has changed a grant that the round rests
 * on. `waits`: it rests on grants that have expired since the log was written.
 */
export type Interruption = 'missing' | 'changed' | 'waits';

/** The rules of the tenant are pinned. `isLastTry`: another commit would end the evaluation. */
type Round<Answer extends object> = (
  graph: PageGraph,
  nowMs: number,
  isLastTry: boolean,
) => Promise<Answer | Interruption>;

/** Rejects with `overloaded`, or as a round does. */
export function evaluateInRounds<Answer extends object>(
  of: CallTenant,
  { bytes, roundsMax, reach, turnMs }: RoundOptions,
  run: Round<Answer>,
): Promise<Answer> {
  const { clock, tenure, memory, assertWanted } = of;
  return tenure.budget.calls.run(memory.tenantId, bytes, clock, async () => {
    using _rules = await memory.rules.pin();
    using graph = new PageGraph(memory, tenure.hotPages, reach, {
      applied: () => tenure.applied(),
      reserve: () => tenure.budget.evaluations.enter(memory.tenantId, LARGE_EVALUATION_BYTES, clock),
    });
    const { slotTime } = tenure;
    let logged = false;
    let tries = 0;
    if (reach.isLarge) await graph.reserve();
    assertWanted();
    for (let round = 0; round < roundsMax && tries < TRIES; round += 1) {
      await takeTurn(of, turnMs);
      // The time is that of the state. At the logged time, too: no commit is later.
      const nowMs = logged ? slotTime.loggedMs : slotTime.nowMs;
      const outcome = await run(graph, nowMs, tries === TRIES - 1);
      assertWanted();
      if (typeof outcome !== 'string') return outcome;
      logged = outcome === 'waits';
      if (graph.isDisplaced) break;
      if (outcome === 'missing') await graph.load(assertWanted);
      else if (outcome === 'changed') tries += 1;
      else await tenure.advance();
      assertWanted();
    }
    throw new GrantdError('overloaded', tries === TRIES ? CHANGED : LOST);
  });
}

/** The next step has a turn of its own. */
export async function takeTurn({ tenure, memory, assertWanted }: CallTenant, costMs: number): Promise<void> {
  await turnOf(tenure.budget.turns, memory.tenantId, costMs);
  assertWanted();
}

const BOUNDS: Readonly<Record<Bound, (limits: SearchLimits) => string>> = {
  depthMax: ({ depthMax }) => `chains of at most ${depthMax} groups and parents`,
  entitiesMax: ({ entitiesMax }) => `at most ${entitiesMax} objects and groups`,
  grantsMax: ({ grantsMax }) => `at most ${grantsMax} grants`,
  entityGrantsMax: ({ entityGrantsMax }) => `at most ${entityGrantsMax} grants of one subject or on one object`,
  charactersMax: ({ charactersMax }) => `objects and groups with at most ${charactersMax} characters`,
};

/** `circle`: what rests on itself; if it is empty, the answer rests on conditions. */
export const undecided = (circle: readonly string[], conditions: GrantConditions | undefined): GrantdError =>
  circle.length === 0 && conditions !== undefined
    ? conditions.refusal()
    : new GrantdError('evaluation-cyclic', `It rests on itself through "but not": ${circle.join(', then ')}.`);

export const tooLarge = (bound: Bound, limits: SearchLimits, what: string): GrantdError =>
  new GrantdError('evaluation-too-large', `${what} may follow ${BOUNDS[bound](limits)}; more would be needed.`);
