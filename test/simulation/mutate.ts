// Patches the code under test in this process: files are patched as they are loaded, so it has to be called before they
// are imported. Besides mutations, the simulation has every failed assertion told, also where something catches it.

import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Edit } from './mutations.ts';

const ROOT = new URL('../../', import.meta.url);

/** The text with the edit. Throws where the text does not hold what is to be replaced exactly once. */
export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once: ${find}`);
  return parts.join(replace);
}

/** On which the message of every failed assertion is published once `watchAssertions` was called. */
export const ASSERTIONS_CHANNEL = 'grantd:failed-assertions';

export function watchAssertions(): void {
  const publish = `process.getBuiltinModule('node:diagnostics_channel').channel('${ASSERTIONS_CHANNEL}').publish(message);`;
  const find = 'if (!condition) throw';
  mutate({ edits: [{ file: 'src/core/assert.ts', find, replace: `if (!condition) ${publish} ${find}` }] });
}

export function mutate({ edits }: { readonly edits: readonly Edit[] }): void {
  const byFile = Map.groupBy(edits, ({ file }) => file);
  patchAsLoaded(new Map([...byFile].map(([file, some]) => [file, (text: string) => some.reduce(applyEdit, text)])));
}

/** By file, from the root of the project: what makes another text of its text. */
export function patchAsLoaded(patches: ReadonlyMap<string, (text: string) => string>): void {
  const byUrl = new Map([...patches].map(([file, patch]) => [pathToFileURL(new URL(file, ROOT).pathname).href, patch]));
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const patch = byUrl.get(url);
      if (patch === undefined) return loaded;
      return { ...loaded, source: patch(Buffer.from(loaded.source as Uint8Array).toString('utf8')) };
    },
  });
}
