// What a conversion reports, in the order of the files.

import type { Place } from './source-model.ts';

/** A difference between the rules and the model. */
export interface Finding {
  readonly place: Place;
  readonly text: string;
  /** The omitted part, for which some checks are denied; undefined: the finding is for information only. */
  readonly lost: string | undefined;
}
