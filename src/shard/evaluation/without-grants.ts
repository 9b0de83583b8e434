// The stored grants that a comparison does without: what they would give is as if they were revoked.

import type { RevokedGrants } from '../../rules/access-changes.ts';
import type { CompiledRules } from '../../rules/compiled-rules.ts';
import { type Adjacent, type Enumeration, TOO_MANY } from '../../rules/graph.ts';

export class HiddenGrants {
  readonly #subject: string | undefined;
  readonly #object: string | undefined;
  /** Undefined: of every relation. 0: of one that has no grants. */
  readonly #relation: number | undefined;

  constructor(rules: CompiledRules, { subject, relation, object }: RevokedGrants) {
    this.#subject = subject;
    this.#object = object;
    this.#relation = relation === undefined ? undefined : (rules.numberOf(relation) ?? 0);
  }

  #hidesRelation(relation: number): boolean {
    return this.#relation === undefined || this.#relation === relation;
  }

  #hidesSubject(subject: string): boolean {
    return this.#subject === undefined || this.#subject === subject;
  }

  #hidesObject(object: string): boolean {
    return this.#object === undefined || this.#object === object;
  }

  /** Those of the relations that the subject may still have on the object. */
  relationsLeft(subject: string, relations: readonly number[], object: string): readonly number[] {
    if (!this.#hidesSubject(subject) || !this.#hidesObject(object)) return relations;
    return relations.filter((relation) => !this.#hidesRelation(relation));
  }

  objectsLeft(subject: string, objects: Enumeration): Enumeration {
    return this.#hidesSubject(subject) ? this.#left(objects, (text) => this.#hidesObject(text)) : objects;
  }

  subjectsLeft(object: string, subjects: Enumeration): Enumeration {
    return this.#hidesObject(object) ? this.#left(subjects, (text) => this.#hidesSubject(text)) : subjects;
  }

  #left(lists: Enumeration, hides: (text: string) => boolean): Enumeration {
    if (lists === undefined || lists === TOO_MANY) return lists;
    return lists.map((list): Adjacent => {
      const { relation, texts } = list;
      return this.#hidesRelation(relation) ? { relation, texts: texts.filter((text) => !hides(text)) } : list;
    });
  }
}
