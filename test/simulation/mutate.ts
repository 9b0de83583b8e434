// Patches the source text of the code under test as it is loaded, so before it is imported: with mutations, with
// probes, and so that every failed assertion is told, also where something catches it.

import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

const ROOT = new URL('../../', import.meta.url);

export interface Edit {
  /** From the root of the project. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** The text with the edit. Throws where the text does not hold what is to be replaced exactly once. */
export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once: ${find}`);
  return parts.join(replace);
}

/** On which the message of every failed assertion is published once `watchAssertions` was called. */
export const ASSERTIONS_CHANNEL = 'grantd:failed-assertions';

export function watchAssertions(): void {
  const file = 'src/core/assert.ts';
  const publish = `process.getBuiltinModule('node:diagnostics_channel').channel('${ASSERTIONS_CHANNEL}').publish(message);`;
  const find = 'if (!condition) throw';
  const edit = { file, find, replace: `if (!condition) ${publish} ${find}` };
  patchAsLoaded(new Map([[file, (text) => applyEdit(text, edit)]]));
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
