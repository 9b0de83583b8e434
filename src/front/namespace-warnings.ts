// Warnings of answers that say no: the tenant has no grant and no rule of a namespace that the request names.

import type { ServiceWarning } from '../core/service-warnings.ts';
import { namespaceOf, type Tuple } from '../core/tuples.ts';
import type { RequestContext, TenantSession } from './front.ts';

/** The namespaces of the checks that were answered with false. */
export function namespacesDenied(
  checks: readonly Pick<Tuple, 'subject' | 'object'>[],
  authorized: readonly boolean[],
): readonly string[] {
  const denied = checks.filter((_, index) => authorized[index] !== true);
  return denied.flatMap(({ subject, object }) => [namespaceOf(subject), namespaceOf(object)]);
}

/** The namespaces of a listing that has nothing; none if it has. */
export function namespacesOfEmpty(
  query: { readonly entity: string; readonly namespace?: string | undefined; readonly cursor?: string | undefined },
  page: { readonly items: readonly unknown[]; readonly nextCursor: string | undefined },
): readonly string[] {
  const { entity, namespace, cursor } = query;
  if (page.items.length > 0 || page.nextCursor !== undefined || cursor !== undefined) return [];
  return [namespaceOf(entity), ...(namespace === undefined ? [] : [namespace])];
}

/**
 * No promise: nothing needs to be asked. It never rejects: what is decided stays decided, and a failure to look up a
 * warning is none of the answer.
 */
export function warnOfUnknown(
  session: TenantSession,
  context: RequestContext,
  namespaces: readonly string[],
): Promise<readonly ServiceWarning[]> | undefined {
  const asked = namespaces.length === 0 ? undefined : session.unknownNamespaces(context, namespaces);
  return asked?.then(
    (unknown) => unknown.map((namespace) => ({ code: 'unknown-namespace', namespace })),
    () => [],
  );
}

/** Names that one session knows; each has at most 64 characters. */
const NAMESPACES_MAX = 256;

/**
 * Namespaces of which the tenant has had a grant or a rule, or which were created: there is no need to look them up
 * again. Some may be empty by now; a warning is only a hint.
 */
export class KnownNamespaces {
  readonly #names = new Set<string>();

  /** The names that neither this session nor `ask` knows, each once. */
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
