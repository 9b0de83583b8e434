// Checks of names that rules may define, and checks with their reasons. All are decided at one moment.

import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import { relationNumber } from '../../core/tuples.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import type { NamedChecks } from '../../shard/shard.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { demandCount, demandIndices } from './parts/answer-fields.ts';
import { grantFrom, grantToWire } from './parts/grants.ts';
import { demandIdentifiers } from './parts/request-fields.ts';

const CHECK_MS = 0.02;

export const checkNamed = defineCall({
  request: 'checkNamed',
  reply: 'namedResults',
  access: 'check:read',
  write: 'no',
  costMs: ({ subjects }) => CHECK_MS * subjects.length,
  requestToWire: ({ checks, explain, list, denyUndefined }: NamedChecks) => ({
    checkNamed: {
      subjects: checks.map(({ subject }) => subject),
      names: checks.map(({ relation }) => relation),
      objects: checks.map(({ object }) => object),
      explain,
      list,
      denyUndefined,
    },
  }),
  requestFromWire: ({ subjects, names, objects, explain, list, denyUndefined }): NamedChecks => {
    const { length } = subjects;
    demand(length <= BULK_CHECKS_MAX, `A call has more than ${BULK_CHECKS_MAX} checks.`);
    demand(names.length === length && objects.length === length, 'The columns of the checks differ in length.');
    const checks = subjects.map((subject, index) => {
      const relation = names[index] ?? '';
      const object = objects[index] ?? '';
      demandIdentifiers(subject, object);
      demand(relationNumber(relation) !== undefined || isRuleName(relation), 'A check has no name.');
      return { subject, relation, object };
    });
    return { checks, explain, list, denyUndefined };
  },
  serve: ({ connection, handle }, checks) => connection.checkNamed(handle, checks),
  replyToWire: ({ authorized, checkedAtMs, because, undefinedAt }) => ({
    namedResults: {
      authorized: [...authorized],
      checkedAtMs,
      because: because.map((grants) => ({ grants: grants.map(grantToWire) })),
      undefinedAt: [...undefinedAt],
    },
  }),
  replyFromWire: ({ authorized, checkedAtMs, because, undefinedAt }, { checks, explain }) => {
    demandCount(authorized, checks);
    if (explain) demandCount(because, checks);
    demandIndices(undefinedAt, checks);
    return { authorized, checkedAtMs, because: because.map(({ grants }) => grants.map(grantFrom)), undefinedAt };
  },
});
