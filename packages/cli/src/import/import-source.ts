// The file, or standard input, that a command reads: whole, or as a stream of lines with one tuple each.

import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { Option } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import type { ImportFormat } from './import-lines.ts';

const FORMATS: ReadonlyMap<string, ImportFormat> = new Map([
  ['.tsv', 'tsv'],
  ['.csv', 'csv'],
  ['.ndjson', 'ndjson'],
  ['.jsonl', 'ndjson'],
]);

export const IMPORT_FORMATS: readonly ImportFormat[] = ['tsv', 'csv', 'ndjson'];

export const formatOption = (): Option =>
  new Option('--format <format>', 'format of the file (default: by its name; tsv for -)').choices(IMPORT_FORMATS);

/** The format by the file name; `-` is TSV, as `grantd export` writes it. */
export function formatOf(file: string, format: string | undefined): ImportFormat {
  const asked = IMPORT_FORMATS.find((each) => each === format);
  if (asked !== undefined) return asked;
  if (format !== undefined) throw new CliFailure(`--format ${format} needs --from.`, EXIT.usage);
  if (file === '-') return 'tsv';
  const dot = file.lastIndexOf('.');
  const known = FORMATS.get(file.slice(dot < 0 ? file.length : dot).toLowerCase());
  if (known !== undefined) return known;
  throw new CliFailure(
    `Cannot tell the format of ${file} from its name: pass --format tsv, --format csv or --format ndjson.`,
    EXIT.usage,
  );
}

/** `length`: in bytes, if it is known. */
export async function openSource(
  context: CliContext,
  file: string,
): Promise<{ source: Readable; length: number | undefined }> {
  if (file === '-') return { source: context.stdin, length: undefined };
  try {
    const stats = await stat(file);
    if (stats.isDirectory()) throw new Error('it is a directory');
    const source = createReadStream(file);
    await once(source, 'open');
    return { source, length: stats.isFile() ? stats.size : undefined };
  } catch (cause) {
    throw new CliFailure(`Cannot read ${file}: ${reasonOf(cause)}.`, EXIT.failed, { cause });
  }
}

/** All bytes of a stream; undefined if there are more than `bytesMax`. */
export async function readWhole(chunks: AsyncIterable<Uint8Array>, bytesMax: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytesMax) return undefined;
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** The chunks of a source, counted in `tally`; they fail with the abort once the signal aborts. */
export async function* chunksOf(
  source: Readable,
  signal: AbortSignal,
  tally: { bytesRead: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of addAbortSignal(signal, source) as AsyncIterable<Uint8Array>) {
    tally.bytesRead += chunk.length;
    yield chunk;
  }
}
