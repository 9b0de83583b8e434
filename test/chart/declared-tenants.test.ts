// The objects of the guide to declared tenants: what Kubernetes accepts, what the restricted Pod Security Standard
// allows, and a command that grantd knows.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from './support/helm.ts';
import { findSecurityViolations, podsOf } from './support/pods.ts';
import { findSchemaViolations } from './support/schemas.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'operating', 'declared-tenants.md');

it('the objects that apply declared tenants are valid, and need no more than the restricted standard', () => {
  const [, text = ''] = /^```yaml\n(apiVersion.*?)^```$/ms.exec(readFileSync(PAGE, 'utf8')) ?? [];
  const objects = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
  assert.deepEqual(
    objects.map(({ kind }) => kind),
    ['CronJob', 'ServiceAccount', 'Role', 'RoleBinding'],
  );
  assert.deepEqual(objects.flatMap(findSchemaViolations), []);
  const pods = podsOf(objects);
  assert.equal(pods.length, 1);
  assert.deepEqual(pods.flatMap(findSecurityViolations), []);
});
