// `grantd import`: imports tuples from a file or standard input into a tenant. It is safe to interrupt and to run
// again. The file is in a format of grantd, or of OpenFGA or SpiceDB.

import type { Readable } from 'node:stream';
import type { PeerImport } from '@grantd/convert/tuples';
import { type Command, Option } from 'commander';
import { ExportFrame } from '../../../../src/core/export-frame.ts';
import type { CliContext } from '../cli-context.ts';
import { TENANT_OPTION } from '../command-parts.ts';
import {
  loadConverter,
  type MapOption,
  mapOption,
  ORIGINS,
  type Origin,
  PEER_FORMATS,
  peerFormatOf,
} from '../converter.ts';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import { faultOf, readEntries } from '../import/import-lines.ts';
import { ImportReport } from '../import/import-report.ts';
import { type ImportOutcome, type ImportRun, runDryImport, runImport } from '../import/import-run.ts';
import { chunksOf, formatOf, IMPORT_FORMATS, openSource } from '../import/import-source.ts';
import { formatCount, renderJson } from '../output/render.ts';
import { createProgress } from '../progress.ts';
import { describeRetry } from '../retries.ts';
import type { ServiceClient } from '../service-client.ts';
import { outsideTypesOption, readTenantRules } from '../tenant-rules.ts';

interface ImportOptions {
  readonly tenant?: string;
  readonly format?: string;
  readonly from?: Origin;
  readonly map: readonly MapOption[];
  readonly relationMap?: string;
  readonly replace?: boolean;
  readonly outsideTypes?: string;
  readonly allowIncomplete?: boolean;
  readonly dryRun?: boolean;
  readonly refused?: string;
  readonly json?: boolean;
}

/** `peer` is undefined for a file in grantd's own format. */
interface ImportSource {
  readonly read: ImportRun['read'];
  readonly peer: PeerImport | undefined;
  /** For NDJSON: the count that its first and last line promise. */
  readonly frame: ExportFrame;
  readonly length: number | undefined;
  readonly source: Readable;
}

function demandOptions(file: string, { from, map, relationMap, dryRun, format }: ImportOptions): void {
  if (from !== undefined) {
    peerFormatOf(file, from, format);
    if (map.length > 0 && relationMap !== undefined) {
      throw new CliFailure('Pass --map or --relation-map, not both.', EXIT.usage);
    }
    return;
  }
  if (map.length > 0 || relationMap !== undefined || dryRun) {
    const names = ORIGINS.map((origin) => `--from ${origin}`).join(' or ');
    throw new CliFailure(`--map, --relation-map and --dry-run need ${names}.`, EXIT.usage);
  }
  formatOf(file, format);
}

const ADVICE =
  'Take a whole export, or import what the file has with --allow-incomplete. If you have edited it, remove its first and last line.';

/** Refuses a file that begins as an export and is not whole. */
async function demandWhole(context: CliContext, file: string, signal: AbortSignal): Promise<void> {
  const { source } = await openSource(context, file);
  let fault: string | undefined;
  try {
    fault = await faultOf(chunksOf(source, signal, { bytesRead: 0 }));
  } catch (error) {
    if (signal.aborted) throw new CliFailure('Interrupted. Nothing was written.', EXIT.interrupted);
    throw failureOf(file, error);
  }
  if (fault !== undefined) throw new CliFailure(`${file} is incomplete. ${fault} Nothing was imported. ${ADVICE}`);
}

async function openReading(
  context: CliContext,
  file: string,
  options: ImportOptions,
  signal: AbortSignal,
): Promise<ImportSource> {
  const { source, length } = await openSource(context, file);
  const { from, format, map, relationMap } = options;
  const frame = new ExportFrame();
  if (from === undefined) {
    const own = formatOf(file, format);
    // Before anything is written. Standard input can be read only once.
    if (own === 'ndjson' && length !== undefined && !options.allowIncomplete) await demandWhole(context, file, signal);
    const read: ImportRun['read'] = (stop, tally) => readEntries(chunksOf(source, stop, tally), own, frame);
    return { read, peer: undefined, frame, length, source };
  }
  const bytes = { bytesRead: 0 };
  try {
    const { openPeerImport } = await loadConverter(() => import('@grantd/convert/tuples'));
    const peer = await openPeerImport(chunksOf(source, signal, bytes), {
      file,
      origin: from,
      format: peerFormatOf(file, from, format),
      map,
      relationMap,
      nowMs: context.nowMs,
    });
    const read: ImportRun['read'] = async function* (_stop, tally) {
      for await (const entries of peer.entries) {
        tally.bytesRead = bytes.bytesRead;
        yield entries;
      }
    };
    return { read, peer, frame, length, source };
  } catch (error) {
    source.destroy();
    throw error;
  }
}

async function openReport(refusedPath: string | undefined, source: Readable): Promise<ImportReport> {
  try {
    return await ImportReport.open(refusedPath);
  } catch (error) {
    source.destroy();
    throw error;
  }
}

/** Imports, or only reads, and reports progress and refused lines. */
async function runReading(
  context: CliContext,
  client: ServiceClient,
  reading: ImportSource,
  report: ImportReport,
  options: ImportOptions & { readonly signal: AbortSignal },
): Promise<ImportOutcome> {
  const { read } = reading;
  const { signal } = options;
  const onRefused: ImportRun['onRefused'] = (refused) => report.add(refused);
  if (options.dryRun) return runDryImport({ read, signal, onRefused });
  const progress = createProgress(context, reading.length, 'lines');
  const outcome = await runImport(client, {
    read,
    signal,
    replace: options.replace === true,
    outsideTypes: options.outsideTypes,
    onProgress: ({ bytesRead, lines, refused }) => progress.update(bytesRead, lines, `${formatCount(refused)} refused`),
    onRetry: (...retry) => progress.note(describeRetry(...retry)),
    onRefused,
  });
  progress.stop();
  return outcome;
}

