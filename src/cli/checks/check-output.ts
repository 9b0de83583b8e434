// How the results of many checks are shown, each as soon as it is known: for people, as CSV, or as lines of JSON.

import { formatCsvLine } from '../../core/text/csv.ts';
import { formatCount } from '../output/render.ts';
import { type CheckTally, differs, type LineResult } from './check-run.ts';

export const CHECK_OUTPUTS = ['table', 'csv', 'ndjson'] as const;
export type CheckOutput = (typeof CHECK_OUTPUTS)[number];

/** Above the first row; lines of JSON have no head. */
export const HEADS: Readonly<Record<CheckOutput, string>> = {
  table: 'AUTHORIZED  SUBJECT RELATION OBJECT\n',
  csv: 'line,subject,relation,object,authorized,error,expected\n',
  ndjson: '',
};

const ROWS: Readonly<Record<CheckOutput, (result: LineResult) => string>> = {
  table(result) {
    if ('refusal' in result) return `refused     line ${result.line}: ${result.refusal.detail}`;
    const { subject, relation, object } = result.question;
    const differing = differs(result) ? `  (expected ${result.expected}, line ${result.line})` : '';
    return `${String(result.authorized).padEnd(10)}  ${subject} ${relation} ${object}${differing}`;
  },
  csv(result) {
    const line = String(result.line);
    if ('refusal' in result) return formatCsvLine([line, '', '', '', '', result.refusal.detail, '']);
    const { subject, relation, object } = result.question;
    const expected = result.expected === undefined ? '' : String(result.expected);
    return formatCsvLine([line, subject, relation, object, String(result.authorized), '', expected]);
  },
  ndjson(result) {
    const { line } = result;
    if ('refusal' in result) return JSON.stringify({ line, error: result.refusal });
    const { question, authorized, expected } = result;
    return JSON.stringify({ line, ...question, authorized, ...(expected === undefined ? {} : { expected }) });
  },
};

export const renderResults = (results: readonly LineResult[], output: CheckOutput): string =>
  results.map((result) => `${ROWS[output](result)}\n`).join('');

export function renderSummary({ authorized, denied, refused, expecting, different }: CheckTally): string {
  const lines = formatCount(authorized + denied + refused);
  const counted = `${lines} lines: ${formatCount(authorized)} authorized, ${formatCount(denied)} not authorized, ${formatCount(refused)} refused`;
  if (expecting === 0) return counted;
  return `${counted}; ${formatCount(expecting - different)} of ${formatCount(expecting)} as expected`;
}
