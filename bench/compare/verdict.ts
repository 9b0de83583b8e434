// What the rounds at one load say of a system. Figures are medians of the rounds that count: those in which the system
// bore the load and the load was sent on time. If these are not most of the rounds, there are no figures.

import { median } from '../statistics.ts';

/** One round at one load. The package load/arrivals says when a load is borne, and when it was sent on time. */
export interface LoadRound {
  /** Right answers. */
  readonly perSecond: number;
  readonly onTimeShare: number;
  readonly isBorne: boolean;
  readonly isPunctual: boolean;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  readonly cpuMicros: number;
  /** Of one processor, that the load itself took. */
  readonly loadShare: number;
  readonly lateP50Ms: number;
  readonly lateP99Ms: number;
  readonly lateMaxMs: number;
  readonly growthMs: number;
  readonly waitedShare: number;
  readonly memoryBytes: number;
  readonly firstFailed?: string;
}

/**
 * The load program uses one processor at a time. When it needs nearly all of it, it may see answers late, and the
 * kernel holds back what has real-time priority.
 */
const LOAD_SHARE_MAX = 0.9;

export interface Verdict {
  readonly kind: 'borne' | 'not borne' | 'unreliable';
  readonly counting: readonly LoadRound[];
  /** The remaining rounds cannot make most of them count. */
  readonly isLost: boolean;
}

const isReliable = ({ isPunctual, loadShare }: LoadRound): boolean => isPunctual && loadShare <= LOAD_SHARE_MAX;

/** `planned`: how many rounds there are at the end. */
export function judgeRounds(rounds: readonly LoadRound[], planned: number): Verdict {
  const reliable = rounds.filter(isReliable);
  const counting = reliable.filter(({ isBorne }) => isBorne);
  const isLost = counting.length + planned - rounds.length <= planned / 2;
  const unborne = reliable.length - counting.length;
  if (counting.length > planned / 2) return { kind: 'borne', counting, isLost };
  return { kind: unborne >= rounds.length - reliable.length ? 'not borne' : 'unreliable', counting, isLost };
}

export const medianOfRounds = (rounds: readonly LoadRound[], of: (round: LoadRound) => number): number =>
  median(rounds.map(of));
