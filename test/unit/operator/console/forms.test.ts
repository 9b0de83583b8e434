// Forms as browsers send them, and what is said of those that are refused.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { GrantdError } from '../../../../src/core/errors.ts';
import { Fields, refuseInvalid, refuseThrown } from '../../../../src/operator/console/forms.ts';

describe('the fields of a form', () => {
  it('are decoded, and may come several times', () => {
    const fields = new Fields('name=Ann+%26+B%C3%B6b&scopes=a&scopes=b&empty=&bare&%3D=1');
    assert.equal(fields.text('name'), 'Ann & Böb');
    assert.deepEqual(fields.list('scopes'), ['a', 'b']);
    assert.equal(fields.text('scopes'), 'a');
    assert.equal(fields.optional('empty'), undefined);
    assert.equal(fields.text('bare'), '');
    assert.equal(fields.text('='), '1');
    assert.deepEqual(fields.list('missing'), []);
    assert.equal(fields.text('__proto__'), '');
  });

  it('are refused where they are not UTF-8, or too many', () => {
    for (const text of ['a=%ff', 'a=%', `${'a=1&'.repeat(101)}`]) {
      assert.throws(() => new Fields(text), { code: 'invalid-request' });
    }
  });
});

describe('a refusal', () => {
  it('names each wrong field once', () => {
    const shape = z.object({
      name: z.string().min(3, 'must be longer').startsWith('x', 'must be another'),
      age: z.number('must be a number'),
    });
    const { error } = shape.safeParse({ name: 'ab', age: 'x' });
    assert.ok(error);
    assert.deepEqual(refuseInvalid(error), {
      status: 422,
      messages: { name: 'This must be longer.', age: 'This must be a number.' },
    });
  });

  it('says at the form what the service said, with its status', () => {
    const refusal = refuseThrown(new GrantdError('key-limit-reached', 'Enough.'));
    assert.deepEqual(refusal, { status: 403, messages: { form: 'Enough.' } });
  });

  it('hides neither a defect nor a tenant that is not there', () => {
    const defect = new Error('defect');
    assert.throws(() => refuseThrown(defect), defect);
    for (const code of ['internal', 'tenant-not-found'] as const) {
      assert.throws(() => refuseThrown(new GrantdError(code, 'x')), { code });
    }
  });
});
