// The page of the subjects of a tenant: those that hold nothing any more are marked, and the page needs no marks.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { GrantdError } from '../../../../../src/core/errors.ts';
import type { Grant } from '../../../../../src/core/tuples.ts';
import { systemClock, systemRandom } from '../../../../../src/roles/process/system.ts';
import { CALLS } from '../../../../../src/rpc/calls/table.ts';
import { answering } from '../../../../kit/call-handlers.ts';
import { OPERATOR_NAME, OPERATOR_TOKEN, startConsole } from '../../../../kit/console-service.ts';
import { ConsoleVisitor } from '../../console-visitor.ts';

const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

it('marks a subject without grants only if it is known to have none', async () => {
  await using service = await startConsole({ clock: systemClock, random: systemRandom });
  const { operator } = service;
  const { tenantId } = await operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'test' });
  const session = await operator.tenant(context, tenantId, OPERATOR_NAME);
  const grant = { subject: 'user:holds', relation: 'viewer', object: 'doc:1', revoke: false } as const;
  await session.call(CALLS.writeGrants, context, [grant]);
  const own = operator.tenant.bind(operator);
  const subjects = ['user:fails', 'user:former', 'user:holds', 'user:many-revoked'];
  operator.tenant = async (...claim) => {
    const real = await own(...claim);
    const none: readonly Grant[] = [];
    return answering(real, {
      listSubjects: async () => ({ items: subjects, nextCursor: undefined }),
      listGrants: async (call, query) => {
        const subject = 'subject' in query.of ? query.of.subject : '';
        if (subject === 'user:fails') throw new GrantdError('unavailable', 'Not now.');
        const page = await real.call(CALLS.listGrants, call, query);
        return subject === 'user:many-revoked' ? { ...page, items: none, nextCursor: 'further' } : page;
      },
    });
  };
  const visitor = await new ConsoleVisitor(service.url).logIn(OPERATOR_TOKEN);
  const { status, text } = await visitor.get(`/console/tenants/${tenantId}/grants`);
  assert.equal(status, 200);
  const items = [...text.matchAll(/<li><a [^>]*><bdi class="foreign">([^<]*)<\/bdi><\/a>(.*?)<\/li>/gs)];
  assert.deepEqual(
    items.map(([, subject, mark = '']) => [subject, mark.includes('no grants any more')]),
    subjects.map((subject) => [subject, subject === 'user:former']),
  );
});