const failureOf = (file: string, failure: unknown): CliFailure =>
  failure instanceof CliFailure ? failure : new CliFailure(`Cannot read ${file}: ${reasonOf(failure)}.`);

async function importWith(
  context: CliContext,
  client: ServiceClient,
  file: string,
  options: ImportOptions & { readonly signal: AbortSignal },
): Promise<number> {
  const { signal } = options;
  const reading = await openReading(context, file, options, signal);
  for (const note of reading.peer?.notes ?? []) context.note(note);
  const report = await openReport(options.refused, reading.source);
  const startedMs = performance.now();
  const outcome = await runReading(context, client, reading, report, options);
  const elapsedMs = performance.now() - startedMs;
  await report.close();

  const refused = report.renderRefused(outcome);
  if (refused !== '') context.note(refused);
  const isDry = options.dryRun === true;
  context.print(
    options.json
      ? renderJson(report.toJson(outcome, elapsedMs, isDry))
      : report.renderSummary(outcome, elapsedMs, isDry),
  );
  if (reading.peer !== undefined && outcome.failure === undefined) {
    for (const missing of reading.peer.missingIn(await readTenantRules(client))) context.note(missing);
  }
  if (outcome.failure !== undefined) context.reportFailure(failureOf(file, outcome.failure));
  if (!outcome.whole) {
    const what = signal.aborted ? 'Interrupted' : `The ${isDry ? 'dry run' : 'import'} stopped early`;
    const stands = 'The grants counted above are stored. To finish, run the same import again; this is safe.';
    context.note(`${what}. ${isDry ? 'Nothing was written.' : stands}`);
    return outcome.failure === undefined ? EXIT.interrupted : EXIT.failed;
  }
  const fault = reading.frame.fault();
  if (fault !== undefined) {
    const incomplete = `${file === '-' ? 'Standard input' : file} is incomplete. ${fault} What it has is imported.`;
    if (!options.allowIncomplete) throw new CliFailure(incomplete);
    context.note(`Warning: ${incomplete}`);
  }
  return outcome.tally.refused > 0 ? EXIT.linesRefused : EXIT.ok;
}

async function importFile(context: CliContext, file: string, options: ImportOptions): Promise<number> {
  demandOptions(file, options);
  const client = context.connectOperatorTenant(options.tenant);
  // Reports an unknown tenant or a wrong token before anything is read.
  await client.readJson({ method: 'GET', path: '' });
  return context.untilInterrupted((signal) => importWith(context, client, file, { ...options, signal }));
}

export function registerImportCommand(program: Command, context: CliContext): void {
  program
    .command('import')
    .description(
      'create grants from a file, one per line; a grant that exists stays as it is unless you pass --replace',
    )
    .argument('<file>', 'a .tsv or .csv (subject, relation, object) or .ndjson file; - for standard input')
    .option(...TENANT_OPTION)
    .addOption(
      new Option('--format <format>', 'format of the file (default: by its name; tsv for -)').choices([
        ...new Set([...IMPORT_FORMATS, ...PEER_FORMATS]),
      ]),
    )
    .addOption(new Option('--from <system>', 'the file holds tuples of this system').choices(ORIGINS))
    .addOption(
      mapOption('with --from: what grants of this relation become; TYPE#NAME=RELATION for one type', 'as in the model'),
    )
    .option(
      '--replace',
      'a grant that exists gets the expiry and the condition of its line, and loses what the line lacks',
    )
    .addOption(
      outsideTypesOption('import grants that the types of the rules exclude too; they count (default: refuse them)'),
    )
    .option('--allow-incomplete', 'import an export in NDJSON that was cut, or lacks grants that its last line counts')
    .option('--relation-map <file>', 'with --from: the relation map that "grantd rules convert --output" wrote')
    .option('--dry-run', 'with --from: write nothing, and report what does not fit')
    .option(
      '--refused <file>',
      'write every refused line to this file: line number, error type, reason, the line itself',
    )
    .option('--json', 'print the summary as JSON')
    .addHelpText(
      'after',
      '\nYou can interrupt an import and run it again at any time. The summary counts the grants that were created,\nthose that --replace changed, those that existed and are as they were,\nand those whose expiry has passed, which are left out.\n--from openfga reads a store (.yaml), or tuples as .yaml, .json, .jsonl or .csv; --from spicedb reads a validation\nfile (.yaml), a backup (.zedbackup), or relationships, one per line (.txt); --from permify a shape (.yaml).\nSet the rules first: the tenant must declare the relations and conditions of the tuples.\nExit code: 0 all lines imported, 4 some lines refused, 1 stopped by an error, or by an incomplete export,\n2 wrong usage, 130 interrupted.\n\nExamples:\n  grantd import grants.tsv --tenant ten_01k8x0000000000000000000zz\n  zcat grants.ndjson.gz | grantd import - --format ndjson --tenant ten_01k8x0000000000000000000zz\n  grantd import store.fga.yaml --from openfga --dry-run --tenant ten_01k8x0000000000000000000zz\n',
    )
    .action(context.action((file: string, options: ImportOptions) => importFile(context, file, options)));
}
