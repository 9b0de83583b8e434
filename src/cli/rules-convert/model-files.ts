// Reads the files of a model, within bounds, and parses them by the language that their names or the caller tell.

import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import { parseOpenFgaDsl } from './openfga-dsl.ts';
import { parseOpenFgaJson } from './openfga-json.ts';
import { joinDeclarations, MODEL_BYTES_MAX, type SourceModel, type TypeDeclaration } from './source-model.ts';
import { parseSpiceDbSchema } from './spicedb-schema.ts';

export const ORIGINS = ['openfga', 'spicedb'] as const;
export type Origin = (typeof ORIGINS)[number];

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function originOf(file: string, origin: Origin | undefined): Origin {
  if (/\.ya?ml$/i.test(file)) {
    throw new CliFailure(
      `${file} is YAML. Pass the model alone, for example: yq -r .model ${file} | grantd rules convert - --from openfga (for SpiceDB, .schema and --from spicedb).`,
      EXIT.usage,
    );
  }
  if (origin !== undefined) return origin;
  if (/\.(fga|json)$/i.test(file)) return 'openfga';
  if (/\.zed$/i.test(file)) return 'spicedb';
  throw new CliFailure(`Cannot tell from its name what ${file} is: pass --from openfga or --from spicedb.`, EXIT.usage);
}

async function readText(source: Readable, file: string, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > bytesMax) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new CliFailure(`Cannot read ${file}: ${reasonOf(cause)}.`, EXIT.failed, { cause });
  }
  if (bytes > bytesMax) {
    throw new CliFailure(`${file} is too long: a model may have ${MODEL_BYTES_MAX / 1024} KiB, all files together.`);
  }
  try {
    return decoder.decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new CliFailure(`${file} is not valid UTF-8.`, EXIT.failed, { cause });
  }
}

/** Throws a CliFailure that names file, line and column if the text is no model. */
export function parseModelFile(file: string, text: string, origin: Origin): TypeDeclaration[] {
  if (origin === 'spicedb') return parseSpiceDbSchema(file, text);
  return /^\uFEFF?\s*\{/.test(text) ? parseOpenFgaJson(file, text) : parseOpenFgaDsl(file, text);
}

/** `-` is standard input. */
export async function readModel(
  files: readonly string[],
  origin: Origin | undefined,
  stdin: Readable,
): Promise<SourceModel> {
  const origins = files.map((file) => originOf(file, origin));
  if (new Set(origins).size > 1) throw new CliFailure('The files are of different systems.', EXIT.usage);
  const declarations: TypeDeclaration[] = [];
  let bytesLeft = MODEL_BYTES_MAX;
  for (const [index, file] of files.entries()) {
    const text = await readText(file === '-' ? stdin : createReadStream(file), file, bytesLeft);
    bytesLeft -= Buffer.byteLength(text);
    // One by one, because a model of a thousand types is a list too long to be spread.
    for (const declaration of parseModelFile(file, text, origins[index] ?? 'openfga')) declarations.push(declaration);
  }
  return joinDeclarations(declarations);
}
