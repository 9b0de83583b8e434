// The commands that a page tells its readers to run, and the output that it shows.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** The blocks of shell commands of a page, in their order. `page`: its path in the repository. */
export function shellBlocks(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/** One block of commands of a page, and the lines that it prints, if a block of plain text after it shows them. */
export interface ShellStep {
  readonly commands: string;
  /** In each line, `…` stands for any text. */
  readonly printed: readonly string[] | undefined;
}

/** The blocks of shell commands of a page, each with what the page shows before the next one. */
export function shellSteps(page: string): ShellStep[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const steps: ShellStep[] = [];
  for (const [, language, block = ''] of text.matchAll(/^```(sh|text)\n(.*?)^```$/gms)) {
    if (language === 'sh') steps.push({ commands: block, printed: undefined });
    else {
      const step = steps.pop();
      if (step?.printed !== undefined) throw new Error(`${page} shows twice what a block prints.`);
      if (step !== undefined) steps.push({ ...step, printed: linesOf(block) });
    }
  }
  return steps;
}

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Printed lines, where a page shows them with `…` for any text as it shows them. */
export function asShown(lines: readonly string[], shown: readonly string[]): string[] {
  return lines.map((line, at) => {
    const expected = shown[at] ?? '';
    const parts = expected.split('…').map((part) => RegExp.escape(part));
    return new RegExp(`^${parts.join('.*')}$`).test(line) ? expected : line;
  });
}
