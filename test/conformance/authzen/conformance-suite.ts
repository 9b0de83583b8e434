// AuthZEN Authorization API 1.0: the Core modules of the OpenID Foundation's conformance suite, and the published
// decisions of two interoperability scenarios (support/authzen-conformance.json and authzen-fixtures.json name their
// sources). Modules in which attributes of a request decide are no part of Core.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import type { Answer } from '../../kit/http-client.ts';
import type { HttpService } from '../../kit/http-service.ts';
import { createScenario, type Scenario, TODO_BATCHES, TODO_DECISIONS } from '../support/authzen-tenants.ts';
import { oneService } from '../support/one-service.ts';

type Json = Readonly<Record<string, unknown>>;

interface Module {
  readonly name: string;
  readonly scenario: Scenario;
  /** Below `/access/v1/`. */
  readonly endpoint: string;
  readonly core: boolean;
  readonly statuses: readonly number[];
  readonly request?: Json;
  /** Instead of a request: as it is. */
  readonly body?: string;
  readonly expected?: Json;
  readonly content_type?: string;
  readonly method?: string;
  readonly repeated?: true;
  readonly paged?: true;
  readonly single?: true;
  readonly request_id?: true;
  readonly without_key?: true;
}

const { modules: MODULES } = JSON.parse(
  readFileSync(new URL('../support/authzen-conformance.json', import.meta.url), 'utf8'),
) as { readonly modules: readonly Module[] };
const CORE = MODULES.filter(({ core }) => core);
const SCENARIOS: readonly Scenario[] = ['certification', 'search_demo', 'todo'];
const REPEATS = 3;

const listOf = (answer: unknown, field: string): readonly Json[] => {
  const list = (answer as Json)[field];
  assert.ok(Array.isArray(list), `${field} is an array: ${JSON.stringify(answer)}`);
  return list;
};

/** What every answer of the endpoint is like, whatever it says. */
function assertForm({ endpoint, single }: Module, answer: unknown): void {
  const assertDecision = (decision: Json): void => {
    assert.equal(typeof decision.decision, 'boolean');
    assert.ok(decision.context === undefined || typeof decision.context === 'object');
  };
  if (endpoint.startsWith('search/')) {
    assert.deepEqual(Object.keys(answer as Json), ['page', 'results']);
    assert.equal(typeof ((answer as Json).page as Json).next_token, 'string');
    const fields = endpoint === 'search/action' ? ['name'] : ['type', 'id'];
    for (const result of listOf(answer, 'results')) assert.deepEqual(Object.keys(result), fields);
  } else if (endpoint === 'evaluations' && single !== true) {
    assert.ok(!('decision' in (answer as Json)));
    listOf(answer, 'evaluations').forEach(assertDecision);
  } else assertDecision(answer as Json);
}

/** The results of all pages, if it is a search. */
const resultsOf = (answers: readonly unknown[]): readonly Json[] =>
  answers.flatMap((answer) => listOf(answer, 'results'));

const sortedTexts = (list: readonly unknown[]): string[] => list.map((each) => JSON.stringify(each)).sort();

function assertExpected({ scenario, request, expected = {} }: Module, answers: readonly unknown[]): void {
  const [answer] = answers;
  if ('decision' in expected) assert.equal((answer as Json).decision, expected.decision);
  if ('evaluations' in expected) {
    const decisions = listOf(answer, 'evaluations').map(({ decision }) => ({ decision }));
    assert.deepEqual(decisions, expected.evaluations);
  }
  if ('results' in expected) {
    const [found, wanted] = [sortedTexts(resultsOf(answers)), sortedTexts(listOf(expected, 'results'))];
    // The interoperability scenario says exactly what is found; the certification allows more where there is anything.
    if (scenario === 'search_demo' || wanted.length === 0) assert.deepEqual(found, wanted);
    else for (const each of wanted) assert.ok(found.includes(each), `${each} is found: ${JSON.stringify(answers)}`);
  }
  const decided = TODO_DECISIONS.find((each) => JSON.stringify(each.request) === JSON.stringify(request));
  if (scenario === 'todo' && decided !== undefined) assert.equal((answer as Json).decision, decided.expected);
}

describe('AuthZEN', () => {
  let service: HttpService;
  const keys = new Map<Scenario, string>();
  before(async () => {
    service = await oneService();
    for (const scenario of SCENARIOS) keys.set(scenario, await createScenario(service, scenario));
  });

  const send = (module: Module, page: Json = {}): Promise<Answer> =>
    service.send({
      method: module.method ?? 'POST',
      path: `/access/v1/${module.endpoint}`,
      key: module.without_key === true ? undefined : keys.get(module.scenario),
      body: module.body ?? { ...module.request, ...page },
      headers: {
        ...(module.content_type === undefined ? {} : { 'content-type': module.content_type }),
        ...(module.request_id === true ? { 'x-request-id': `asked-${module.name}` } : {}),
      },
    });

  /** All pages of a search that is read to its end; otherwise one answer. */
  const sendAll = async (module: Module): Promise<Answer[]> => {
    const answers = [await send(module)];
    for (let token = nextToken(answers); module.paged === true && token !== ''; token = nextToken(answers)) {
      // As the suite does: the next request has the token and nothing else of the page.
      answers.push(await send(module, { page: { token } }));
    }
    return answers;
  };
  const nextToken = (answers: readonly Answer[]): unknown =>
    ((answers.at(-1)?.json as Json | undefined)?.page as Json | undefined)?.next_token ?? '';

  for (const scenario of SCENARIOS) {
    describe(`the Core modules of ${scenario}`, () => {
      for (const module of CORE.filter((each) => each.scenario === scenario)) {
        it(module.name, async () => {
          const first = await sendAll(module);
          for (const { status, text } of first) assert.ok(module.statuses.includes(status), `${status} ${text}`);
          if (module.request_id) assert.equal(first[0]?.headers['x-request-id'], `asked-${module.name}`);
          if (first[0]?.status !== 200) return;
          const answers = first.map(({ json }) => json);
          for (const [index, answer] of answers.entries()) {
            assert.match(first[index]?.headers['content-type'] ?? '', /^application\/json\b/);
            assertForm(module, answer);
          }
          if (module.paged) assert.ok(answers.length > 2, `${answers.length} pages`);
          assertExpected(module, answers);
          for (let time = 1; module.repeated && time < REPEATS; time += 1) {
            const again = await sendAll(module);
            assert.deepEqual(
              again.map(({ json }) => json),
              answers,
            );
          }
        });
      }
    });
  }

  it('has every Core module', () => assert.equal(CORE.length, 240));

  it('decides as was published for the todo scenario', async () => {
    const key = keys.get('todo');
    for (const { request, expected } of TODO_DECISIONS) {
      const { json, text } = await service.send({ method: 'POST', path: '/access/v1/evaluation', key, body: request });
      assert.deepEqual(json, { decision: expected }, text);
    }
    for (const { request, expected } of TODO_BATCHES) {
      const { json, text } = await service.send({ method: 'POST', path: '/access/v1/evaluations', key, body: request });
      assert.deepEqual(json, { evaluations: expected }, text);
    }
  });
});
