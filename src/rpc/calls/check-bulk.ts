// Up to 100 checks, all at one moment of the tenant's history. The codec (codec/) writes the bytes by hand, since every
// check pays for them.

import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import type { TupleColumns } from '../../core/tuples.ts';
import type { CheckBulk, CheckBulk__Output } from '../gen/grantd/v1/CheckBulk.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { demandCount } from './parts/answer-fields.ts';
import { demandTuple } from './parts/request-fields.ts';

const CHECK_MS = 0.01;

function checksFrom(bulk: CheckBulk__Output): TupleColumns {
  const { subjects, relations, objects } = bulk;
  demand(subjects.length <= BULK_CHECKS_MAX, `A bulk call has more than ${BULK_CHECKS_MAX} checks.`);
  demand(
    relations.length === subjects.length && objects.length === subjects.length,
    'The columns of a bulk call differ in length.',
  );
  for (let index = 0; index < subjects.length; index += 1) {
    demandTuple(subjects[index] ?? '', relations[index] ?? 0, objects[index] ?? '');
  }
  return bulk;
}

export const checkBulk = defineCall({
  request: 'checkBulk',
  reply: 'bulkResults',
  access: 'check:read',
  write: 'no',
  costMs: ({ subjects }) => CHECK_MS * subjects.length,
  // Relations have the same numbers in the core; the columns are not copied.
  requestToWire: (checks: TupleColumns) => ({ checkBulk: checks as CheckBulk }),
  requestFromWire: checksFrom,
  serve: ({ connection, handle }, checks) => connection.checkBulk(handle, checks),
  replyToWire: ({ authorized, checkedAtMs }) => ({ bulkResults: { authorized: [...authorized], checkedAtMs } }),
  replyFromWire: ({ authorized, checkedAtMs }, { subjects }) => {
    demandCount(authorized, subjects);
    return { authorized, checkedAtMs };
  },
});
