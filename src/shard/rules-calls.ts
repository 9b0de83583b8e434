// What the calls about rules take and return, as the port of a shard has it.

import type { Relation } from '../core/tuples.ts';
import type { RuleSet } from '../rules/rule-set.ts';

/** Rules to be written, or tried. */
export interface RulesRequest {
  readonly ruleSet: RuleSet;
  /** Revisions, of which the present rules must have one; undefined: whatever the present rules are. */
  readonly ifMatch: readonly string[] | undefined;
}

/** What would change if the rules were written. Only live grants count. */
export interface RulesPreview {
  /** The revision of the present rules. */
  readonly revision: string;
  /**
   * Subjects `namespace:id#name` with a grant, which becomes or ceases to be one to the members of the group. 0 if
   * `groups` stays as it is.
   */
  readonly groupSubjects: number;
  /** Grants to `namespace:*` that become, or cease to be, ones to everybody of the namespace. */
  readonly publicGrants: number;
  /** Built-in relations of which rules make use, but of which no object of the namespace has a grant. */
  readonly ungranted: readonly { readonly namespace: string; readonly relation: Relation }[];
  /** Grants that were looked at. */
  readonly scannedGrants: number;
  /** Whether these were all. If not, the counts are lower bounds, and a relation in `ungranted` may have a grant. */
  readonly complete: boolean;
}
