// What a write of rules would change.

import { relationOf } from '../../core/tuples.ts';
import type { RulesPreview, RulesRequest } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { malformed } from './parts/answer-fields.ts';
import { relationToWire } from './parts/request-fields.ts';
import { rulesRequestFrom, rulesRequestToWire } from './parts/rules.ts';

export const previewRules = defineCall({
  request: 'previewRules',
  reply: 'rulesPreview',
  access: 'admin',
  write: 'no',
  requestToWire: (request: RulesRequest) => ({ previewRules: rulesRequestToWire(request) }),
  requestFromWire: rulesRequestFrom,
  serve: ({ connection, handle }, request) => connection.previewRules(handle, request),
  replyToWire: ({ ungranted, ...preview }: RulesPreview) => ({
    rulesPreview: {
      ...preview,
      ungranted: ungranted.map(({ namespace, relation }) => ({ namespace, relation: relationToWire(relation) })),
    },
  }),
  replyFromWire: ({ ungranted, ...preview }): RulesPreview => ({
    ...preview,
    ungranted: ungranted.map(({ namespace, relation }) => {
      const known = relationOf(relation);
      if (known === undefined) throw malformed(`${relation} is not a relation.`);
      return { namespace, relation: known };
    }),
  }),
});
