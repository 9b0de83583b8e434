// `npm run loadtest`: runs a load scenario with k6 against a running service. It finds the service, creates tenants if
// there are none, provides k6, and ends with the status of k6.

import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { GRANTS_PER_SUBJECT } from '../loadtest/data-set.ts';
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from '../loadtest/scenarios.ts';
import { readSettings, SETTING_ROWS, SETTINGS } from '../loadtest/settings.ts';
import { reasonOf } from '../packages/cli/src/failures.ts';
import type { ServiceTarget } from '../packages/cli/src/service-client.ts';
import { StartError } from '../src/roles/process/start-error.ts';
import { K6Missing, provideK6, runK6 } from './loadtest/k6.ts';
import { describeShards, findLost, readServingShards } from './loadtest/members.ts';
import { removeTenants, seed } from './loadtest/seed.ts';
import { findTarget, type LoadTarget } from './loadtest/target.ts';

const PLAN_DEFAULT = 'unlimited';
const TENANTS_MAX = 1_000_000;
const GRANTS_MAX = 100_000_000;
const STATUS_FAILED = 1;
const STATUS_USAGE = 2;
const STATUS_MISSING = 3;

const { env, stdout, stderr } = process;
const note = (text: string): void => {
  stderr.write(`loadtest: ${text}\n`);
};

/** Aborted at the first interrupt; the process then ends in its own time. */
function listenForInterrupt(): AbortSignal {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort(new Error('Interrupted.')));
  return interruption.signal;
}

interface SeedFlags {
  readonly tenants: number;
  readonly grants: number;
  readonly plan: string;
  readonly file?: string;
}

async function runSeed(target: LoadTarget, { tenants, grants, plan, file }: SeedFlags): Promise<void> {
  const changed = await seed(target.operator(), {
    file: file ?? target.tenantsPath('check'),
    tenants,
    grantsPerTenant: grants,
    plan,
    signal: listenForInterrupt(),
    note,
  });
  if (changed === 0) note('nothing was missing');
}

/** The given settings of the scenario, and those that follow from the service. */
async function completeSettings(
  target: LoadTarget,
  name: ScenarioName,
  given: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const settings = { ...given };
  const { devFile } = target;
  const { baseUrl, tenantsFile, opsUrls } = SETTINGS;
  if (devFile !== undefined) {
    settings[baseUrl.name] ??= devFile.base_url;
    if (opsUrls.scenarios.includes(name)) settings[opsUrls.name] ??= devFile.ops_url;
  }
  // Seeding is useless if another setting is invalid.
  const { problems } = readSettings(name, { [tenantsFile.name]: 'to be filled', ...settings });
  const named = settings[tenantsFile.name];
  // k6 resolves a relative path from its scripts.
  if (named !== undefined) return { ...settings, [tenantsFile.name]: resolve(named) };
  if (problems.length > 0) return settings;
  const file = resolve(target.tenantsPath(name));
  const { tenants, grantsPerTenant } = SCENARIOS[name];
  const signal = listenForInterrupt();
  await seed(target.operator(), { file, tenants, grantsPerTenant, plan: PLAN_DEFAULT, signal, note });
  return { ...settings, [tenantsFile.name]: file };
}

/** Prints the invalid settings; true if there are none. */
function areUsable(name: ScenarioName, settings: Readonly<Record<string, string>>): boolean {
  const { problems } = readSettings(name, settings);
  for (const problem of problems) note(problem);
  if (problems.some((problem) => problem.startsWith(SETTINGS.baseUrl.name))) {
    note('No service was found. Start one with "npm start", set GRANTD_DATA_DIR, or set the settings named above.');
  }
  return problems.length === 0;
}

function findOperator(target: LoadTarget): ServiceTarget | undefined {
  try {
    return target.operator();
  } catch (error) {
    if (error instanceof StartError) return undefined;
    throw error;
  }
}

/** Runs `run`, and reports which shards were lost during it. Without a loss, the test has shown nothing. */
async function withLoss(target: LoadTarget, run: () => Promise<number>): Promise<number> {
  const operator = findOperator(target);
  if (operator === undefined) {
    note('lost shards are not reported, because no operator’s API is named');
    return run();
  }
  const before = await readServingShards(operator);
  note(`serving: ${describeShards(before)}`);
  const status = await run();
  const lost = findLost(before, await readServingShards(operator));
  note(lost.length === 0 ? 'no shard was lost: the run shows nothing about a loss' : `lost: ${describeShards(lost)}`);
  return status === 0 && lost.length === 0 ? STATUS_FAILED : status;
}

