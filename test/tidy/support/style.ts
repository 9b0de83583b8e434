// The rules of style that a machine can hold, beyond those of the formatter and the linter.

import { basename } from 'node:path';
import { codeText } from './code-text.ts';

const LINES_MAX = 400;
const BARREL_NAMES = new Set(['index.ts', 'utils.ts', 'util.ts', 'helpers.ts', 'common.ts', 'misc.ts']);

type Rule = readonly [what: string, breaks: (path: string, text: string, code: string) => boolean];

const inSource = (path: string): boolean => path.startsWith('src/');
const inTests = (path: string): boolean => path.startsWith('test/');
/** Written in two parts, so that this very file keeps the rule. */
const unfinished = new RegExp(
  `\\b(${['TO', 'FIX', 'HA', 'XX'].map((head, index) => head + ['DO', 'ME', 'CK', 'X'][index]).join('|')})\\b`,
);

const RULES: readonly Rule[] = [
  ['the first lines say what the file owns', (_path, text) => !/^(#!.*\n)?\/\/ \S/.test(text)],
  ['names are kebab-case', (path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.m?[jt]s$/.test(basename(path))],
  ['no barrel and no file without a concept', (path) => BARREL_NAMES.has(basename(path))],
  ['nothing is left unfinished', (_path, text) => unfinished.test(text)],
  ['no enum', (_path, _text, code) => /^\s*(export\s+)?(declare\s+)?(const\s+)?enum\s+\w+\s*\{/m.test(code)],
  ['no namespace', (_path, _text, code) => /^\s*(export\s+)?(declare\s+)?(namespace|module)\s+[\w.]+\s*\{/m.test(code)],
  [
    'no any',
    (path, _text, code) =>
      /\bas\s+any\b/.test(code) || (inSource(path) && /:\s*any\b|<\s*any\s*>|\bany\[\]/.test(code)),
  ],
  ['no non-null assertion', (path, _text, code) => inSource(path) && /[\w)\]]!(?:\.|\[|;|,|\))/.test(code)],
  ['no default export', (_path, _text, code) => /^\s*export\s+default\b/m.test(code)],
  ['no type error is silenced', (_path, text) => /@ts-(ignore|nocheck)/.test(text)],
  ['the compiler is overruled in tests only', (path, text) => !inTests(path) && /@ts-expect-error/.test(text)],
  [`no file above ${LINES_MAX} lines`, (path, text) => inSource(path) && text.split('\n').length > LINES_MAX + 1],
  [
    'no test is skipped or runs alone',
    (path, _text, code) =>
      inTests(path) && /\b(?:it|test|describe|suite)\.(?:skip|only|todo)\b|\b(?:skip|only|todo):\s*true\b/.test(code),
  ],
  [
    'tests wait for conditions',
    (path, _text, code) =>
      inTests(path) &&
      /\bimport\s*\{[^}]*\bsetTimeout\b[^}]*\}\s*from/.test(code) &&
      /await\s+setTimeout\(\s*[\d_]{3,}\s*\)/.test(code),
  ],
  [
    'output goes through the log or a stream',
    (path, _text, code) => inSource(path) && /\bconsole\.(log|error|warn|info|debug)\(/.test(code),
  ],
];

/** The rules that a file breaks, one line each. */
export function findStyleViolations(path: string, text: string): string[] {
  const code = codeText(text, { strings: 'emptied' });
  return RULES.filter(([, breaks]) => breaks(path, text, code)).map(([what]) => `${path}: ${what}`);
}
