// `grantd import`: imports tuples from a file or standard input into a tenant. It is safe to interrupt and to run
// again.

import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { TENANT_OPTION } from '../command-parts.ts';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import type { ImportFormat } from '../import/import-lines.ts';
import { ImportReport } from '../import/import-report.ts';
import { runImport } from '../import/import-run.ts';
import { formatOf, formatOption, openSource } from '../import/import-source.ts';
import { path } from '../operator-client.ts';
import { formatCount, renderJson } from '../output/render.ts';
import { createProgress } from '../progress.ts';
import { describeRetry } from '../retries.ts';

interface ImportOptions {
  readonly tenant: string;
  readonly format?: ImportFormat;
  readonly refused?: string;
  readonly json?: boolean;
}

async function openReport(refusedPath: string | undefined, source: Readable): Promise<ImportReport> {
  try {
    return await ImportReport.open(refusedPath);
  } catch (error) {
    source.destroy();
    throw error;
  }
}

async function importFile(context: CliContext, file: string, options: ImportOptions): Promise<number> {
  const format = formatOf(file, options.format);
  const client = await context.connect();
  // Reports an unknown tenant or a wrong token before anything is read.
  await client.readJson({ method: 'GET', path: path`/tenants/${options.tenant}` });
  const { source, length } = await openSource(context, file);
  const report = await openReport(options.refused, source);
  const interruption = new AbortController();
  const stopListening = context.onInterrupt(() => interruption.abort());
  const progress = createProgress(context, length, 'lines');
  const startedMs = performance.now();
  const outcome = await runImport(client, {
    source,
    format,
    tenant: options.tenant,
    signal: interruption.signal,
    onProgress: ({ bytesRead, lines, refused }) => progress.update(bytesRead, lines, `${formatCount(refused)} refused`),
    onRetry: (...retry) => progress.note(describeRetry(...retry)),
    onRefused: (refused) => report.add(refused),
  });
  const elapsedMs = performance.now() - startedMs;
  stopListening();
  progress.stop();
  await report.close();

  const refused = report.renderRefused(outcome);
  if (refused !== '') context.note(refused);
  context.print(
    options.json ? renderJson(report.toJson(outcome, elapsedMs)) : report.renderSummary(outcome, elapsedMs),
  );
  if (outcome.failure !== undefined) {
    const { failure } = outcome;
    context.reportFailure(
      failure instanceof CliFailure ? failure : new CliFailure(`Cannot read ${file}: ${reasonOf(failure)}.`),
    );
  }
  if (!outcome.whole) {
    const what = interruption.signal.aborted ? 'Interrupted' : 'The import stopped early';
    context.note(`${what}. The grants counted above are stored. To finish, run the same import again; this is safe.`);
    return outcome.failure === undefined ? EXIT.interrupted : EXIT.failed;
  }
  return outcome.tally.refused > 0 ? EXIT.linesRefused : EXIT.ok;
}

export function registerImportCommand(program: Command, context: CliContext): void {
  program
    .command('import')
    .description('create grants from a file, one per line; existing grants stay unchanged')
    .argument('<file>', 'a .tsv or .csv (subject, relation, object) or .ndjson file; - for standard input')
    .option(...TENANT_OPTION)
    .addOption(formatOption())
    .option(
      '--refused <file>',
      'write every refused line to this file: line number, error type, reason, the line itself',
    )
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      '\nYou can interrupt an import and run it again at any time: existing grants stay unchanged.\nExit code: 0 all lines imported, 4 some lines refused, 1 stopped by an error, 2 wrong usage, 130 interrupted.\n\nExamples:\n  grantd import grants.tsv --tenant ten_01k8x0000000000000000000zz\n  zcat grants.ndjson.gz | grantd import - --format ndjson --tenant ten_01k8x0000000000000000000zz\n',
    )
    .action(context.action((file: string, options: ImportOptions) => importFile(context, file, options)));
}
