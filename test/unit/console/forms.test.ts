// Forms as browsers send them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fields } from '../../../packages/console/src/forms.ts';

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
