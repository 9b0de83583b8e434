// The fake of the TypeScript client compared with a real service: the same random rules, grants and questions, with the
// same client, have the same answers.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Grantd, GrantdError } from '../../clients/typescript/src/exports.ts';
import { FakeGrantd } from '../../clients/typescript/src/testing.ts';
import { inParallel } from '../../src/core/async/in-parallel.ts';
import { useHttpService } from '../kit/http-service.ts';

/** More than any call takes on a busy machine. */
const TIMEOUT_MS = 120_000;
const WORLDS = 40;
const GRANTS = 14;
const NAMES = ['viewer', 'editor', 'member', 'parent', 'can_read'];
const RELATIONS = ['viewer', 'editor', 'member', 'parent'] as const;
const NAMESPACES = ['user', 'team', 'doc'];

const service = await useHttpService();

/** Numbers from 0 to below a bound, the same for the same seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function worldOf(seed: number) {
  const random = randomOf(seed);
  const one = <T>(list: readonly [T, ...T[]] | readonly T[]): T => list[random(list.length)] as T;
  const entity = (): string => `${one(NAMESPACES)}:${random(3)}`;
  const subject = (): string => {
    const kind = random(8);
    if (kind === 0) return `${one(NAMESPACES)}:*`;
    return kind < 3 ? `${entity()}#${one(NAMES)}` : entity();
  };
  const element = (): string => (random(3) === 0 ? `${one(NAMES)} from ${one(RELATIONS)}` : one(NAMES));
  // The last one makes `can_read` a name wherever it is used.
  const rules = NAMESPACES.flatMap((namespace) =>
    NAMES.filter((name) => name === 'can_read' || random(3) === 0).map((name) => ({
      namespace,
      name,
      any_of: Array.from({ length: 1 + random(2) }, element),
    })),
  );
  const grants = new Map(
    Array.from({ length: GRANTS }, () => {
      const grant = { subject: subject(), relation: one(RELATIONS), object: entity() };
      return [`${grant.subject} ${grant.relation} ${grant.object}`, grant];
    }),
  );
  const questions = Array.from({ length: 100 }, () => ({ subject: subject(), relation: one(NAMES), object: entity() }));
  const groups = random(4) > 0;
  return {
    ruleSet: { rules, groups, public: random(2) === 0 ? ['user'] : [] },
    grants: [...grants.values()],
    questions,
  };
}

async function allOf<T>(listing: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of listing) items.push(item);
  return items;
}

const outcomeOf = <T>(work: Promise<T>): Promise<T | string> =>
  work.catch((error: unknown) => {
    if (error instanceof GrantdError) return error.type;
    throw error;
  });

async function answersOf(grantd: Grantd, { ruleSet, grants, questions }: ReturnType<typeof worldOf>): Promise<object> {
  await grantd.writeRules({ rule_set: ruleSet });
  await grantd.writeBulk({ grants });
  const few = questions.slice(0, 12);
  const { subject, relation: name, object } = questions[0] ?? { subject: '', relation: '', object: '' };
  const [type = '', id = ''] = object.split(':');
  const [ownType = '', ownId = ''] = subject.split(':');
  return {
    checks: await grantd.checkBulk({ checks: questions }),
    // Any of several shortest chains may be shown; their length is fixed.
    chains: await Promise.all(few.map(async (each) => (await grantd.explain(each)).because.length)),
    objects: await Promise.all(
      few.map((each) =>
        outcomeOf(allOf(grantd.listObjects({ subject: each.subject, relation: each.relation, limit: 2 }))),
      ),
    ),
    subjects: await Promise.all(
      few.flatMap(({ object, relation }) =>
        [
          { object, relation },
          { object, relation, include: 'self' as const },
        ].map((query) => outcomeOf(allOf(grantd.listSubjects({ ...query, limit: 3 })))),
      ),
    ),
    found: await allOf(
      grantd.searchSubjects({
        subject: { type: 'user' },
        action: { name },
        resource: { type, id },
        page: { limit: 2 },
      }),
    ),
    actions: await allOf(grantd.searchActions({ subject: { type: ownType, id: ownId }, resource: { type, id } })),
  };
}

it('the fake answers as the service does', async () => {
  const worlds = Array.from({ length: WORLDS }, (_, seed) => seed);
  await inParallel(worlds, 4, async (seed) => {
    const world = worldOf(seed);
    const { key } = await service.createTenant();
    const options = { url: service.baseUrl, key, timeoutMs: TIMEOUT_MS, onWarning() {} };
    const expected = await answersOf(new Grantd(options), world);
    const found = await answersOf(new FakeGrantd().client(), world);
    assert.deepEqual(
      found,
      expected,
      `world ${seed}: ${JSON.stringify(world.ruleSet)} ${JSON.stringify(world.grants)}`,
    );
  });
});
