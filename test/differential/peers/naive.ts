// The definition of what rules mean, as a peer: slow, in memory, and without limits. It says which of two systems that
// differ is right, and stands in for the peers in tests.

import { type NaiveGrant, naiveHeld } from '../../kit/naive-rules.ts';
import type { Answer, Change, Question } from '../question.ts';
import { namespaceOf, type World } from '../universe.ts';
import type { Peer } from './peer.ts';

const keyOf = ({ subject, relation, object }: NaiveGrant): string => `${subject} ${relation} ${object}`;

export class NaivePeer implements Peer {
  readonly name = 'the definition';
  readonly standsTangles = true;
  #world: World | undefined;
  readonly #grants = new Map<string, NaiveGrant>();
  readonly #held = new Map<string, ReadonlySet<string>>();

  async begin(world: World): Promise<void> {
    this.#world = world;
    this.#grants.clear();
    this.#held.clear();
  }

  async write(changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      if (change.revoke) this.#grants.delete(keyOf(change));
      else this.#grants.set(keyOf(change), change);
    }
    this.#held.clear();
  }

  async answer(question: Question): Promise<Answer> {
    const { relation } = question;
    switch (question.kind) {
      case 'check':
        return { items: [String(this.#has(question.subject, relation, question.object))] };
      case 'objects':
        return {
          items: this.#entitiesWith(question.subject)
            .filter((object) => namespaceOf(object) === question.namespace)
            .filter((object) => this.#has(question.subject, relation, object)),
        };
      case 'subjects':
        return { items: this.#subjects(question) };
    }
  }

  #subjects({ object, relation, namespace, name }: Extract<Question, { kind: 'subjects' }>): readonly string[] {
    const entities = this.#entitiesWith(object).filter((entity) => namespaceOf(entity) === namespace);
    if (name !== undefined) {
      return entities.map((entity) => `${entity}#${name}`).filter((group) => this.#has(group, relation, object));
    }
    const everybody = `${namespace}:*`;
    // Whoever is in there only because everybody is, is not listed.
    const isForAll = this.#has(everybody, relation, object);
    if (!isForAll) return entities.filter((entity) => this.#has(entity, relation, object));
    return [...entities.filter((entity) => this.#hasOwn(entity, relation, object)), everybody];
  }

  #entitiesWith(one: string): readonly string[] {
    const found = new Set([one.split('#')[0] ?? '']);
    for (const { subject, object } of this.#grants.values()) {
      found.add(object);
      if (!subject.endsWith(':*')) found.add(subject.split('#')[0] ?? '');
    }
    return [...found];
  }

  #has(subject: string, relation: string, object: string): boolean {
    if (this.#world === undefined) throw new Error('There is no world yet.');
    let held = this.#held.get(subject);
    if (held === undefined) {
      held = naiveHeld(this.#world.ruleSet, [...this.#grants.values()], subject);
      this.#held.set(subject, held);
    }
    return held.has(`${relation} ${object}`);
  }

  /** Without what is granted to everybody. */
  #hasOwn(subject: string, relation: string, object: string): boolean {
    if (this.#world === undefined) throw new Error('There is no world yet.');
    const grants = [...this.#grants.values()].filter((grant) => grant.subject !== `${namespaceOf(subject)}:*`);
    return naiveHeld(this.#world.ruleSet, grants, subject).has(`${relation} ${object}`);
  }

  async stop(): Promise<void> {}
}
