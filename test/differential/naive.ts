// The definition of what rules mean, as a system: slow, in memory, and without limits.

import { NO_RULES, type RuleSet } from '../../src/rules/rule-set.ts';
import { type NaiveGrant, naiveHeld } from '../kit/naive-rules.ts';
import type { Answer, Change, Question } from './question.ts';
import type { System } from './system.ts';
import { namespaceOf, type World } from './universe.ts';

const keyOf = ({ subject, relation, object }: NaiveGrant): string => `${subject} ${relation} ${object}`;

export class NaiveSystem implements System {
  #ruleSet: RuleSet = NO_RULES;
  readonly #grants = new Map<string, NaiveGrant>();
  readonly #held = new Map<string, ReadonlySet<string>>();

  async begin({ ruleSet }: World): Promise<void> {
    this.#ruleSet = ruleSet;
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
    const held = this.#held.get(subject) ?? naiveHeld(this.#ruleSet, [...this.#grants.values()], subject);
    this.#held.set(subject, held);
    return held.has(`${relation} ${object}`);
  }

  /** Without what is granted to everybody. */
  #hasOwn(subject: string, relation: string, object: string): boolean {
    const grants = [...this.#grants.values()].filter((grant) => grant.subject !== `${namespaceOf(subject)}:*`);
    return naiveHeld(this.#ruleSet, grants, subject).has(`${relation} ${object}`);
  }

  async stop(): Promise<void> {}
}
