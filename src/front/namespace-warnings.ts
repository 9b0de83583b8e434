// Warnings of answers that say no: the tenant has no grant and no rule of a namespace that the request names.

import type { ServiceWarning } from '../core/service-warnings.ts';
import type { RequestContext } from './front.ts';

/** Of the request, once it is answered. */
export const warningsOf = ({ unknownNamespaces = [] }: RequestContext): readonly ServiceWarning[] =>
  unknownNamespaces.map((namespace) => ({ code: 'unknown-namespace', namespace }));
