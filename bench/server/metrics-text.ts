// Reads numbers from the text of /metrics.

/** The sum of a metric over its labels; 0 if it has no sample yet. */
export function readMetric(text: string, name: string): number {
  let total = 0;
  for (const line of text.split('\n')) {
    const separator = line.lastIndexOf(' ');
    const sample = line.slice(0, separator);
    if (sample === name || sample.startsWith(`${name}{`)) total += Number(line.slice(separator + 1));
  }
  return total;
}
