// Renders tables in Markdown with the formatter's layout, so that it leaves generated pages unchanged.

const escapeCell = (text: string): string => text.replaceAll('|', '\\|');
const lengthOf = (text: string): number => [...text].length;

/** The lines of a table. Every row has as many cells as `header`. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = [header, ...rows].map((row) => row.map(escapeCell));
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => lengthOf(row[column] ?? ''))));
  const line = (row: readonly string[], filler: string): string =>
    `| ${widths.map((width, column) => (row[column] ?? '') + filler.repeat(width - lengthOf(row[column] ?? ''))).join(' | ')} |`;
  const [head = [], ...body] = cells;
  return [line(head, ' '), line([], '-'), ...body.map((row) => line(row, ' '))];
}
