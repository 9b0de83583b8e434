// The load of `mixed` for a long time, while one virtual user samples the resident memory of each process. The line
// through the samples of the second half must be level. In the first half, caches fill and memory from the start is
// released.

import { sleep } from 'k6';
import { scenario } from 'k6/execution';
import http from 'k6/http';
import { answersRight, fast, memoryGrowth, memoryMean, memorySlope, nothingLost, readSamples } from './judgement.ts';
import { openTest } from './load-test.ts';
import { fitSlope, readMetric, type Sample } from './memory-slope.ts';
import { askMixture } from './mixture.ts';

const SAMPLES = 120;
/** Short enough that the second half of the shortest run has enough samples for a line. */
const INTERVAL_SECONDS_MIN = 0.1;
const WARM_UP_SHARE = 0.5;
const MIB = 1024 * 1024;

const test = openTest('soak');
const { opsUrls = [], memoryGrowthMax = 0 } = test.settings;
const samples: readonly Sample[][] = opsUrls.map(() => []);
const startTimes: (number | undefined)[] = opsUrls.map(() => undefined);

const processes = opsUrls.map((_, index) => `process:${index + 1}`);

const intervalSeconds = Math.max(INTERVAL_SECONDS_MIN, test.durationSeconds / SAMPLES);

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: {
    soak: test.steady('ask'),
    memory: {
      // A single one, so that it has all samples; it waits between them, and so never drops one.
      executor: 'constant-vus',
      vus: 1,
      duration: `${test.durationSeconds}s`,
      gracefulStop: '0s',
      exec: 'sampleMemory',
    },
  },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks', 'listings', 'writes']),
    ...nothingLost(test.settings, '{scenario:soak}'),
    ...fast(test.settings, ['operation:check', 'operation:list', 'operation:grant', 'operation:revoke']),
    memory_samples: ['rate==1'],
    ...Object.fromEntries(
      processes.map((tag) => [`memory_growth_percent_per_hour{${tag}}`, [`value<=${memoryGrowthMax}`]]),
    ),
    // This threshold requires nothing: k6 reports the measurements of a single process only if they have a threshold.
    ...Object.fromEntries(processes.map((tag) => [`memory_slope_mib_per_hour{${tag}}`, ['value>-1e12']])),
    // 0: there was no line through the samples, so that nothing is known of the growth.
    ...Object.fromEntries(processes.map((tag) => [`memory_mean_mib{${tag}}`, ['value>0']])),
  },
});

export function ask(): void {
  askMixture(test.pickCaller());
}

function readMetrics(url: string): string {
  const answer = http.get(`${url}/metrics`, { tags: { operation: 'metrics', name: 'metrics' }, responseType: 'text' });
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  return answer.body ?? '';
}

/** Throws if it cannot be read, or if the process has been restarted. */
function readMemory(url: string, index: number): number {
  const text = readMetrics(url);
  const started = readMetric(text, 'process_start_time_seconds');
  startTimes[index] ??= started;
  if (started !== startTimes[index]) throw new Error('it was restarted');
  return readMetric(text, 'process_resident_memory_bytes');
}

/** Undefined, with a log line, if it is unknown. */
function tryReadMemory(url: string, index: number): number | undefined {
  try {
    return readMemory(url, index);
  } catch (error) {
    console.error(`The memory of ${url} is unknown: ${error instanceof Error ? error.message : error}.`);
    return undefined;
  }
}

export function sampleMemory(): void {
  const seconds = (Date.now() - scenario.startTime) / 1000;
  for (const [index, url] of opsUrls.entries()) {
    const bytes = tryReadMemory(url, index);
    readSamples.add(bytes !== undefined);
    if (bytes === undefined || seconds < test.durationSeconds * WARM_UP_SHARE) continue;
    samples[index]?.push({ seconds, bytes });
    const slope = fitSlope(samples[index] ?? []);
    if (slope === undefined) continue;
    const tags = { process: String(index + 1) };
    memoryGrowth.add(slope.percentPerHour, tags);
    memorySlope.add(slope.bytesPerHour / MIB, tags);
    memoryMean.add(slope.meanBytes / MIB, tags);
  }
  sleep(intervalSeconds);
}
