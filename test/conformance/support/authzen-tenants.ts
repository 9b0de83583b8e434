// The tenants of AuthZEN's scenarios, one for each: its rules map the actions of the scenario to relations, and its
// grants follow from what was published (authzen-fixtures.json names the sources).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Relation } from '../../../src/core/tuples.ts';
import type { HttpService } from '../../kit/http-service.ts';

export type Scenario = 'certification' | 'search_demo' | 'todo';

interface Entity {
  readonly type: string;
  readonly id: string;
}

export interface PublishedDecision {
  readonly request: { readonly subject: Entity; readonly action: { readonly name: string }; readonly resource: Entity };
  readonly expected: boolean;
}

interface Fixture {
  readonly grants: readonly string[];
  readonly derived: Readonly<Record<string, Readonly<Record<string, readonly Relation[]>>>>;
}

const FIXTURES = JSON.parse(readFileSync(new URL('authzen-fixtures.json', import.meta.url), 'utf8')) as {
  readonly certification: Fixture;
  readonly search_demo: Fixture;
  readonly todo: {
    readonly evaluation: readonly PublishedDecision[];
    readonly evaluations: readonly { readonly request: unknown; readonly expected: unknown }[];
  };
};

export const TODO_DECISIONS = FIXTURES.todo.evaluation;
export const TODO_BATCHES = FIXTURES.todo.evaluations;

/** Decisions were published, and no policy: each action stands for one relation. */
const TODO_RELATIONS: Readonly<Record<string, Relation>> = {
  can_read_user: 'viewer',
  can_read_todos: 'commenter',
  can_create_todo: 'editor',
  can_update_todo: 'manager',
  can_delete_todo: 'owner',
};

interface Batch {
  readonly subject: Entity;
  readonly action: { readonly name: string };
  readonly evaluations: readonly { readonly resource: Entity }[];
}

function todoFixture(): Fixture {
  const permitted = TODO_DECISIONS.filter(({ expected }) => expected).map(({ request }) => request);
  const batched = TODO_BATCHES.flatMap(({ request, expected }) => {
    const { subject, action, evaluations } = request as Batch;
    const decisions = expected as readonly { readonly decision: boolean }[];
    return evaluations
      .filter((_, index) => decisions[index]?.decision === true)
      .map(({ resource }) => ({ subject, action, resource }));
  });
  const grants = [...permitted, ...batched].map(({ subject, action, resource }) => {
    const relation = TODO_RELATIONS[action.name] ?? assert.fail(action.name);
    return `${subject.type}:${subject.id} ${relation} ${resource.type}:${resource.id}`;
  });
  const actions = Object.fromEntries(Object.entries(TODO_RELATIONS).map(([name, relation]) => [name, [relation]]));
  return { grants: [...new Set(grants)], derived: { user: actions, todo: actions } };
}

const fixtureOf = (scenario: Scenario): Fixture => (scenario === 'todo' ? todoFixture() : FIXTURES[scenario]);

/** A tenant in the state of the scenario; its key. */
export async function createScenario(service: HttpService, scenario: Scenario): Promise<string> {
  const { key } = await service.createTenant();
  const { grants, derived } = fixtureOf(scenario);
  const rules = Object.entries(derived).flatMap(([namespace, actions]) =>
    Object.entries(actions).map(([name, any_of]) => ({ namespace, name, any_of })),
  );
  const ruled = await service.send({ method: 'PUT', path: '/v1/rules', key, body: { rules } });
  assert.equal(ruled.status, 200, ruled.text);
  const written = await service.send({
    method: 'POST',
    path: '/v1/grants/bulk',
    key,
    body: {
      grants: grants.map((text) => {
        const [subject, relation, object] = text.split(' ');
        return { subject, relation, object };
      }),
    },
  });
  assert.equal(written.status, 200, written.text);
  return key;
}
