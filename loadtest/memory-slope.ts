// Whether memory stays level: the best straight line through the samples of a process, by least squares. Imports
// nothing.

export interface Sample {
  readonly seconds: number;
  readonly bytes: number;
}

export interface Slope {
  readonly meanBytes: number;
  readonly bytesPerHour: number;
  /** Percent of the mean. */
  readonly percentPerHour: number;
}

/** Fewer samples mean nothing. */
const SAMPLES_MIN = 3;
const SECONDS_PER_HOUR = 3600;

/** Undefined if there are too few samples, or all are from one moment. */
export function fitSlope(samples: readonly Sample[]): Slope | undefined {
  if (samples.length < SAMPLES_MIN) return undefined;
  const mean = (value: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + value(sample), 0) / samples.length;
  const meanSeconds = mean(({ seconds }) => seconds);
  const meanBytes = mean(({ bytes }) => bytes);
  let products = 0;
  let squares = 0;
  for (const { seconds, bytes } of samples) {
    products += (seconds - meanSeconds) * (bytes - meanBytes);
    squares += (seconds - meanSeconds) ** 2;
  }
  if (squares === 0 || meanBytes === 0) return undefined;
  const bytesPerHour = (products / squares) * SECONDS_PER_HOUR;
  return { meanBytes, bytesPerHour, percentPerHour: (bytesPerHour / meanBytes) * 100 };
}

/**
 * A metric without labels, or with only the labels of every metric, from the text of /metrics. Throws if it is missing.
 */
export function readMetric(text: string, name: string): number {
  const found = new RegExp(`^${name}(?:\\{[^}\\n]*\\})? (\\S+)$`, 'm').exec(text)?.[1];
  if (found === undefined) throw new Error(`its metrics do not contain ${name}`);
  return Number(found);
}
