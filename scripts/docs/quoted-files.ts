// Pages that quote files of the examples: the block of code after a paragraph that begins with the name of such a file,
// as a link, is the file, so that what a reader sees is what the tests run.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const QUOTED =
  /(^\[`[^`/\n]+`\]\((?<file>[^)\s]*\/examples\/[^)\s]+)\)(?:[^\n]*\n){1,4}\n)```(?<language>\w+)\n.*?^```$/gms;

/** The text of a page with each file as it is now. `path`: that of the page in the repository. */
export const renderQuotedFiles = (path: string, text: string): string =>
  text.replace(QUOTED, (_block, before: string, file: string, language: string) => {
    const content = readFileSync(join(ROOT, dirname(path), file), 'utf8');
    return `${before}\`\`\`${language}\n${content}\`\`\``;
  });
