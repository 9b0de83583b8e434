// Warnings as a header and for people: what one side writes, the other reads.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeWarning,
  describeWarnings,
  type ServiceWarning,
  UNFOLLOWED_REASONS,
  unfollowedWarnings,
  warningHeaderOf,
} from '../../../src/core/service-warnings.ts';

test('a header is read as the warnings of which it was made', () => {
  const warnings: readonly ServiceWarning[] = [
    { code: 'unknown-namespace', namespace: 'documnt' },
    { code: 'unknown-namespace', namespace: 'usr' },
    ...UNFOLLOWED_REASONS.map((reason) => ({ code: 'grant-not-followed', reason }) as const),
    { code: 'grants-outside-types', grants: 3, complete: true },
    { code: 'grants-outside-types', grants: 100_000, complete: false },
  ];
  const header = warningHeaderOf(warnings);
  assert.match(header ?? '', /^unknown-namespace; namespace=documnt, unknown-namespace; namespace=usr, grant-not-fol/);
  assert.deepEqual(describeWarnings(header ?? ''), warnings.map(describeWarning));
  assert.equal(new Set(describeWarnings(header ?? '')).size, warnings.length);
});

test('there is no header without a warning, and one of many warnings is short', () => {
  assert.equal(warningHeaderOf([]), undefined);
  assert.deepEqual(describeWarnings(''), []);
  const many = Array.from({ length: 200 }, (_, index) => ({
    code: 'unknown-namespace' as const,
    namespace: `n${index}`.padEnd(64, 'n'),
  }));
  assert.ok((warningHeaderOf(many)?.length ?? 0) < 1024);
});

test('grants of a bulk write are named by their place, each reason once', () => {
  const grants = [
    {},
    { notFollowed: 'groups-off' },
    { notFollowed: 'groups-off' },
    { notFollowed: 'no-entity' },
  ] as const;
  assert.equal(
    warningHeaderOf(unfollowedWarnings(grants)),
    'grant-not-followed; reason=groups-off; grant=1, grant-not-followed; reason=no-entity; grant=3',
  );
  assert.equal(warningHeaderOf(unfollowedWarnings(grants.slice(1, 2))), 'grant-not-followed; reason=groups-off');
});

test('what this version does not know stays as it is', () => {
  assert.deepEqual(describeWarnings('grant-not-followed; reason=other, late; by=1'), [
    'grant-not-followed; reason=other',
    'late; by=1',
  ]);
});
