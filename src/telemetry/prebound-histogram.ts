// A histogram for events that happen thousands of times a second. At every observation, prom-client's own builds a
// string from the labels to find its series, and another one to find its bucket. Here a series is looked up once, and
// an observation is an addition. prom-client's registry renders it like any other
// (https://github.com/siimon/prom-client#registry).

import type { Metric, Registry } from 'prom-client';

/** The observations under one set of labels. */
export interface Tally {
  /** Seconds, bytes or any other unit of the histogram. */
  observe(value: number): void;
}

class CountingTally implements Tally {
  readonly labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  /** By bucket, not cumulated; the last one is for values above every bound. */
  readonly counts: number[];
  sum = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  reset(): void {
    this.counts.fill(0);
    this.sum = 0;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

export class TalliedHistogram<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly labelNames: readonly Label[];
  readonly #bounds: readonly number[];
  readonly #tallies = new Map<string, CountingTally>();

  constructor(options: {
    readonly name: string;
    readonly help: string;
    readonly labelNames: readonly Label[];
    /** Upper bounds, ascending. */
    readonly buckets: readonly number[];
    readonly registers: readonly Registry[];
  }) {
    this.name = options.name;
    this.help = options.help;
    this.labelNames = options.labelNames;
    this.#bounds = options.buckets;
    // A registry uses only `name`, `get` and `reset` of a metric; its type names prom-client's own classes.
    for (const registry of options.registers) registry.registerMetric(this as unknown as Metric);
  }

  /** The series with these values, in the order of the labels. Frequent observers should keep it. */
  labels(...values: readonly string[]): Tally {
    const key = values.join('\n');
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      tally = new CountingTally(
        Object.fromEntries(this.labelNames.map((name, index) => [name, values[index] ?? ''])),
        this.#bounds,
      );
      this.#tallies.set(key, tally);
    }
    return tally;
  }

  /** Resets all series to zero. Series that a caller keeps remain valid. */
  reset(): void {
    for (const tally of this.#tallies.values()) tally.reset();
  }

  async get() {
    const { name, help, type, aggregator } = this;
    return {
      name,
      help,
      type,
      aggregator,
      values: [...this.#tallies.values()].flatMap((tally) => this.#samples(tally)),
    };
  }

  #samples({ labels, counts, sum }: CountingTally) {
    let count = 0;
    const buckets = counts.map((each, index) => {
      count += each;
      const le = this.#bounds[index] ?? '+Inf';
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
