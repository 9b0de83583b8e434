// `grantd check`: one check, or those of a file. The exit code of one check is its answer, distinct from every failure.

import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { isJsonObject } from '../../../../src/core/json-members.ts';
import { CompiledRules } from '../../../../src/rules/compiled-rules.ts';
import type { NamedTuple } from '../../../../src/rules/questions.ts';
import {
  CHECK_OUTPUTS,
  type CheckOutcome,
  type CheckOutput,
  HEADS,
  renderResults,
  renderSummary,
  runChecks,
} from '../checks/check-run.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples, TENANT_EXAMPLE, TENANT_OPTION } from '../command-parts.ts';
import { addContextOptions, type ContextOptions, contextMembers } from '../context-options.ts';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import type { ImportFormat } from '../import/import-lines.ts';
import { formatOf, formatOption, openSource } from '../import/import-source.ts';
import type { JsonRecord } from '../output/json-view.ts';
import { grantLines, proofLines, reasonLines } from '../output/proof-tree.ts';
import { renderJson } from '../output/render.ts';
import { createProgress } from '../progress.ts';
import { describeRetry } from '../retries.ts';
import { readTenantRules } from '../tenant-rules.ts';
import { NAME_ARGUMENT, OBJECT_ARGUMENT, SUBJECT_ARGUMENT } from './grants.ts';

interface CheckOptions extends ContextOptions {
  readonly tenant?: string;
  readonly file?: string;
  readonly format?: ImportFormat;
  readonly output?: CheckOutput;
  readonly json?: boolean;
  readonly explain?: boolean;
  readonly tree?: boolean;
}

/** Why: the chain or the proof of a yes, or the reason of a no; with `tree`, its proof too. */
function explanation({ authorized, because, reason, proof }: JsonRecord, tree: boolean): readonly string[] {
  if (authorized === true) return isJsonObject(proof) ? proofLines(proof) : grantLines(because);
  if (!isJsonObject(proof)) return reasonLines(reason);
  return [...reasonLines(reason), ...(tree ? proofLines(proof) : ['(--tree shows all that was looked at)'])];
}

async function checkOne(context: CliContext, question: NamedTuple, options: CheckOptions): Promise<number> {
  const { tenant, tree = false } = options;
  const explain = options.explain === true || tree;
  const client = context.connectTenant(tenant);
  const json = { ...question, ...contextMembers(options), ...(explain && { explain }) };
  const answer = await client.readJson({ method: 'POST', path: '/check', json });
  const { authorized } = answer;
  if (typeof authorized !== 'boolean') throw new CliFailure('The response to the check is neither true nor false.');
  context.print(options.json ? renderJson(answer) : `authorized ${authorized}`);
  if (explain && !options.json) {
    for (const line of explanation(answer, tree)) context.print(line);
  }
  return authorized ? EXIT.ok : EXIT.denied;
}

function exitCodeOf({ tally, whole, failure }: CheckOutcome): number {
  if (!whole) return failure === undefined ? EXIT.interrupted : EXIT.failed;
  if (tally.refused > 0) return EXIT.linesRefused;
  return tally.different + tally.deniedUnexpected > 0 ? EXIT.denied : EXIT.ok;
}

async function checkFile(context: CliContext, file: string, options: CheckOptions): Promise<number> {
  const output = options.json ? 'ndjson' : (options.output ?? 'table');
  const format = formatOf(file, options.format);
  const client = context.connectTenant(options.tenant);
  // Reports an unknown tenant or a wrong token before anything is read.
  const { ruleSet } = await readTenantRules(client);
  const { source, length } = await openSource(context, file);
  const { stdout } = context;
  // On a terminal, the rows themselves show the progress.
  const progress = stdout.isTTY === true ? undefined : createProgress(context, length, 'lines');
  stdout.write(HEADS[output]);
  const outcome = await context.untilInterrupted((interrupted) =>
    context.untilClosed((closed) => {
      const signal = AbortSignal.any([interrupted, closed]);
      return runChecks(client, {
        source,
        format,
        rules: new CompiledRules(ruleSet, undefined, new Map()),
        signal,
        onRetry: (...retry) => (progress ?? context).note(describeRetry(...retry)),
        async onResults(results, { bytesRead, authorized, denied, refused }) {
          if (!stdout.write(context.dataOf(renderResults(results, output)))) await once(stdout, 'drain', { signal });
          progress?.update(bytesRead, authorized + denied + refused);
        },
      });
    }),
  );
  progress?.stop();
  context.note(renderSummary(outcome.tally));
  const { failure } = outcome;
  if (failure !== undefined) {
    context.reportFailure(
      failure instanceof CliFailure ? failure : new CliFailure(`Cannot read ${file}: ${reasonOf(failure)}.`),
    );
  }
  if (!outcome.whole) context.note('Not all lines of the file were checked.');
  const { authorized, denied, refused } = outcome.tally;
  if (outcome.whole && authorized + denied + refused === 0) {
    throw new CliFailure(`${file === '-' ? 'Standard input' : file} asks nothing: it has no line with a check.`);
  }
  return exitCodeOf(outcome);
}

export function registerCheckCommand(program: Command, context: CliContext): void {
  const command = program
    .command('check')
    .description('check whether a subject holds a relation on an object, or check the lines of a file')
    .argument('[subject]', SUBJECT_ARGUMENT[1])
    .argument('[relation]', NAME_ARGUMENT[1])
    .argument('[object]', OBJECT_ARGUMENT[1])
    .option(
      '-f, --file <file>',
      'check each line of a .tsv, .csv or .ndjson file, perhaps against the result it expects; - for standard input',
    )
    .addOption(formatOption())
    .addOption(new Option('--output <output>', 'form of the results (default: table)').choices(CHECK_OUTPUTS))
    .option('--explain', 'also show why: the grants or the proof on which a yes rests, or what decides a no, in a line')
    .option('--tree', 'the same, with the whole proof of a no')
    .option(...TENANT_OPTION)
    .option('--json', 'print JSON; for a file, a line of JSON for each of its lines')
    .addHelpText(
      'after',
      '\nExit code: 0 authorized, 3 not authorized, 1 the check failed, 2 wrong usage, 130 interrupted. Of a file: 0 all lines\nare as expected, 3 at least one is not, 4 some lines were refused. A line without an expected result expects to be\nauthorized. Results of a file come in its order; lines are checked 100 at a time, each time at one moment.',
    );
  addExamples(
    addContextOptions(command),
    `check user:ann viewer doc:readme --tenant ${TENANT_EXAMPLE}`,
    `check user:ann can_read doc:readme --explain --context '{"hour":10}' --tenant ${TENANT_EXAMPLE}`,
    `check -f expected.csv --output csv --tenant ${TENANT_EXAMPLE} > results.csv`,
  ).action(
    context.action(
      async (
        subject: string | undefined,
        relation: string | undefined,
        object: string | undefined,
        options: CheckOptions,
      ) => {
        const { file, explain, tree } = options;
        const ofOne = explain !== undefined || tree !== undefined || contextMembers(options) !== undefined;
        if (file !== undefined && subject === undefined && !ofOne) return checkFile(context, file, options);
        if (file !== undefined || subject === undefined || relation === undefined || object === undefined) {
          throw new CliFailure(
            'Pass either a subject, a relation and an object, perhaps with --explain, --tree, --context and --context-grant, or --file.',
            EXIT.usage,
          );
        }
        return checkOne(context, { subject, relation, object }, options);
      },
    ),
  );
}
