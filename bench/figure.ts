// A figure: what a scenario has measured, with its target where the project has set one.

export interface Figure {
  readonly name: string;
  /** What it belongs to, where a scenario measures the same of many things: these make a table with a row for each. */
  readonly row?: string;
  readonly value: number;
  readonly unit: string;
  readonly target?: { readonly kind: 'at most' | 'at least'; readonly value: number };
  /** The values of the rounds, of which `value` is the median. */
  readonly rounds?: readonly number[];
}

/** Undefined: there is no target. */
export function isReached({ value, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  return target.kind === 'at most' ? value <= target.value : value >= target.value;
}
