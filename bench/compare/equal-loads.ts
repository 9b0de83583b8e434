// The same loads on every system: checks at given rates, at the same random moments for all, whatever becomes of the
// answers. A latency counts from the moment a check was due.

import type { Product, Protocol } from './load-job.ts';
import type { LoadProgram } from './load-program.ts';
import type { System } from './systems/system.ts';
import { type Asked, listAsked, type TaskName, taskOf } from './tasks.ts';
import { type Candidate, type MeasureContext, Turns } from './turns.ts';
import { judgeRounds, type LoadRound } from './verdict.ts';

/** One system by one protocol at one rate, for the record. */
export interface LoadRow {
  readonly system: string;
  readonly product: Product;
  readonly protocol: Protocol;
  /** Checks that are due in a second. */
  readonly rate: number;
  readonly rounds: readonly LoadRound[];
  /** Why it was not measured, or not to the end. */
  readonly dropped?: string;
}

interface Loaded extends Candidate {
  rounds: LoadRound[];
}

/** Between the checks of one round and those of the next: other moments, the same for every system. */
const seedOf = (rate: number, round: number): number => rate * 100 + round;

type Outcome = Awaited<ReturnType<LoadProgram['tryRate']>>;

const toRound = ({ answered, seconds, cpuSeconds, loadCpuSeconds, arrivals, ...rest }: Outcome): LoadRound => ({
  perSecond: answered / seconds,
  onTimeShare: arrivals.onTime / arrivals.due,
  isBorne: arrivals.isBorne,
  isPunctual: arrivals.isPunctual,
  p50Ms: rest.p50Ms,
  p99Ms: rest.p99Ms,
  p999Ms: arrivals.p999Ms,
  maxMs: rest.maxMs,
  cpuMicros: (cpuSeconds * 1e6) / Math.max(1, answered),
  loadShare: loadCpuSeconds / seconds,
  lateP50Ms: arrivals.lateP50Ms,
  lateP99Ms: arrivals.lateP99Ms,
  lateMaxMs: arrivals.lateMaxMs,
  growthMs: arrivals.growthMs,
  waitedShare: arrivals.waited / arrivals.due,
  memoryBytes: rest.memoryBytes,
  ...(rest.firstFailed === undefined ? {} : { firstFailed: rest.firstFailed.slice(0, 200) }),
});

export class EqualLoads {
  readonly #context: MeasureContext;
  readonly #rates: readonly number[];
  readonly #loaded: readonly Loaded[];
  readonly #turns: Turns<Loaded>;

  /** `rates`: in ascending order. */
  constructor(context: MeasureContext, name: TaskName, systems: readonly System[], rates: readonly number[]) {
    this.#context = context;
    this.#rates = rates;
    this.#loaded = listAsked(systems, taskOf(name), context.pace.batchMax).map((asked) => ({ asked, rounds: [] }));
    this.#turns = new Turns(context, name, this.#loaded);
  }

  async run(): Promise<readonly LoadRow[]> {
    const { load, pace } = this.#context;
    await this.#turns.askOnce();
    await this.#turns.each('warming up', async ({ asked }) => {
      await load.run({ ...this.#turns.job(asked), mode: 'saturate', seconds: pace.heatSeconds });
    });
    const rows: LoadRow[] = [];
    for (const rate of this.#rates) {
      for (let round = 1; round <= pace.rounds; round += 1) {
        await this.#turns.each(
          `${rate} /s, round ${round} of ${pace.rounds}`,
          (each) => this.#measure(each, rate, round),
          ({ rounds }) => !judgeRounds(rounds, pace.rounds).isLost,
        );
      }
      rows.push(...this.#loaded.map((each) => this.#take(each, rate)));
    }
    return rows;
  }

  async #measure({ asked, rounds }: Loaded, rate: number, round: number): Promise<void> {
    const { load, pace } = this.#context;
    const { warmUpSeconds, seconds } = pace;
    const schedule = { perSecond: rate, randomGaps: true, seed: seedOf(rate, round) };
    rounds.push(toRound(await load.tryRate({ ...this.#turns.job(asked), warmUpSeconds, seconds, ...schedule })));
  }

  /** Ends the rounds of a rate. A system that has not borne it is not asked for more. */
  #take(each: Loaded, rate: number): LoadRow {
    const { asked, rounds, dropped } = each;
    each.rounds = [];
    if (dropped === undefined && judgeRounds(rounds, this.#context.pace.rounds).kind === 'not borne') {
      each.dropped = `not tried, because ${rate.toLocaleString('en-US')} /s was not borne`;
    }
    return toRow(asked, rate, rounds, dropped);
  }
}

const toRow = (
  { system, channel }: Asked,
  rate: number,
  rounds: readonly LoadRound[],
  dropped: string | undefined,
): LoadRow => ({
  system: system.name,
  product: system.product,
  protocol: channel.protocol,
  rate,
  rounds,
  ...(dropped === undefined ? {} : { dropped }),
});
