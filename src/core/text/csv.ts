// One line of CSV (RFC 4180). A field in quotes may hold commas and, doubled, quotes; none holds a line break.

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

export const formatCsvLine = (fields: readonly string[]): string =>
  fields.map((field) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',');
