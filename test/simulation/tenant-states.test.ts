// The rules for a tenant that operators change have to be right themselves: they accept what a right service can answer
// while changes overlap, and find each answer that is against an acknowledged one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TenantStates } from './tenant-states.ts';

function watchedStates() {
  const failures: string[] = [];
  const clock = { nowMs: 0 };
  const states = new TenantStates(
    () => clock.nowMs,
    (failure) => failures.push(failure),
  );
  const at = (nowMs: number): TenantStates => {
    clock.nowMs = nowMs;
    return states;
  };
  return { at, failures };
}

test('an answer against an acknowledged state is found, and one within a change that overlaps is not', () => {
  const { at, failures } = watchedStates();
  at(2).answered('value', 'tenant', 1);
  const suspended = at(10).begin('suspended');
  at(12).answered('value', 'tenant', 11);
  at(12).answered('tenant-suspended', 'tenant', 11);
  at(20);
  suspended('done');
  at(25).answered('tenant-suspended', 'tenant', 21);
  at(25).answered('value', 'operator', 21);
  assert.deepEqual(failures, []);
  at(25).answered('value', 'tenant', 21);
  at(25).answered('unauthorized', 'tenant', 21);
  at(25).answered('tenant-not-found', 'operator', 21);
  assert.equal(failures.length, 3);
});

test('of two changes at once either may be the last; of a later one nothing earlier is left', () => {
  const { at, failures } = watchedStates();
  const suspended = at(1).begin('suspended');
  const active = at(2).begin('active');
  at(3);
  suspended('done');
  active('done');
  at(6).answered('value', 'tenant', 5);
  at(6).answered('tenant-suspended', 'tenant', 5);
  const last = at(7).begin('active');
  at(8);
  last('done');
  assert.deepEqual(failures, []);
  at(10).answered('tenant-suspended', 'tenant', 9);
  assert.equal(failures.length, 1);
});

test('a deleted tenant is never anything else, a change that was not done counts as none, one that is open for ever', () => {
  const { at, failures } = watchedStates();
  at(1).begin('suspended')('not-done');
  at(2).begin('active')(undefined);
  const deleting = at(3).begin('deleting');
  at(4);
  deleting('done');
  at(6).begin('active')('not-found');
  at(8).answered('unauthorized', 'tenant', 7);
  at(8).answered('tenant-not-found', 'operator', 7);
  assert.deepEqual(failures, []);
  at(8).answered('value', 'operator', 7);
  at(8).answered('tenant-suspended', 'tenant', 7);
  assert.equal(failures.length, 2);
});

test('what was answered took effect before a suspension was acknowledged, unless the tenant may have been let on again', () => {
  const { at, failures } = watchedStates();
  const suspended = at(10).begin('suspended');
  at(20);
  suspended('done');
  assert.equal(at(30).answered('value', 'tenant', 5), 20);
  assert.equal(at(30).answered('value', 'operator', 5), undefined);
  const active = at(40).begin('active');
  assert.equal(at(41).answered('value', 'tenant', 5), undefined);
  active('done');
  assert.deepEqual(failures, []);
});