async function runScenario(name: ScenarioName, flags: Readonly<Record<string, string>>, further: readonly string[]) {
  const target = findTarget(env);
  const given: Record<string, string> = {};
  for (const [key, text] of Object.entries(env)) if (key.startsWith('LOAD_') && text) given[key] = text;
  const settings = await completeSettings(target, name, { ...given, ...flags });
  if (!areUsable(name, settings)) {
    process.exitCode = STATUS_USAGE;
    return;
  }
  const program = provideK6();
  const run = () => runK6(program, { scenario: name, settings, environment: env, terminal: stdout.isTTY, further });
  process.exitCode = name === 'shard-loss' ? await withLoss(target, run) : await run();
}

/** `LOAD_P99_MS` is also `--p99-ms`. */
const flagOf = (name: string): string => name.slice('LOAD_'.length).toLowerCase().replaceAll('_', '-');

function countParser(max: number, step = 1): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (count >= step && count <= max && count % step === 0) return count;
    const steps = step === 1 ? '' : `, a multiple of ${step}`;
    throw new InvalidArgumentError(`It must be a number from ${step} to ${max}${steps}.`);
  };
}

function addScenario(program: Command, name: ScenarioName): void {
  const options = new Map<string, Option>();
  const command = program.command(name).description(SCENARIOS[name].summary);
  for (const { name: setting, scenarios, form, defaultOf, unset, description } of SETTING_ROWS) {
    if (!scenarios.includes(name)) continue;
    const otherwise = defaultOf(name) ?? unset;
    const text = `${setting}: ${description}${otherwise === undefined ? '' : ` (default: ${otherwise})`}`;
    const option = new Option(`--${flagOf(setting)} <${form}>`, text.replaceAll('`', ''));
    options.set(setting, option);
    command.addOption(option);
  }
  command.argument('[k6...]', 'after "--": passed to k6 unchanged').action(async (further: readonly string[]) => {
    const flags: Record<string, string> = {};
    for (const [setting, option] of options) {
      const text: unknown = command.getOptionValue(option.attributeName());
      if (typeof text === 'string') flags[setting] = text;
    }
    await runScenario(name, flags, further);
  });
}

const program = new Command('loadtest')
  .usage('<scenario> [options] [-- <arguments of k6>]')
  .description('Runs k6 against a running service and checks every response. Ends with the status of k6.')
  .showHelpAfterError('(add --help for the options)')
  .configureHelp({ subcommandTerm: (command) => command.name() })
  .addHelpText(
    'after',
    `
The service is the one that "npm start" runs in this directory, found by its dev.json. For another one, set
GRANTD_OPERATOR_URL and GRANTD_OPERATOR_TOKEN (to seed) and LOAD_BASE_URL. Every setting is a variable and an option;
"<scenario> --help" lists them. Exit status: 0 passed, 99 a threshold failed, 1 k6 did not run, 2 wrong usage; others
are those of k6.

Examples:
  npm run loadtest -- smoke
  npm run loadtest -- check --rate 2000 --duration 1m
  npm run loadtest -- seed --tenants 100 --grants 10000
  npm run loadtest -- soak -- --out json=samples.json`,
  );
for (const name of SCENARIO_NAMES) addScenario(program, name);

const { tenants: tenantsDefault, grantsPerTenant: grantsDefault } = SCENARIOS.check;
program
  .command('seed')
  .description('create tenants with grants through the operator API, and write their keys to a file')
  .option('--tenants <number>', 'number of tenants', countParser(TENANTS_MAX), tenantsDefault)
  .option('--grants <number>', 'for each tenant', countParser(GRANTS_MAX, GRANTS_PER_SUBJECT), grantsDefault)
  .option('--plan <name>', 'the plan of each tenant, with its rate limit', PLAN_DEFAULT)
  .option('--file <path>', 'the file for the keys (default: loadtest.json in the data directory)')
  .action((flags: SeedFlags) => runSeed(findTarget(env), flags));
program
  .command('remove')
  .description('delete the tenants of a file, and the file itself')
  .argument('[file]', 'by default loadtest.json in the data directory')
  .action(async (file: string | undefined) => {
    const target = findTarget(env);
    await removeTenants(target.operator(), file ?? target.tenantsPath('check'), note);
  });
program
  .command('install')
  .description('install k6 and do nothing else')
  .action(() => note(`k6 is ${provideK6()}`));

try {
  await program.parseAsync(process.argv);
} catch (error) {
  note(reasonOf(error));
  process.exitCode = error instanceof K6Missing ? STATUS_MISSING : STATUS_FAILED;
}
