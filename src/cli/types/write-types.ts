// `grantd rules types`: what the rules of a tenant define, as types in the language of an application.

import { basename } from 'node:path';
import { CliFailure, EXIT } from '../failures.ts';
import { writeWholeFile } from '../output/whole-file.ts';
import type { Language, ModelTypes } from './model-types.ts';
import { renderGo } from './render-go.ts';
import { JAVA_CLASS, renderJava } from './render-java.ts';
import { renderPython } from './render-python.ts';
import { renderTypeScript } from './render-typescript.ts';

const ENDINGS: readonly (readonly [ending: string, language: Language])[] = [
  ['.ts', 'typescript'],
  ['.go', 'go'],
  ['.py', 'python'],
  ['.java', 'java'],
];

/** By the option, or by the name of the file. */
export function languageOf(language: Language | undefined, out: string | undefined): Language {
  const known = language ?? ENDINGS.find(([ending]) => out?.endsWith(ending) === true)?.[1];
  if (known !== undefined) return known;
  throw new CliFailure('Pass --language, or --out with a name that ends in .ts, .go, .py or .java.', EXIT.usage);
}

export function renderTypes(types: ModelTypes, language: Language, packageName: string): string {
  switch (language) {
    case 'typescript':
      return renderTypeScript(types);
    case 'go':
      return renderGo(types, packageName);
    case 'python':
      return renderPython(types);
    case 'java':
      return renderJava(types, packageName);
  }
}

export async function writeTypes(file: string, text: string): Promise<void> {
  if (file.endsWith('.java') && basename(file) !== `${JAVA_CLASS}.java`) {
    throw new CliFailure(`The class is named ${JAVA_CLASS}, so the file must be ${JAVA_CLASS}.java.`, EXIT.usage);
  }
  await writeWholeFile(file, text);
}
