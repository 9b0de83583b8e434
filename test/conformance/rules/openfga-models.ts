// OpenFGA's own tests of models, asked over HTTP: each model converted to the rules of a tenant, each tuple a grant.
// `DIFFERENCES` of test/kit/openfga-cases.ts lists what is answered otherwise.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Answer } from '../../kit/http-client.ts';
import {
  type Asked,
  type ConvertedGrant,
  convertStage,
  DIFFERENCES,
  type OpenFgaStage,
  type OpenFgaTuple,
  readOpenFgaTests,
} from '../../kit/openfga-cases.ts';
import { oneService } from '../support/one-service.ts';

/** OpenFGA's code for a contextual tuple that its model does not allow: here it counts, if anything follows from it. */
const INVALID_TUPLE = 2027;

const service = await oneService();

/** One tenant, which plays the stages of a test. */
class Tenant {
  readonly #key: string;
  #grants = new Map<string, ConvertedGrant>();

  constructor(key: string) {
    this.#key = key;
  }

  ask(path: string, body: object, method = 'POST'): Promise<Answer> {
    return service.send({ method, path, key: this.#key, body });
  }

  async send(path: string, body: object, method = 'POST'): Promise<Record<string, unknown>> {
    const answer = await this.ask(path, body, method);
    assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
    return answer.text === '' ? {} : (answer.json as Record<string, unknown>);
  }

  /** OpenFGA ignores tuples that a later model does not allow: here, they are revoked before the rules change. */
  async play(rules: object, grants: readonly ConvertedGrant[]): Promise<void> {
    const next = new Map(grants.map((grant) => [JSON.stringify(grant), grant]));
    for (const [text, { subject, relation, object }] of this.#grants) {
      if (!next.has(text)) await this.send('/v1/grants', { subject, relation, object }, 'DELETE');
    }
    await this.send('/v1/rules', rules, 'PUT');
    for (const [text, grant] of next) if (!this.#grants.has(text)) await this.send('/v1/grants', grant);
    this.#grants = next;
  }

  /** All pages. */
  async list(what: 'objects' | 'subjects', query: object): Promise<readonly string[] | Answer> {
    const items: string[] = [];
    for (let cursor: unknown; cursor !== null; ) {
      const answer = await this.ask(`/v1/${what}`, { ...query, limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      if (answer.status >= 300) return answer;
      const page = answer.json as Record<string, unknown>;
      items.push(...(page[what] as string[]));
      cursor = page.next_cursor;
    }
    return items;
  }
}

const isRefused = (listed: readonly string[] | Answer): listed is Answer => !Array.isArray(listed);

/** What OpenFGA refuses is refused too, or holds for nobody. */
function assertRefused(answer: Answer): void {
  if (answer.status === 200) assert.equal((answer.json as Record<string, unknown>).authorized, false);
  else assert.ok([400, 422].includes(answer.status), answer.text);
}

/** As a grant that the model need not allow: the service has to refuse it. */
const unconverted = ({ user, ...tuple }: OpenFgaTuple): object => ({ subject: user, ...tuple });

async function playStage(tenant: Tenant, test: string, stage: OpenFgaStage, tuples: readonly OpenFgaTuple[]) {
  const { rules, lost, grantsOf } = convertStage(stage);
  assert.deepEqual(lost, []);
  await tenant.play(rules, await grantsOf(tuples));
  const contextOf = async ({ context, contextualTuples = [], errorCode }: Asked<unknown>): Promise<object> => ({
    ...(context === undefined ? {} : { context }),
    context_grants: errorCode === INVALID_TUPLE ? contextualTuples.map(unconverted) : await grantsOf(contextualTuples),
  });
  const differs = (tuple?: OpenFgaTuple): boolean =>
    DIFFERENCES.some((each) => each.test === test && (!tuple || each.question === JSON.stringify(tuple)));

  for (const assertion of stage.checkAssertions ?? []) {
    const { tuple, expectation, errorCode } = assertion;
    const question = { subject: tuple.user, relation: tuple.relation, object: tuple.object };
    const answer = await tenant.ask('/v1/check', { ...question, ...(await contextOf(assertion)) });
    const what = `${JSON.stringify(assertion)}: ${answer.text}`;
    if (differs(tuple) && (errorCode !== undefined || answer.status === 422)) continue;
    if (errorCode !== undefined) assertRefused(answer);
    else assert.equal((answer.json as Record<string, unknown>).authorized, expectation, what);
  }

  for (const assertion of stage.listObjectsAssertions ?? []) {
    const { user, type, relation } = assertion.request;
    const query = { subject: user, relation, namespace: type, ...(await contextOf(assertion)) };
    const listed = await tenant.list('objects', query);
    const { expectation, errorCode } = assertion;
    if (errorCode === INVALID_TUPLE || (errorCode !== undefined && differs())) continue;
    if (isRefused(listed)) assertListRefused(listed, errorCode, differs(), JSON.stringify(assertion));
    else assert.deepEqual(listed, [...(expectation ?? [])].sort(), JSON.stringify(assertion));
  }

  for (const assertion of stage.listUsersAssertions ?? []) {
    const { expectation, errorCode, request } = assertion;
    const [namespace = '', group] = (request.filters[0] ?? '').split('#');
    const { object, relation } = request;
    const query = { object, relation, namespace, include: 'self', ...(await contextOf(assertion)) };
    const listed = await tenant.list('subjects', query);
    if (errorCode === INVALID_TUPLE || (errorCode !== undefined && differs())) continue;
    if (isRefused(listed)) assertListRefused(listed, errorCode, differs(), JSON.stringify(assertion));
    else
      assert.deepEqual(
        ofFilter(listed, group, expectation ?? []),
        [...(expectation ?? [])].sort(),
        JSON.stringify(assertion),
      );
  }
}

function assertListRefused(answer: Answer, errorCode: number | undefined, differs: boolean, what: string): void {
  assert.ok(errorCode !== undefined || differs, `${what}: ${answer.text}`);
}

/** Subjects of the kind of the filter. Whom `*` covers is listed or not, as it was found. */
function ofFilter(listed: readonly string[], group: string | undefined, expected: readonly string[]): string[] {
  const those = listed.filter((each) => (group === undefined ? !each.includes('#') : each.endsWith(`#${group}`)));
  const covered = those.some((each) => each.endsWith(':*'));
  return covered ? those.filter((each) => each.endsWith(':*') || expected.includes(each)) : those;
}

describe("OpenFGA's tests of models", () => {
  for (const { name, stages } of readOpenFgaTests()) {
    it(name, async () => {
      const { key } = await service.createTenant();
      const tenant = new Tenant(key);
      const tuples: OpenFgaTuple[] = [];
      for (const stage of stages) {
        tuples.push(...(stage.tuples ?? []));
        await playStage(tenant, name, stage, tuples);
      }
    });
  }

  it('are all of them', () => {
    const stages = readOpenFgaTests().flatMap((test) => test.stages);
    const count = (of: 'checkAssertions' | 'listObjectsAssertions' | 'listUsersAssertions'): number =>
      stages.reduce((sum, stage) => sum + (stage[of]?.length ?? 0), 0);
    const counts = [count('checkAssertions'), count('listObjectsAssertions'), count('listUsersAssertions')];
    assert.deepEqual([readOpenFgaTests().length, ...counts], [96, 317, 218, 229]);
  });
});
