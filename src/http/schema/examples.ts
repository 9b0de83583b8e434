// The examples of the OpenAPI file, one story throughout: alice may view a document.

export const EXAMPLE_TUPLE = { subject: 'user:alice', relation: 'viewer', object: 'document:readme' };
/** For a condition that asks for them. */
export const EXAMPLE_CONTEXT = { now: '2026-01-15T09:30:00Z', zone: 'Europe/Vienna' };

export const EXAMPLE_EVALUATION = {
  subject: { type: 'user', id: 'alice' },
  action: { name: 'viewer' },
  resource: { type: 'document', id: 'readme' },
};
export const EXAMPLE_EVALUATIONS = {
  subject: { type: 'user', id: 'alice' },
  resource: { type: 'document', id: 'readme' },
  evaluations: [{ action: { name: 'viewer' } }, { action: { name: 'editor' } }],
};
export const EXAMPLE_TIMESTAMP = '2026-01-15T09:30:00.000Z';
export const EXAMPLE_KEY_ID = 'key_01jhm9r0g0e8xsg4k6t2v8w0yz';

export const EXAMPLE_GRANT = {
  grant_id: 'grt_01jhm9r0g0e8xsg4k6t2v8w0ya',
  ...EXAMPLE_TUPLE,
  created_at: EXAMPLE_TIMESTAMP,
  expires_at: null,
};

export const EXAMPLE_NAMESPACE = { name: 'document', created_at: EXAMPLE_TIMESTAMP };

export const EXAMPLE_KEY = {
  key_id: EXAMPLE_KEY_ID,
  name: 'web frontend',
  scopes: ['check:read'],
  created_at: EXAMPLE_TIMESTAMP,
  expires_at: null,
};

export const EXAMPLE_REQUEST_ID = 'req_01jhm9r0g0e8xsg4k6t2v8w0yb';
export const EXAMPLE_CLIENT_REQUEST_ID = '2f1c1e7a-9f8e-4b0f-8a53-0d1b9f6c7a11';

export const EXAMPLE_TENANT_ID = 'ten_01jhm9r0g0e8xsg4k6t2v8w0yc';
export const EXAMPLE_REVISION = '5f2c7a1e9b04d8366ac1f0e2b7d49583';
export const EXAMPLE_ETAG = `"${EXAMPLE_REVISION}"`;
