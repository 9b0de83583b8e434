// The commands send each text as it is, or nothing: no dot segment leaves its path, and no half of a surrogate pair
// becomes another text in a query.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CliFailure } from '../../../packages/cli/src/failures.ts';
import { path, ServiceClient } from '../../../packages/cli/src/service-client.ts';

it('a path has each part as one segment', () => {
  assert.equal(path`/tenants/${'a/../b'}/keys/${'é?#%'}`, '/tenants/a%2F..%2Fb/keys/%C3%A9%3F%23%25');
  for (const part of ['', '.', '..', 'a\ud800']) assert.throws(() => path`/tenants/t/keys/${part}`, CliFailure, part);
});

it('a query has each text as it is, or is not sent', async () => {
  const sent: string[] = [];
  const fetchIt: typeof fetch = async (input) => {
    sent.push(String(input));
    return new Response('{}', { headers: { 'content-type': 'application/json' } });
  };
  const client = new ServiceClient(
    { api: 'public', url: 'http://grantd.invalid', secret: 'gk1_a' },
    { fetch: fetchIt },
  );
  const open = (subject: string) => client.open({ method: 'GET', path: '/objects', query: { subject } });
  await open('user:\ufffd&=+');
  await assert.rejects(open('user:a\ud800'), CliFailure);
  assert.deepEqual(sent, ['http://grantd.invalid/v1/objects?subject=user%3A%EF%BF%BD%26%3D%2B']);
});
