// All subjects of a tenant, a page at a time, for operators alone.

import { z } from 'zod';
import { success } from '../../../http/schema/operation-description.ts';
import { subjectSchema } from '../../../http/schema/schemas.ts';
import { pageShape } from '../../schemas.ts';
import { jsonResponse, nextCursor, reading } from '../operation.ts';

export const listSubjects = reading({
  id: 'listSubjects',
  path: '/tenants/{tenantId}/subjects',
  tag: 'Within a tenant',
  summary: 'List all subjects of a tenant',
  query: pageShape,
  successes: [
    success(200, 'One page, ascending.', {
      name: 'TenantSubjectList',
      schema: z.object({
        subjects: z
          .array(subjectSchema)
          .meta({ description: 'Every subject with a grant, and some that once had one.' }),
        next_cursor: nextCursor,
      }),
    }),
  ],
  errors: ['invalid-cursor'],
  async run(call, { limit, cursor }) {
    const session = await call.tenant();
    const page = await session.call('listSubjects', call.context(), { limit, cursor });
    return jsonResponse(200, { subjects: page.items, next_cursor: page.nextCursor ?? null });
  },
});
