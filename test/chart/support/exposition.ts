// What `/metrics` serves, as Prometheus reads it: https://prometheus.io/docs/instrumenting/exposition_formats/

export interface Family {
  readonly type: string;
  readonly help: string;
  /** Label to the values that were seen. */
  readonly labels: ReadonlyMap<string, ReadonlySet<string>>;
  /** Of its series: its own, or those of a histogram. */
  readonly series: ReadonlySet<string>;
}

interface GrowingFamily extends Omit<Family, 'labels'> {
  readonly labels: Map<string, Set<string>>;
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/** Series name to its family; every series that a family can have, also one without a sample yet. */
export function parseExposition(text: string): ReadonlyMap<string, Family> {
  const helps = new Map<string, string>();
  const bySeries = new Map<string, GrowingFamily>();
  for (const line of text.split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') helps.set(name, rest);
    if (keyword === 'TYPE') {
      const series = new Set((SUFFIXES[rest] ?? ['']).map((suffix) => `${name}${suffix}`));
      const family: GrowingFamily = {
        type: rest,
        help: helps.get(name) ?? '',
        labels: new Map<string, Set<string>>(),
        series,
      };
      for (const each of series) bySeries.set(each, family);
    }
    if (line.startsWith('#')) continue;
    const [, sample = '', labels = ''] = /^([a-z_0-9]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    const known = bySeries.get(sample)?.labels;
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      const values = known?.get(label) ?? new Set<string>();
      known?.set(label, values.add(value));
    }
  }
  return bySeries;
}
