// Why a mirror does not answer: what its place lacks of what a caller has to see.

export interface Refusal {
  readonly name: 'not-ready' | 'other-rules' | 'stale' | 'behind';
  /** SQLSTATE. */
  readonly code: string;
  /** Of the place `p`: refused unless it is true. */
  readonly needs: string;
  readonly why: string;
}

/** The entry of a moment, if its time is said, too: without it, what expires would count for nothing. */
export const momentOf = (seq = 'NULL', time = 'NULL'): string => `CASE WHEN ${time} IS NOT NULL THEN ${seq} END`;

/**
 * In the order in which they are looked at. The caller has to see everything up to the entry `through`, as of the entry
 * `atSeq`, by the join of `revision`, all of them expressions. Without one of them, NULL, it is refused.
 */
export function refusalsBy(through: string, atSeq: string, revision: string): readonly Refusal[] {
  return [
    { name: 'not-ready', code: 'GR004', needs: 'p.seq IS NOT NULL', why: 'the mirror is being made' },
    {
      name: 'other-rules',
      code: 'GR003',
      needs: `p.revision = ${revision}`,
      why: 'the mirror is for other rules',
    },
    {
      name: 'stale',
      code: 'GR002',
      needs: `p.horizon <= ${atSeq}`,
      why: 'the mirror has that moment no more: ask for the sets again',
    },
    {
      name: 'behind',
      code: 'GR001',
      needs: `p.seq >= ${through}`,
      why: 'the mirror has not come so far',
    },
  ];
}
