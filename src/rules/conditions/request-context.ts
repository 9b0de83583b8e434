// The context of a request: parameters of conditions as JSON. Invariant: what a context gives is converted for that
// context alone, and is released with it.

import type { JsonObject } from '../../core/json-members.ts';
import type { ConditionParameter } from './compiled-condition.ts';
import { convertValue, type ValueRefusal } from './json-values.ts';
import type { StepMeter } from './step-meter.ts';
import type { Value } from './values.ts';

/** The context of one request. Its values are converted once for each type that conditions declare for them. */
export class RequestContext {
  readonly members: JsonObject;
  /** The field that contains it. */
  readonly place: string;
  readonly #converted = new Map<string, Value | ValueRefusal>();

  constructor(members: JsonObject, place: string) {
    this.members = members;
    this.place = place;
  }

  /** Undefined: the request does not give it. */
  valueOf({ name, key, type }: ConditionParameter, meter: StepMeter): Value | ValueRefusal | undefined {
    if (!Object.hasOwn(this.members, name)) return undefined;
    const known = this.#converted.get(key);
    if (known !== undefined) return known;
    const converted = convertValue(this.members[name], type, meter);
    this.#converted.set(key, converted);
    return converted;
  }
}
