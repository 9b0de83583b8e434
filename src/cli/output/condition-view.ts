// The condition of a grant, as text for people.

import { asRecord, type JsonRecord } from './json-view.ts';

/** Its name, and its context if it has one; undefined for a grant without a condition. */
export function textOfCondition({ condition }: JsonRecord): string | undefined {
  if (condition === undefined || condition === null) return undefined;
  const { name, context } = asRecord(condition);
  return context === undefined ? String(name) : `${name} ${JSON.stringify(context)}`;
}
