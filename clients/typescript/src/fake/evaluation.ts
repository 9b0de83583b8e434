// Evaluates grants under rules as the service defines it: it repeats until nothing new follows. It reads as the
// definition, and is slow with very many grants.

import type { Grant, RuleSet } from '../generated/schemas.ts';
import { elementOf, namespaceOf } from './values.ts';

interface Group {
  readonly object: string;
  readonly name: string;
}

const GROUP = /^([^:]*:.+)#([A-Za-z][A-Za-z0-9_.-]{0,63})$/u;

/** Held names, as `name object`, each with a shortest chain of grants. */
export type Held = ReadonlyMap<string, readonly Grant[]>;

export const factOf = (name: string, object: string): string => `${name} ${object}`;

export class Evaluation {
  readonly #rules: RuleSet;
  readonly #grants: readonly Grant[];

  /** `grants`: those that have not expired. */
  constructor(rules: RuleSet, grants: readonly Grant[]) {
    this.#rules = rules;
    this.#grants = grants;
  }

  /** All that the subject holds. */
  heldBy(subject: string): Held {
    const held = new Map<string, readonly Grant[]>();
    let isNew = false;
    const hold = (fact: string, chain: readonly Grant[]): void => {
      const known = held.get(fact);
      if (known !== undefined && known.length <= chain.length) return;
      held.set(fact, chain);
      isNew = true;
    };
    const own = this.#groupOf(subject);
    if (own !== undefined) hold(factOf(own.name, own.object), []);
    const objects = new Set([...this.#grants.map(({ object }) => object), ...(own === undefined ? [] : [own.object])]);
    do {
      isNew = false;
      for (const grant of this.#grants) {
        const chain = this.#chainTo(subject, grant.subject, held);
        if (chain !== undefined) hold(factOf(grant.relation, grant.object), [...chain, grant]);
      }
      for (const object of objects) this.#applyRules(object, held, hold);
    } while (isNew);
    return held;
  }

  /** The subjects that hold the name on the object: those that grants name, and groups, with `self` also its own. */
  subjectsOf(name: string, object: string, self = false): readonly string[] {
    const found = new Set<string>();
    const wanted = new Map<string, Group>();
    const want = (next: Group): void => {
      wanted.set(factOf(next.name, next.object), next);
    };
    want({ name, object });
    // Iterating a map includes entries added meanwhile.
    for (const { name: wantedName, object: wantedObject } of wanted.values()) {
      if (this.#rules.groups && (self || wantedObject !== object)) found.add(`${wantedObject}#${wantedName}`);
      const onObject = this.#grants.filter((grant) => grant.object === wantedObject);
      for (const grant of onObject.filter(({ relation }) => relation === wantedName)) {
        found.add(grant.subject);
        const group = this.#groupOf(grant.subject);
        if (group !== undefined) want(group);
      }
      for (const { name: element, from } of this.#elementsOf(wantedName, wantedObject)) {
        if (from === undefined) want({ name: element, object: wantedObject });
        for (const grant of onObject.filter(({ relation }) => relation === from)) {
          if (this.#isEntity(grant.subject)) want({ name: element, object: grant.subject });
        }
      }
    }
    return [...found];
  }

  #elementsOf(name: string, object: string) {
    const namespace = namespaceOf(object);
    const rules = this.#rules.rules.filter((rule) => rule.namespace === namespace && rule.name === name);
    return rules.flatMap((rule) => rule.any_of.map(elementOf));
  }

  #applyRules(object: string, held: Held, hold: (fact: string, chain: readonly Grant[]) => void): void {
    const namespace = namespaceOf(object);
    for (const rule of this.#rules.rules) {
      if (rule.namespace !== namespace) continue;
      for (const { name, from } of rule.any_of.map(elementOf)) {
        const chain = from === undefined ? held.get(factOf(name, object)) : undefined;
        if (chain !== undefined) hold(factOf(rule.name, object), chain);
        if (from === undefined) continue;
        for (const grant of this.#grants) {
          if (grant.relation !== from || grant.object !== object || !this.#isEntity(grant.subject)) continue;
          const toParent = held.get(factOf(name, grant.subject));
          if (toParent !== undefined) hold(factOf(rule.name, object), [...toParent, grant]);
        }
      }
    }
  }

  /** From the subject to the subject of a grant; undefined if the grant is not for it. */
  #chainTo(subject: string, granted: string, held: Held): readonly Grant[] | undefined {
    if (granted === subject) return [];
    const namespace = namespaceOf(subject);
    const isPublic = this.#rules.public.includes(namespace) && granted === `${namespace}:*`;
    if (isPublic && this.#groupOf(subject) === undefined) return [];
    const group = this.#groupOf(granted);
    return group === undefined ? undefined : held.get(factOf(group.name, group.object));
  }

  #groupOf(text: string): Group | undefined {
    if (!this.#rules.groups) return undefined;
    const [, object, name] = GROUP.exec(text) ?? [];
    return object === undefined || name === undefined ? undefined : { object, name };
  }

  /** Neither a group nor `namespace:*`. */
  #isEntity(text: string): boolean {
    const namespace = namespaceOf(text);
    return this.#groupOf(text) === undefined && !(this.#rules.public.includes(namespace) && text === `${namespace}:*`);
  }
}
