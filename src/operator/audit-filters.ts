// The filter of the audit log as an operator enters it, in a query of the API or in the form of the page: both have the
// same names, rules and messages.

import { z } from 'zod';
import { AUDIT_ACTIONS, type AuditFilter } from '../core/audit-log.ts';
import { isIdentifier } from '../core/tuples.ts';
import { PARAMETERS } from './schemas.ts';

const ID = '[0-9a-hjkmnp-tv-z]{26}';
/** Actors as the log names them. Names of operators have up to 64 characters. */
const ACTOR = new RegExp(`^(?:system|key_${ID}|operator:[\\x21-\\x7e]{1,64})$`);
const REQUEST_ID = new RegExp(`^req_${ID}$`);

const identifier = z.string().refine(isIdentifier, 'must be namespace:external_id');

export const auditFilterShape = {
  action: z
    .enum(AUDIT_ACTIONS, `must be one of ${AUDIT_ACTIONS.join(', ')}`)
    .meta(PARAMETERS.action)
    .optional(),
  actor: z
    .string()
    .regex(ACTOR, 'must be operator:NAME, the id of an API key, or system')
    .meta({ description: 'Only changes by this actor: the id of a key, `operator:` and a name, or `system`.' })
    .optional(),
  subject: identifier.meta(PARAMETERS.subject).optional(),
  object: identifier.meta(PARAMETERS.object).optional(),
  request_id: z
    .string()
    .regex(REQUEST_ID, 'must be the id of a request, req_ and 26 characters')
    .meta({ description: 'Only changes made by this request.' })
    .optional(),
};

export type AuditFilterFields = z.output<z.ZodObject<typeof auditFilterShape>>;

export const auditFilterOf = (fields: AuditFilterFields): AuditFilter => ({
  action: fields.action,
  actor: fields.actor,
  subject: fields.subject,
  object: fields.object,
  requestId: fields.request_id,
});
