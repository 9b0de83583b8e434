// One line of CSV (RFC 4180). A field in quotes may hold commas and, doubled, quotes. Invariant: no text that a line is
// written from becomes a formula of a spreadsheet, whichever separator the spreadsheet reads the line with.

/**
 * A field in quotes, or one without any, and what follows it. No text matches in two ways, so that a long line of
 * spaces or quotes is soon refused.
 */
const FIELD = /(?:[ \t]*"((?:[^"]|"")*)"[ \t]*|([^",]*))(,|$)/y;

/** The fields without the spaces around them; undefined: a quote is not closed or not doubled. */
export function parseCsvLine(text: string): readonly string[] | undefined {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const match = FIELD.exec(text);
    if (match === null) return undefined;
    const [, quoted, plain = '', end] = match;
    fields.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === '') return fields;
  }
}

/**
 * Where a formula would begin: at the start of the text, or behind a separator that a spreadsheet may choose instead of
 * the comma. Quotes do not help behind one: they count only at the beginning of a cell.
 */
const FORMULA = /(^|[;|\t\r\n])(?=[\p{Zs}"]*[=+\-@＝＋－＠])/u;
const FORMULAS = new RegExp(FORMULA, 'gu');

/** Whether `formatCsvLine` would change the text. */
export const holdsFormula = (text: string): boolean => FORMULA.test(text);

/** The same text with a `'` before what would be a formula, which makes it text. */
export const inertText = (text: string): string => text.replaceAll(FORMULAS, "$1'");

/** The same JSON value, of which no part would be a formula: its first character is escaped. */
export const inertJson = (json: string): string =>
  json.replaceAll(
    /([;|]\p{Zs}*)([=+\-@＝＋－＠])/gu,
    (_, before: string, sign: string) => `${before}\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function cellOf(value: string | number): string {
  const text = typeof value === 'string' ? inertText(value) : String(value);
  return /[",;|\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A text with a separator of any spreadsheet, a quote or white space stands in quotes. */
export const formatCsvLine = (cells: readonly (string | number)[]): string => cells.map(cellOf).join(',');
