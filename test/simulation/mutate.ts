// Applies a mutation to this process: files are patched as they are loaded, so it has to be called before the code under
// test is imported.

import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Edit, Mutation } from './mutations.ts';

const ROOT = new URL('../../', import.meta.url);

/** The text with the edit. Throws where the text does not hold what is to be replaced exactly once. */
export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once: ${find}`);
  return parts.join(replace);
}

export function mutate({ edits }: Mutation): void {
  const byUrl = Map.groupBy(edits, ({ file }) => pathToFileURL(new URL(file, ROOT).pathname).href);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const wanted = byUrl.get(url);
      if (wanted === undefined) return loaded;
      const text = Buffer.from(loaded.source as Uint8Array).toString('utf8');
      return { ...loaded, source: wanted.reduce(applyEdit, text) };
    },
  });
}
