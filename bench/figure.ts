// A figure: what a scenario has measured, with its target if there is one.

export interface Figure {
  readonly name: string;
  /** Its row, if a scenario measures the same of many things: these make a table with a row for each. */
  readonly row?: string;
  readonly value: number;
  readonly unit: string;
  readonly target?: { readonly kind: 'at most' | 'at least'; readonly value: number };
  /** The values of the rounds; `value` is their median. */
  readonly rounds?: readonly number[];
}

/** Undefined: there is no target. */
export function isReached({ value, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  return target.kind === 'at most' ? value <= target.value : value >= target.value;
}
