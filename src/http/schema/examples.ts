// The examples of the OpenAPI file, one story throughout: alice may view a document.

export const EXAMPLE_TUPLE = { subject: 'user:alice', relation: 'viewer', object: 'document:readme' };
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
