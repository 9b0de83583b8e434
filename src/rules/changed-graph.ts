// A graph with some grants more, and some less: what would the answer be then?

import { type Adjacent, type Enumeration, type Graph, type Step, TOO_MANY } from './graph.ts';

export const stepKey = ({ subject, relation, object }: Step): string => `${subject} ${relation} ${object}`;

type End = 'subject' | 'object';

export class ChangedGraph implements Graph {
  readonly #graph: Graph;
  readonly #added: readonly Step[];
  readonly #removed: readonly Step[];

  constructor(graph: Graph, added: readonly Step[], removed: readonly Step[]) {
    this.#graph = graph;
    this.#added = added;
    this.#removed = removed;
  }

  relationOf(subject: string, relations: readonly number[], object: string): number | typeof TOO_MANY | undefined {
    const isOf = (step: Step): boolean => step.subject === subject && step.object === object;
    const added = this.#added.find((step) => isOf(step) && relations.includes(step.relation));
    if (added !== undefined) return added.relation;
    const removed = this.#removed.filter(isOf);
    const left =
      removed.length === 0 ? relations : relations.filter((each) => removed.every(({ relation }) => relation !== each));
    return left.length === 0 ? 0 : this.#graph.relationOf(subject, left, object);
  }

  groupsOn(object: string, relations: readonly number[]): Enumeration {
    const added = this.#added.filter(({ subject }) => subject.includes('#'));
    return this.#changed(this.#graph.groupsOn(object, relations), 'object', object, relations, added);
  }

  subjectsOn(object: string, relations: readonly number[]): Enumeration {
    return this.#changed(this.#graph.subjectsOn(object, relations), 'object', object, relations, this.#added);
  }

  objectsOf(subject: string, relations: readonly number[] | undefined): Enumeration {
    return this.#changed(this.#graph.objectsOf(subject, relations), 'subject', subject, relations, this.#added);
  }

  #changed(
    found: Enumeration,
    end: End,
    entity: string,
    relations: readonly number[] | undefined,
    added: readonly Step[],
  ): Enumeration {
    if (found === undefined || found === TOO_MANY) return found;
    const other: End = end === 'object' ? 'subject' : 'object';
    const isOf = (step: Step): boolean => step[end] === entity;
    const removed = this.#removed.filter(isOf);
    const left = removed.length === 0 ? found : found.map((each) => without(each, removed, other));
    const more = added.filter((step) => isOf(step) && relations?.includes(step.relation) !== false);
    return [...left, ...more.map((step) => ({ relation: step.relation, texts: [step[other]] }))];
  }
}

function without(adjacent: Adjacent, removed: readonly Step[], end: End): Adjacent {
  const gone = removed.filter(({ relation }) => relation === adjacent.relation).map((step) => step[end]);
  return gone.length === 0 ? adjacent : { ...adjacent, texts: adjacent.texts.filter((text) => !gone.includes(text)) };
}
