// `grantd apply`: makes tenants as a file declares them. Applied twice, it changes nothing the second time.

import { type Command, InvalidArgumentError } from 'commander';
import { applyChanges } from '../apply/apply-changes.ts';
import { type Changes, changesJson, countKeys, isNothing, lossOf, renderChanges, summaryOf } from '../apply/changes.ts';
import { type DeclaredTenant, parseDeclaration } from '../apply/declaration.ts';
import { demandDataKeys, type KeySink, openKeyFile, openKeySecret } from '../apply/key-sink.ts';
import { findChanges, readPlans } from '../apply/present-state.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples, confirm, JSON_OPTION, YES_OPTION } from '../command-parts.ts';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import { openSource, readWhole } from '../import/import-source.ts';
import { renderJson } from '../output/render.ts';
import { describeRetry } from '../retries.ts';
import { openKubernetesSecrets } from '../secrets/kubernetes-secrets.ts';
import type { ServiceClient } from '../service-client.ts';
import { outsideTypesOption } from '../tenant-rules.ts';
import { YAML_BYTES_MAX } from '../yaml-file.ts';

/** Default of --prune-max: a file that was cut off must not delete every tenant. */
const PRUNED_TENANTS_DEFAULT = 10;
const PRUNED_TENANTS_MAX = 100_000;

interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

interface ApplyOptions {
  readonly file: string;
  readonly prune?: boolean;
  readonly pruneMax: number;
  readonly keysFile?: string;
  readonly keysSecret?: SecretName;
  readonly outsideTypes?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

function parsePruneMax(text: string): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (count < 0 || count > PRUNED_TENANTS_MAX) {
    throw new InvalidArgumentError(`It must be a number from 0 to ${PRUNED_TENANTS_MAX}.`);
  }
  return count;
}

function parseSecretName(text: string): SecretName {
  const [, namespace, name] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined) throw new InvalidArgumentError('It must be NAMESPACE/NAME.');
  return { namespace, name };
}

async function readFile(context: CliContext, file: string): Promise<Buffer> {
  try {
    const bytes = await readWhole((await openSource(context, file)).source, YAML_BYTES_MAX);
    if (bytes !== undefined) return bytes;
    throw new Error(`it is longer than ${YAML_BYTES_MAX / (1024 * 1024)} MiB`);
  } catch (cause) {
    throw new CliFailure(`Cannot read ${file}: ${reasonOf(cause)}.`, EXIT.failed, { cause });
  }
}

/** Refuses likely mistakes before anything is changed. */
function demandSafe(declared: readonly DeclaredTenant[], changes: Changes, options: ApplyOptions): void {
  const { prune, pruneMax, keysFile, keysSecret } = options;
  if (prune && declared.length === 0) {
    throw new CliFailure(`${options.file} declares no tenant: --prune would delete all of them. Nothing was changed.`);
  }
  if (changes.deleted.length > pruneMax) {
    throw new CliFailure(
      `--prune would delete ${changes.deleted.length} tenants, and --prune-max allows ${pruneMax}. Nothing was changed.`,
    );
  }
  const created = countKeys(changes, 'createdKeys');
  if (created > 0 && keysFile === undefined && keysSecret === undefined && !options.dryRun) {
    throw new CliFailure(
      `${created === 1 ? 'A key is' : `${created} keys are`} to be created, and a key is shown only once: say where it goes, with --keys-file or --keys-secret. Nothing was changed.`,
    );
  }
}

async function openSink(options: ApplyOptions): Promise<KeySink> {
  const { keysFile, keysSecret } = options;
  if (keysSecret === undefined) return openKeyFile(keysFile ?? '');
  const store = await openKubernetesSecrets({ namespace: keysSecret.namespace, labels: {} });
  return openKeySecret(store, keysSecret.name);
}

async function makeChanges(
  context: CliContext,
  client: ServiceClient,
  changes: Changes,
  options: ApplyOptions,
): Promise<void> {
  const sink = countKeys(changes, 'createdKeys') > 0 ? await openSink(options) : undefined;
  const all = changes.tenants.length + changes.deleted.length;
  let done = 0;
  try {
    await context.untilInterrupted((signal) =>
      applyChanges(client, changes, {
        sink,
        outsideTypes: options.outsideTypes,
        signal,
        onRetry: (...retry) => context.note(describeRetry(...retry)),
        onDone: () => {
          done += 1;
        },
      }),
    );
  } catch (error) {
    context.note(`Stopped after ${done} of ${all} tenants. Run the same command again: it goes on from here.`);
    throw error;
  } finally {
    await sink?.close();
  }
}

async function apply(context: CliContext, options: ApplyOptions): Promise<number> {
  const { file, json = false, dryRun = false, prune = false } = options;
  if (options.keysFile !== undefined && options.keysSecret !== undefined) {
    throw new CliFailure('Pass --keys-file or --keys-secret, not both.', EXIT.usage);
  }
  const bytes = await readFile(context, file);
  const client = context.connect();
  const declared = await parseDeclaration(file, bytes, await readPlans(client));
  if (options.keysSecret !== undefined) demandDataKeys(declared);
  const changes = await findChanges(client, declared, prune);
  const isDone = isNothing(changes);
  if (!json) context.print(isDone ? 'no change' : renderChanges(changes));
  if (!isDone) demandSafe(declared, changes, options);
  if (!isDone && !dryRun) {
    const loss = lossOf(changes);
    if (loss !== undefined && !options.yes) await confirm(context, { ...loss, declined: 'Nothing was changed.' });
    await makeChanges(context, client, changes, options);
  }
  if (json) context.print(renderJson(changesJson(changes, { isDry: dryRun })));
  else if (!isDone) context.print(`\n${summaryOf(changes, !dryRun)}`);
  return EXIT.ok;
}

export function registerApplyCommand(program: Command, context: CliContext): void {
  const command = program
    .command('apply')
    .description('make tenants as a file declares them: plan, state, rules and names of keys')
    .requiredOption('-f, --file <file>', 'a file of YAML or JSON; - for standard input')
    .option('--prune', 'delete tenants that the file does not declare, and revoke such keys of those that it does')
    .option('--prune-max <tenants>', 'refuse to delete more tenants', parsePruneMax, PRUNED_TENANTS_DEFAULT)
    .option('--keys-file <file>', 'append new keys to this file, one JSON object per line')
    .option('--keys-secret <namespace/name>', 'put new keys into this Secret of Kubernetes', parseSecretName)
    .addOption(outsideTypesOption())
    .option('--dry-run', 'change nothing, and show what would change')
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nApplied again, the same file changes nothing. What a tenant does not declare stays as it is.\nExit code: 0 applied or nothing to change, 1 failed, 2 wrong usage, 130 interrupted.',
    );
  addExamples(
    command,
    'apply -f tenants.yaml --dry-run',
    'apply -f tenants.yaml --keys-file keys.ndjson',
    'apply -f tenants.yaml --prune',
  ).action(context.action((options: ApplyOptions) => apply(context, options)));
}
