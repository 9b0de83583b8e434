// What the calls of peers need of the tenure that answers them: the owner's own, or what a reader has of it.

import type { NamedPage } from '../memory/page-uses.ts';
import type { Tenure } from './tenure.ts';

export interface ServedTenure
  extends Pick<
    Tenure,
    | 'slot'
    | 'epoch'
    | 'budget'
    | 'slotTime'
    | 'lastSeq'
    | 'nextBase'
    | 'behindMs'
    | 'time'
    | 'assertServing'
    | 'advance'
    | 'applied'
    | 'checkpointed'
    | 'submit'
  > {
  readonly hotPages: { note(page: NamedPage): void };
}
