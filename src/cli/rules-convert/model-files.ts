// Parses the text of a model by the system that it is from.

import { parseOpenFgaDsl } from './openfga-dsl.ts';
import { parseOpenFgaJson } from './openfga-json.ts';
import { joinDeclarations, type SourceModel, type TypeDeclaration } from './source-model.ts';
import { parseSpiceDbSchema } from './spicedb-schema.ts';

export const ORIGINS = ['openfga', 'spicedb'] as const;
export type Origin = (typeof ORIGINS)[number];

/** A model, or one module of it. The text begins with as many empty lines as stand before it in the file. */
export interface ModelText {
  readonly file: string;
  readonly text: string;
  readonly origin: Origin;
}

/** Throws a CliFailure that names file, line and column if the text is no model. */
export function parseModelFile(file: string, text: string, origin: Origin): TypeDeclaration[] {
  if (origin === 'spicedb') return parseSpiceDbSchema(file, text);
  return /^\uFEFF?\s*\{/.test(text) ? parseOpenFgaJson(file, text) : parseOpenFgaDsl(file, text);
}

/** One model of all texts. */
export function parseModel(texts: readonly ModelText[]): SourceModel {
  const declarations: TypeDeclaration[] = [];
  for (const { file, text, origin } of texts) {
    // One by one, because a model of a thousand types is a list too long to be spread.
    for (const declaration of parseModelFile(file, text, origin)) declarations.push(declaration);
  }
  return joinDeclarations(declarations);
}
