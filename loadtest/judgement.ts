// The verdict on a run: the measurements, and their thresholds. Positive and negative checks are separate, because a
// service that always says yes, or always no, has every check of one kind right. A wrong answer ends the run within two
// seconds.

import { Gauge, Rate } from 'k6/metrics';
import type { Threshold } from 'k6/options';
import type { LoadSettings } from './settings.ts';

export const OPERATIONS = ['check', 'bulk', 'list', 'grant', 'revoke'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The share of decided answers that are right. A failed request decides nothing. */
export const rightPositives = new Rate('positive_checks');
export const rightNegatives = new Rate('negative_checks');
export const rightListings = new Rate('listings');
/** Wrong: a write whose response says that it changed nothing, or a later check that does not see the write. */
export const rightWrites = new Rate('writes');
/** The share of requests without a response, or with an error. */
export const failedRequests = new Rate('failed_requests');

/** Whether the memory of a process could be read. */
export const readSamples = new Rate('memory_samples');
export const memoryGrowth = new Gauge('memory_growth_percent_per_hour');
export const memorySlope = new Gauge('memory_slope_mib_per_hour');
export const memoryMean = new Gauge('memory_mean_mib');

export type Judged = 'positive_checks' | 'negative_checks' | 'listings' | 'writes';
type Thresholds = Record<string, Threshold[]>;

/** `kinds`: the kinds of answers that must occur, all of them right. */
export function answersRight(kinds: readonly Judged[]): Thresholds {
  return Object.fromEntries(kinds.map((kind) => [kind, [{ threshold: 'rate==1', abortOnFail: true }]]));
}

/** No request may fail, except for the share that the settings allow, and none may start too late. */
export function nothingLost({ failedMax = 0 }: LoadSettings, tags = ''): Thresholds {
  return { [`failed_requests${tags}`]: [`rate<=${failedMax}`], dropped_iterations: ['count==0'] };
}

/** `parts`: operations, or other tags of requests such as `phase:after`. */
export function fast({ p99Ms }: LoadSettings, parts: readonly string[]): Thresholds {
  return Object.fromEntries(parts.map((part) => [`http_req_duration{${part}}`, [`p(99)<${p99Ms}`]]));
}
