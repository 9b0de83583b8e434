// `npm run fuzz -- rules`: asks grantd, OpenFGA and SpiceDB the same random questions about the same random rules and
// grants; `npm run fuzz -- models`, about random models in the language of the peer; `npm run fuzz -- conditions` asks
// grantd and cel-go for the values of random expressions. Ends with status 0 if all answers
// agree, with 1 after a difference, with 2 if the arguments are wrong, and with 3 if a peer is not available on this
// machine.

import { Command, InvalidArgumentError, Option } from 'commander';
import { installTool } from '../../bench/compare/tools.ts';
import { compareAll, type RunResult } from './compare.ts';
import { answerOfGrantd, CelGo } from './conditions/answers.ts';
import { compareConditions, renderConditionRun } from './conditions/compare.ts';
import { compareModels, renderModelRun } from './models/compare.ts';
import { MODEL_PEERS, startModelPeer } from './models/peers.ts';
import { GrantdModels } from './models/systems.ts';
import { MUTATIONS, withMutation } from './mutations.ts';
import { renderDifference, renderRun } from './render.ts';
import { shrink } from './shrink.ts';
import { PEER_NAMES, type PeerName, startSystems } from './systems.ts';

const QUESTIONS_DEFAULT = 10_000;
const SEED_MAX = 2 ** 32;
const PROGRESS_MS = 5000;
const STATUS_DIFFERENCE = 1;
const STATUS_USAGE = 2;
const STATUS_MISSING = 3;

interface Options {
  readonly seed: number;
  readonly questions: number;
  readonly peers: readonly PeerName[];
  readonly case?: number;
  readonly mutation?: string;
}

function parseNumber(text: string): number {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (number < 0 || number > SEED_MAX) throw new InvalidArgumentError(`It is a whole number from 0 to ${SEED_MAX}.`);
  return number;
}

function parsePeers(text: string): readonly PeerName[] {
  const names = text.split(',').map((each) => PEER_NAMES.find((name) => name === each));
  const known = names.filter((name) => name !== undefined);
  if (known.length < names.length) throw new InvalidArgumentError(`Some of ${PEER_NAMES.join(', ')}, with commas.`);
  return [...new Set(known)];
}

const print = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
const progress = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

async function run(options: Options): Promise<void> {
  const { seed, questions, case: only } = options;
  progress(`starting grantd, ${options.peers.join(', ')}`);
  await using systems = await startSystems(options.peers);
  const { peers, missing } = systems;
  if (missing.length > 0) {
    progress(`This machine does not have ${missing.join(' and ')}; the reason is above.`);
    process.exitCode = STATUS_MISSING;
    if (peers.length === 0) return;
  }
  const mutation = MUTATIONS.find(({ name }) => name === options.mutation);
  const own = mutation === undefined ? systems.own : withMutation(systems.own, mutation);
  const startMs = performance.now();
  let shownMs = startMs;
  const onCase = (number: number, asked: number): void => {
    if (performance.now() - shownMs < PROGRESS_MS) return;
    shownMs = performance.now();
    progress(`${((shownMs - startMs) / 1000).toFixed(0).padStart(5)} s  case ${number}: ${asked} of ${questions}`);
  };
  print(`seed ${seed}`);
  const result: RunResult = await compareAll(own, peers, { seed, questions, only, onCase });
  print(renderRun(result, (performance.now() - startMs) / 1000));
  const { difference } = result;
  if (difference === undefined) {
    print('No difference.');
    return;
  }
  process.exitCode = STATUS_DIFFERENCE;
  progress('a difference: making it smaller');
  print(await renderDifference(difference, await shrink(own, difference.peer, difference), seed));
}

async function runModels({ seed, questions, peers, case: only }: Options): Promise<void> {
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
  .description('Differential tests: grantd and its peers must give the same answers.')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : STATUS_USAGE));
program
  .command('rules')
  .description('random rules, grants and questions: checks, lists of objects, lists of subjects')
  .option('--seed <number>', 'of the run; the same seed asks the same', parseNumber, Date.now() % SEED_MAX)
  .option('--questions <count>', 'that each peer is asked, at least', parseNumber, QUESTIONS_DEFAULT)
  .option('--peers <names>', `some of ${PEER_NAMES.join(', ')}`, parsePeers, ['openfga', 'spicedb'])
  .option('--case <number>', 'only this case of the run', parseNumber)
  .addOption(new Option('--mutation <name>', 'gives grantd a fault').choices(MUTATIONS.map(({ name }) => name)))
  .action(run);
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
