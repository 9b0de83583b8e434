// The rules for namespaces: each is created once, explicitly or by a grant that names it, keeps its moment, and is
// listed from then on; a listing shows no name that nobody has asked for.

import type { Namespace, Tuple } from '../../src/core/tuples.ts';
import { namespaceOf } from '../../src/core/tuples.ts';
import type { Answer } from './requests.ts';

interface Known {
  /** When an answer first showed that it exists. */
  shownAtMs: number;
  createdAtMs: number | undefined;
  explicitly: boolean;
}

export class NamespaceRules {
  readonly #known = new Map<string, Known>();
  readonly #report: (failure: string) => void;

  constructor(report: (failure: string) => void) {
    this.#report = report;
  }

  #show(tenantId: string, name: string, atMs: number): Known {
    const key = `${tenantId}/${name}`;
    const known = this.#known.get(key) ?? { shownAtMs: atMs, createdAtMs: undefined, explicitly: false };
    this.#known.set(key, known);
    return known;
  }

  /** A grant stands, and so do the namespaces of its subject and its object. */
  implied(tenantId: string, tuple: Tuple, atMs: number): void {
    this.#show(tenantId, namespaceOf(tuple.subject), atMs);
    this.#show(tenantId, namespaceOf(tuple.object), atMs);
  }

  created(
    tenantId: string,
    name: string,
    startMs: number,
    endMs: number,
    answer: Answer<{ readonly created: boolean; readonly namespace: Namespace }>,
  ): void {
    if (answer.kind !== 'value') return;
    const { created, namespace } = answer.value;
    const before = this.#known.get(`${tenantId}/${name}`);
    if (namespace.name !== name) this.#report(`namespace ${namespace.name} is answered for ${name}`);
    if (created && before !== undefined && before.shownAtMs < startMs) {
      this.#report(`namespace ${name} is created a second time`);
    }
    const known = this.#show(tenantId, name, endMs);
    if (created && known.explicitly) this.#report(`namespace ${name} is created by two requests`);
    known.explicitly ||= created;
    this.#demandMoment(known, namespace);
  }

  listed(tenantId: string, startMs: number, endMs: number, namespaces: readonly Namespace[]): void {
    const names = new Set(namespaces.map(({ name }) => name));
    if (names.size !== namespaces.length) this.#report('a namespace is listed twice');
    for (const [key, known] of this.#known) {
      const [owner, name = ''] = key.split('/');
      if (owner === tenantId && known.shownAtMs < startMs && !names.has(name)) {
        this.#report(`namespace ${name} is missing from a listing`);
      }
    }
    for (const namespace of namespaces) this.#demandMoment(this.#show(tenantId, namespace.name, endMs), namespace);
  }

  #demandMoment(known: Known, { name, createdAtMs }: Namespace): void {
    known.createdAtMs ??= createdAtMs;
    if (known.createdAtMs !== createdAtMs) this.#report(`namespace ${name} has two moments of creation`);
  }
}
