// Decisions for the tests of the decision log.

import type { Decision } from '../../../src/telemetry/decision-log.ts';

export const decision = (index: number, change: Partial<Decision> = {}): Decision => ({
  requestId: 'req_01jhm9r0g0e8xsg4k6t2v8w0yb',
  index,
  tenantId: 'ten_01jhm9r0g0e8xsg4k6t2v8w0yc',
  keyId: 'key_01jhm9r0g0e8xsg4k6t2v8w0yz',
  subject: 'user:alice',
  relation: 'viewer',
  object: 'document:readme',
  authorized: true,
  checkedAtMs: 1_700_000_000_123,
  answeredAtMs: 1_700_000_000_125,
  ...change,
});
