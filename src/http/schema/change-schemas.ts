// The schemas of the change feed: its query, a change, its pages and its streams.

import { z } from 'zod';
import { FEED_ACTIONS, feedActionsOf } from '../../core/change-feed.ts';
import { parseTimestamp } from '../../core/text/timestamps.ts';
import { isNamespaceName, isRelationName, NAMESPACE_PATTERN, RELATION_RULE } from '../../core/tuples.ts';
import { EXAMPLE_GRANT, EXAMPLE_KEY_ID, EXAMPLE_REQUEST_ID, EXAMPLE_TIMESTAMP } from './examples.ts';
import { ruleSetSchema } from './rule-schemas.ts';
import { filterList, pageLimit, pairList, waitSeconds } from './schema-parts.ts';
import { grantSchema, grantTermsShape, namespaceNameSchema } from './schemas.ts';

const SINCE_ERROR = 'must be "now", or an ISO 8601 timestamp with a time zone (a "+" is written %2B)';

export const changesQuerySchema = z.object({
  cursor: z
    .string()
    .min(1, { error: 'is empty; leave it out to start with the oldest change' })
    .meta({
      description:
        'Only what comes after it: a `next_cursor`, the id of an event, or the `X-Service-Cursor` of a listing of grants. Opaque and signed. Without `cursor` and `since`, the feed begins with the oldest change that is kept.',
    })
    .optional(),
  since: z
    .string()
    .refine((text) => text === 'now' || parseTimestamp(text) !== undefined, { error: SINCE_ERROR })
    .meta({
      description:
        'Only what has come since this time (ISO 8601 with a time zone), or comes from `now` on. Not with `cursor`.',
    })
    .optional(),
  namespace: filterList(
    `a namespace name (${NAMESPACE_PATTERN})`,
    isNamespaceName,
    'Only grants on objects of these namespaces, and the namespaces themselves. Changes of the rules concern every namespace.',
  ).optional(),
  relation: filterList(
    RELATION_RULE,
    isRelationName,
    'Only grants of these relations. Changes of the rules concern every relation.',
  ).optional(),
  on: pairList(
    'Only grants of these relations on objects of these namespaces, each as `namespace:relation`. Changes of the rules concern all of them. Not with `namespace` or `relation`.',
  ).optional(),
  action: z
    .string()
    .refine((text) => feedActionsOf(text) !== undefined, {
      error: `must be one or several of ${FEED_ACTIONS.join(', ')}, separated by commas`,
    })
    .meta({ description: `Only these, separated by commas: ${FEED_ACTIONS.map((each) => `\`${each}\``).join(', ')}.` })
    .optional(),
  checkpoints: z
    .enum(['batch'], 'must be batch; leave it out for checkpoints every 15 s')
    .meta({
      description:
        '`batch`: the stream has a checkpoint after each batch of changes, too, at once. Without it: only every 15 s. Not for pages.',
    })
    .optional(),
  limit: pageLimit('Changes per page; may change from page to page. Not for streams.').optional(),
  wait: waitSeconds('How many seconds a page without a change waits for one. Not for streams.').optional(),
});

const formerTermsSchema = z.object(grantTermsShape).meta({
  description:
    'Only for `grant.updated`: the terms that the grant had before. Absent from changes that version 0.2 recorded, which did not keep them.',
});

export const changeSchema = z
  .object({
    seq: z.int().min(1).meta({ description: 'The position of the write in the log of the tenant’s slot.' }),
    index: z.int().min(0).meta({
      description: 'The number of the change at its position: (`seq`, `index`) identifies a change and orders them.',
    }),
    at: z
      .string()
      .meta({ format: 'date-time', description: 'When it was decided. ISO 8601 in UTC with milliseconds.' }),
    actor: z.string().meta({ description: 'The id of a key, `operator:` and a name, or `system`.' }),
    request_id: z.string().meta({ description: 'The request that caused it.' }),
    action: z.enum(FEED_ACTIONS).meta({ description: 'Later versions may add actions.' }),
    grant: grantSchema.optional(),
    namespace: z
      .object({ name: namespaceNameSchema })
      .optional()
      .meta({ description: 'Only for `namespace.created`.' }),
    rules: ruleSetSchema.optional(),
    former: ruleSetSchema.optional(),
    former_terms: formerTermsSchema.optional(),
  })
  .meta({
    description:
      'A change of the grants, namespaces or rules of the tenant. Actions on grants have `grant`: as it is after the change, or was before its end. `grant.updated` has `former_terms`: until when the grant was to hold before, and on which condition. `namespace.created` has `namespace`. `rules.updated` has `rules`, and `former`: the previous ones; both only for a key with the scope `admin`, which alone reads rules.',
  });

const seq = z.int().min(0).meta({
  description:
    'An entry of the log: every change of it and of all earlier ones that passes the filter has been sent, on this page or before. No entry is half sent: if a page ends within one, this is the one before. At the end of the feed, the last entry of the log.',
});

const nextCursor = z.string().meta({ description: 'The `cursor` of the next request. Always there: more may come.' });

export const changeListSchema = z.object({
  changes: z.array(changeSchema).meta({ description: 'In the order in which they were decided.' }),
  next_cursor: nextCursor,
  seq,
});

export const changeLineSchema = z
  .object({
    type: z.enum(['change', 'checkpoint']).meta({ description: 'Later versions may add types.' }),
    cursor: z
      .string()
      .meta({ description: 'Where to continue: everything up to here that passes the filter has been sent.' }),
    change: changeSchema.optional(),
    at: z
      .string()
      .meta({
        format: 'date-time',
        description: 'Only for a `checkpoint`: when everything up to its cursor had been sent.',
      })
      .optional(),
    seq: seq.optional(),
  })
  .meta({ description: 'One line of the stream. A `change` has `change`, a `checkpoint` has `at` and `seq`.' });

export const changeEventsSchema = z.string().meta({
  description:
    'Server-sent events. `change`: its data is a Change. `checkpoint`: its data is `{"at": …, "seq": …}`. The id of each is a cursor: everything up to it that passes the filter has been sent.',
});

const EXAMPLE_CURSOR = 'mT0c4yW2p1Kq9sVbX7dLrDQyLDAsMTc2ODQ2OTQwMDAwMA';

export const EXAMPLE_CHANGE = {
  seq: 42,
  index: 0,
  at: EXAMPLE_TIMESTAMP,
  actor: EXAMPLE_KEY_ID,
  request_id: EXAMPLE_REQUEST_ID,
  action: 'grant.created',
  grant: EXAMPLE_GRANT,
};

export const EXAMPLE_CHANGES = { changes: [EXAMPLE_CHANGE], next_cursor: EXAMPLE_CURSOR, seq: 42 };

export const EXAMPLE_LINE = `${JSON.stringify({ type: 'change', cursor: EXAMPLE_CURSOR, change: EXAMPLE_CHANGE })}\n`;

export const EXAMPLE_EVENT = `event: change\nid: ${EXAMPLE_CURSOR}\ndata: ${JSON.stringify(EXAMPLE_CHANGE)}\n\n`;
