// Which names, gates and conditions of a rule set were decided, and how: one that was never decided both ways has no
// test of one of its sides.

import { isJsonObject, type JsonObject } from '../../core/json-members.ts';
import { namespaceOf } from '../../core/tuples.ts';
import { isGate, type RuleElement, type RuleSet, textOfElement, textOfName } from '../../rules/rule-set.ts';

export interface Covered {
  readonly kind: 'name' | 'gate';
  /** `document can_read`, or `document (a and b)` */
  readonly text: string;
  /** How it was decided. */
  readonly seen: Set<boolean>;
}

/** The gates in an element, those inside of others included. */
function* gatesIn(element: RuleElement): Generator<string> {
  if (!isGate(element)) {
    if (element.all === true) yield textOfName(element);
    return;
  }
  yield textOfElement(element);
  for (const each of [...element.elements, ...element.butNot]) yield* gatesIn(each);
}

const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

export class Coverage {
  readonly #parts = new Map<string, Covered>();

  constructor({ rules }: RuleSet) {
    const add = (kind: Covered['kind'], text: string): void => {
      if (!this.#parts.has(text)) this.#parts.set(text, { kind, text, seen: new Set() });
    };
    for (const { namespace, name, anyOf } of rules) {
      add('name', `${namespace} ${name}`);
      for (const element of anyOf) for (const gate of gatesIn(element)) add('gate', `${namespace} ${gate}`);
    }
  }

  decided(object: string, name: string, holds: boolean): void {
    this.#parts.get(`${namespaceOf(object)} ${name}`)?.seen.add(holds);
  }

  /** All that a proof decides, as the APIs show it. */
  proved({ name, object, holds, gate, gates }: JsonObject): void {
    if (typeof name !== 'string' || typeof object !== 'string') return;
    if (typeof holds === 'boolean') this.decided(object, name, holds);
    for (const each of objectsIn(gate === undefined ? gates : [gate])) {
      // A gate of what holds has opened it.
      if (typeof each.gate === 'string' && typeof each.object === 'string') {
        this.decided(each.object, each.gate, gate !== undefined);
      }
      for (const part of [...objectsIn(each.all_of), ...objectsIn(each.but_not)]) this.proved(part);
    }
  }

  get parts(): readonly Covered[] {
    return [...this.#parts.values()];
  }
}

export const isCovered = ({ seen }: Covered): boolean => seen.size === 2;

/** What was never decided both ways, a line each. */
export function coverageLines(coverage: Coverage): readonly string[] {
  const { parts } = coverage;
  const covered = parts.filter(isCovered).length;
  const never = ({ seen }: Covered): string => {
    if (seen.size === 0) return 'never decided';
    return seen.has(true) ? 'never false' : 'never true';
  };
  return [
    `${covered} of ${parts.length} names and gates were decided both ways${covered < parts.length ? ':' : '.'}`,
    ...parts.filter((part) => !isCovered(part)).map((part) => `  ${part.text}: ${never(part)}`),
  ];
}
