// A histogram for what happens thousands of times a second. prom-client's own finds its series by a text that it makes
// of the labels, and its bucket by another, at every observation; here a series is looked up once and an observation is
// an addition. It is rendered by prom-client's registry like any other
// (https://github.com/siimon/prom-client#registry).

import type { Metric, Registry } from 'prom-client';

/** The observations under one set of labels. */
export interface Tally {
  /** Seconds, bytes or whatever the histogram counts. */
  observe(value: number): void;
}

class CountingTally implements Tally {
  readonly labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  /** By bucket, not cumulated; the last is for what is above every bound. */
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
    // A registry asks a metric for `name`, `get` and `reset`; the type names prom-client's own classes.
    for (const registry of options.registers) registry.registerMetric(this as unknown as Metric);
  }

  /** The series of these values, in the order of the labels. To be kept by whoever observes often. */
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

  /** All series to nothing. Those who keep one go on with it. */
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
