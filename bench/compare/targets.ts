// grantd's targets relative to its peers: how many times less or more, by the medians of one run. For each figure
// separately, the better store and protocol of each peer counts.

import type { Figure } from '../figure.ts';
import type { Product, Protocol } from './load-job.ts';
import { medianOf, type Round, type Series } from './measurement.ts';
import type { TaskName } from './tasks.ts';

/** The measurements with one number of grants. */
export type Results = Partial<Readonly<Record<TaskName, readonly Series[]>>>;

const PEERS = ['openfga', 'spicedb'] as const satisfies readonly Product[];
/** The first of grantd's own systems is compared with the peers. */
const OWN: Product = 'grantd';

type Reading = (round: Round) => number;
const cpu: Reading = ({ cpuMicros }) => cpuMicros;
const p99: Reading = ({ p99Ms }) => p99Ms;
const rate: Reading = ({ perSecond }) => perSecond;

interface Wanted {
  readonly title: string;
  readonly task: TaskName;
  readonly rounds: 'saturated' | 'half';
  readonly of: Reading;
  readonly better: 'less' | 'more';
  /** The factor to reach. Undefined: no target. */
  readonly times?: number;
  readonly against: readonly { readonly product: Product; readonly protocol?: Protocol; readonly times?: number }[];
}

const allPeers = PEERS.map((product) => ({ product }));

/** At saturation. `times`: how many times less; undefined: no target. */
const cpuTarget = (title: string, task: TaskName, times?: number): Wanted => ({
  title,
  task,
  rounds: 'saturated',
  of: cpu,
  better: 'less',
  against: allPeers,
  ...(times === undefined ? {} : { times }),
});

const WANTED: readonly Wanted[] = [
  ...(['wide', 'deep'] as const).flatMap((task): readonly Wanted[] => [
    {
      title: `CPU per single check (${task})`,
      task,
      rounds: 'saturated',
      of: cpu,
      better: 'less',
      times: 6,
      against: [
        { product: 'openfga', protocol: 'http' },
        { product: 'openfga', protocol: 'grpc', times: 3 },
        { product: 'spicedb' },
        { product: 'echo' },
      ],
    },
    {
      title: `p99 of a check at half of saturation (${task})`,
      task,
      rounds: 'half',
      of: p99,
      better: 'less',
      times: 2,
      against: allPeers,
    },
  ]),
  cpuTarget('CPU per single check never asked before', 'new'),
  cpuTarget('CPU per check in batches', 'batch', 20),
  cpuTarget('CPU per check in batches about one subject', 'filter', 20),
  cpuTarget('CPU of listing 1,000 objects', 'list', 5),
  cpuTarget('CPU of listing 1,000 subjects', 'subjects', 5),
  cpuTarget('CPU per check by rules', 'ruled', 6),
  cpuTarget('CPU per check by rules, never asked before', 'ruled-new', 20),
  cpuTarget('CPU of listing 1,000 objects by rules', 'ruled-list', 5),
  cpuTarget('CPU of listing 1,000 subjects by rules', 'ruled-subjects', 5),
  cpuTarget('CPU per check through a gate', 'gated', 5),
  cpuTarget('CPU per check through a gate, never asked before', 'gated-new', 15),
  cpuTarget('CPU of listing 1,000 of 10,000 objects behind a gate', 'gated-list', 5),
  cpuTarget('CPU per check through a condition', 'conditional', 5),
  cpuTarget('CPU per check through a condition, with new values', 'conditional-new', 5),
  {
    title: 'durable writes a second',
    task: 'write',
    rounds: 'saturated',
    of: rate,
    better: 'more',
    times: 3,
    against: allPeers,
  },
  {
    title: 'durable grants a second, 100 in a call',
    task: 'bulk-write',
    rounds: 'saturated',
    of: rate,
    better: 'more',
    against: allPeers,
  },
];

/** The bare echo is no peer: grantd does more, but must not cost much more. */
const ECHO_TIMES_MAX = 1.5;

interface Candidate {
  readonly series: Series;
  readonly rounds: readonly number[];
  readonly value: number;
}

function candidatesOf(wanted: Wanted, series: readonly Series[]): readonly Candidate[] {
  return series
    .filter((each) => each[wanted.rounds].length > 0)
    .map((each) => ({
      series: each,
      rounds: each[wanted.rounds].map(wanted.of),
      value: medianOf(each[wanted.rounds], wanted.of),
    }));
}

function bestOf({ better }: Wanted, found: readonly Candidate[]): Candidate | undefined {
  const ascending = found.toSorted((left, right) => left.value - right.value);
  return better === 'less' ? ascending[0] : ascending.at(-1);
}

function divide(upper: Candidate, lower: Candidate): Pick<Figure, 'value' | 'rounds' | 'unit'> {
  const pairs = upper.rounds.slice(0, lower.rounds.length);
  return {
    value: upper.value / lower.value,
    unit: '×',
    rounds: pairs.map((value, index) => value / (lower.rounds[index] ?? Number.NaN)),
  };
}

function figuresOf(wanted: Wanted, series: readonly Series[]): readonly Figure[] {
  const found = candidatesOf(wanted, series);
  const own = found.find((each) => each.series.product === OWN);
  if (own === undefined) return [];
  return wanted.against.flatMap(({ product, protocol, times = wanted.times }): readonly Figure[] => {
    const rivals = found.filter(
      ({ series }) => series.product === product && (protocol === undefined || series.protocol === protocol),
    );
    const best = bestOf(wanted, rivals);
    if (best === undefined) return [];
    const { system, protocol: by, batch } = best.series;
    const rival = `${system}, ${by}${batch === undefined ? '' : `, ${batch}`}`;
    if (product === 'echo') {
      const name = `${wanted.title}: grantd ÷ ${rival}`;
      return [{ name, ...divide(own, best), target: { kind: 'at most', value: ECHO_TIMES_MAX } }];
    }
    const [name, ratio] =
      wanted.better === 'less' ? [`${rival} ÷ grantd`, divide(best, own)] : [`grantd ÷ ${rival}`, divide(own, best)];
    const target = times === undefined ? {} : { target: { kind: 'at least', value: times } as const };
    return [{ name: `${wanted.title}: ${name}`, ...ratio, ...target }];
  });
}

/** In the order of the table above, without figures that were not measured. */
export function compareWithPeers(results: Results): readonly Figure[] {
  return WANTED.flatMap((wanted) => figuresOf(wanted, results[wanted.task] ?? []));
}
