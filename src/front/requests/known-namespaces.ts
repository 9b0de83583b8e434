// Namespaces of which a tenant has had a grant or a rule, or which somebody created: whoever knows them need not ask.
// Of some, nothing may be left; warnings are only hints.

/** Their names have at most 64 characters. */
const NAMESPACES_MAX = 256;

export class KnownNamespaces {
  readonly #names = new Set<string>();

  /** Of the names, each once: those that are not known here, as far as `ask` does not know them either. */
  unknownOf(
    names: readonly string[],
    ask: (names: readonly string[]) => Promise<readonly string[]>,
  ): Promise<readonly string[]> | undefined {
    const asked = [...new Set(names.filter((name) => !this.#names.has(name)))];
    if (asked.length === 0) return undefined;
    return ask(asked).then((unknown) => {
      if (this.#names.size + asked.length > NAMESPACES_MAX) this.#names.clear();
      for (const name of asked) if (!unknown.includes(name)) this.#names.add(name);
      return unknown;
    });
  }
}
