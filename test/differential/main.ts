// `npm run fuzz -- rules`: asks grantd and the definition of rules the same random questions about random rules and
// grants; `npm run fuzz -- models` asks grantd, OpenFGA and SpiceDB about random models in the language of the peer;
// `npm run fuzz -- conditions` asks grantd and cel-go for the values of random expressions. Ends with status 0 if all
// answers agree, with 1 after a difference, with 2 if the arguments are wrong, and with 3 if a peer is not available on
// this machine.

import { Command, InvalidArgumentError, Option } from 'commander';
import { installTool } from '../../bench/compare/tools.ts';
import { compareAll } from './compare.ts';
import { answerOfGrantd, CelGo } from './conditions/answers.ts';
import { compareConditions, renderConditionRun } from './conditions/compare.ts';
import { GrantdSystem } from './grantd.ts';
import { compareModels, renderModelRun } from './models/compare.ts';
import type { Dialect } from './models/model.ts';
import { GrantdModels, MODEL_PEERS, startModelPeer } from './models/systems.ts';
import { MUTATIONS, withMutation } from './mutations.ts';
import { NaiveSystem } from './naive.ts';
import { renderDifference, renderRun } from './render.ts';
import { shrink } from './shrink.ts';

const QUESTIONS_DEFAULT = 10_000;
const SEED_MAX = 2 ** 32;
const PROGRESS_MS = 5000;
const STATUS_DIFFERENCE = 1;
const STATUS_USAGE = 2;
const STATUS_MISSING = 3;

interface Options {
  readonly seed: number;
  readonly questions: number;
  readonly case?: number;
}

function parseNumber(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (number < 0 || number > SEED_MAX) throw new InvalidArgumentError(`It is a whole number from 0 to ${SEED_MAX}.`);
  return number;
}

function parsePeers(text: string): readonly Dialect[] {
  const names = text.split(',').map((each) => MODEL_PEERS.find((name) => name === each));
  const known = names.filter((name) => name !== undefined);
  if (known.length < names.length) throw new InvalidArgumentError(`Some of ${MODEL_PEERS.join(', ')}, with commas.`);
  return [...new Set(known)];
}

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const progress = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

async function runRules({
  seed,
  questions,
  case: only,
  mutation: named,
}: Options & { readonly mutation?: string }): Promise<void> {
  const grantd = await GrantdSystem.start();
  const definition = new NaiveSystem();
  const mutation = MUTATIONS.find(({ name }) => name === named);
  const own = mutation === undefined ? grantd : withMutation(grantd, mutation);
  const startMs = performance.now();
  let shownMs = startMs;
  const onCase = (number: number, asked: number): void => {
    if (performance.now() - shownMs < PROGRESS_MS) return;
    shownMs = performance.now();
    progress(`${((shownMs - startMs) / 1000).toFixed(0).padStart(5)} s  case ${number}: ${asked} of ${questions}`);
  };
  print(`seed ${seed}`);
  const result = await compareAll(own, definition, { seed, questions, only, onCase });
  print(renderRun(result, (performance.now() - startMs) / 1000));
  const { difference } = result;
  if (difference === undefined) print('No difference.');
  else {
    process.exitCode = STATUS_DIFFERENCE;
    progress('a difference: making it smaller');
    print(renderDifference(difference, await shrink(own, definition, difference), seed));
  }
  await grantd.stop();
}

async function runModels({
  seed,
  questions,
  peers,
  case: only,
}: Options & { readonly peers: readonly Dialect[] }): Promise<void> {
  print(`seed ${seed}`);
  const own = await GrantdModels.start();
  for (const dialect of MODEL_PEERS.filter((each) => peers.includes(each))) {
    const peer = await startModelPeer(dialect);
    if (peer === undefined) {
      process.exitCode = STATUS_MISSING;
      continue;
    }
    try {
      const startMs = performance.now();
      const result = await compareModels(own, peer, { seed, questions, dialect, only });
      print(`${renderModelRun(dialect, result)}\n${((performance.now() - startMs) / 1000).toFixed(0)} s`);
      print(result.difference ?? 'No difference that is not explained.');
      if (result.difference !== undefined) process.exitCode = STATUS_DIFFERENCE;
    } finally {
      await peer.stop();
    }
  }
  await own.stop();
}

async function runConditions({ seed, questions }: Pick<Options, 'seed' | 'questions'>): Promise<void> {
  const celGoProgram = installTool('cel-go');
  if (celGoProgram === undefined) {
    process.exitCode = STATUS_MISSING;
    return;
  }
  print(`seed ${seed}`);
  const startMs = performance.now();
  await using celGo = new CelGo(celGoProgram);
  const result = await compareConditions(answerOfGrantd, celGo, { seed, questions });
  print(`${renderConditionRun(result)}\n${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  print(result.difference ?? 'No difference that is not documented.');
  if (result.difference !== undefined) process.exitCode = STATUS_DIFFERENCE;
}

const program = new Command('fuzz')
  .description('Differential tests: grantd must give the answers of its definition and its peers.')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : STATUS_USAGE));
program
  .command('rules')
  .description('random rules, grants and questions: checks, lists of objects, lists of subjects')
  .option('--seed <number>', 'of the run; the same seed asks the same', parseNumber, Date.now() % SEED_MAX)
  .option('--questions <count>', 'at least', parseNumber, QUESTIONS_DEFAULT)
  .option('--case <number>', 'only this case of the run', parseNumber)
  .addOption(new Option('--mutation <name>', 'gives grantd a fault').choices(MUTATIONS.map(({ name }) => name)))
  .action(runRules);
program
  .command('models')
  .description('random models in the languages of OpenFGA and SpiceDB, with gates and conditions')
  .option('--seed <number>', 'of the run; the same seed asks the same', parseNumber, Date.now() % SEED_MAX)
  .option('--questions <count>', 'that each peer is asked, at least', parseNumber, QUESTIONS_DEFAULT)
  .option('--peers <names>', `some of ${MODEL_PEERS.join(', ')}`, parsePeers, MODEL_PEERS)
  .option('--case <number>', 'only this case of the run', parseNumber)
  .action(runModels);
program
  .command('conditions')
  .description('random conditions: their values, errors and missing parameters')
  .option('--seed <number>', 'of the run; the same seed asks the same', parseNumber, Date.now() % SEED_MAX)
  .option('--questions <count>', 'that both are asked', parseNumber, QUESTIONS_DEFAULT)
  .action(runConditions);
await program.parseAsync();
