// A decision as one line of text.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decisionLine } from '../../../src/telemetry/decision-output.ts';
import { decision } from './decisions.ts';

describe('the line of a decision', () => {
  it('is an event of CloudEvents 1.0 in JSON', () => {
    assert.deepEqual(JSON.parse(decisionLine(decision(3, { authorized: false }), '/grantd-front/front-0')), {
      specversion: '1.0',
      type: 'grantd.decision.v1',
      source: '/grantd-front/front-0',
      id: 'req_01jhm9r0g0e8xsg4k6t2v8w0yb.3',
      time: '2023-11-14T22:13:20.125Z',
      datacontenttype: 'application/json',
      data: {
        tenant_id: 'ten_01jhm9r0g0e8xsg4k6t2v8w0yc',
        key_id: 'key_01jhm9r0g0e8xsg4k6t2v8w0yz',
        request_id: 'req_01jhm9r0g0e8xsg4k6t2v8w0yb',
        subject: 'user:alice',
        relation: 'viewer',
        object: 'document:readme',
        authorized: false,
        checked_at: '2023-11-14T22:13:20.123Z',
      },
    });
  });

  it('is one line, whatever is in the identifiers', () => {
    // Any UTF-16. The strings of fast-check of all of Unicode build a table of a million entries first.
    const units = fc.array(fc.oneof(fc.nat(0x7f), fc.nat(0xff_ff)), { maxLength: 50, size: 'max' });
    const text = units.map((each) => String.fromCharCode(...each));
    fc.assert(
      fc.property(text, text, text, (subject, relation, object) => {
        const line = decisionLine(decision(0, { subject, relation, object }), '/a/b');
        assert.equal(line.indexOf('\n'), line.length - 1);
        const { data } = JSON.parse(line);
        assert.deepEqual([data.subject, data.relation, data.object], [subject, relation, object]);
      }),
    );
  });
});
