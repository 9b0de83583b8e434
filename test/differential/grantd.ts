// grantd as its clients see it: rules, changes and questions over HTTP, each world in a tenant of its own, lists in
// small pages.

import { ruleSetRecord } from '../../src/rules/rule-set.ts';
import { type HttpService, startHttpService } from '../kit/http-service.ts';
import { letRun } from '../kit/wait-for.ts';
import type { Answer, Change, Question } from './question.ts';
import { demandJson, type JsonAnswer, partsOf, post, type System } from './system.ts';
import type { World } from './universe.ts';

/** Small, so that most lists take several pages. */
const PAGE_LIMIT = 7;
/** For lists that are long enough to be a test of anything else. */
const PAGE_LIMIT_LONG = 500;
const PAGES_MAX = 1000;
/** Attempts of a call that is refused with 503. */
const TRIES_MAX = 100;

const tupleOf = ({ subject, relation, object }: Change) => ({ subject, relation, object });

/** As clients should, it repeats a call for which grantd had no room: many new grants of one entity, for instance. */
export async function callWithRetries(
  { baseUrl }: HttpService,
  key: string,
  path: string,
  body: unknown,
  method: string,
): Promise<JsonAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await post(`${baseUrl}${path}`, body, { method, key });
    if (answer.status !== 503 || tries === TRIES_MAX) return answer;
    await letRun(answer.retrySeconds * 1000);
  }
}

export class GrantdSystem implements System {
  readonly #service: HttpService;
  #key = '';

  static async start(): Promise<GrantdSystem> {
    return new GrantdSystem(await startHttpService());
  }

  private constructor(service: HttpService) {
    this.#service = service;
  }

  #call(path: string, body: unknown, method = 'POST'): Promise<JsonAnswer> {
    return callWithRetries(this.#service, this.#key, path, body, method);
  }

  async begin({ ruleSet }: World): Promise<void> {
    const { key } = await this.#service.createTenant();
    this.#key = key;
    demandJson('grantd, rules', await this.#call('/v1/rules', ruleSetRecord(ruleSet), 'PUT'));
  }

  async write(changes: readonly Change[]): Promise<void> {
    for (const part of partsOf(changes)) {
      const body = {
        grants: part.filter(({ revoke }) => !revoke).map(tupleOf),
        revocations: part.filter(({ revoke }) => revoke).map(tupleOf),
      };
      demandJson('grantd, a bulk write', await this.#call('/v1/grants/bulk', body));
    }
  }

  async answer(question: Question): Promise<Answer> {
    const { relation } = question;
    switch (question.kind) {
      case 'check': {
        const { subject, object } = question;
        const answer = await this.#call('/v1/check', { subject, relation, object });
        if (answer.status === 422) return { limit: 'evaluation-too-large' };
        const { authorized } = demandJson<{ readonly authorized: boolean }>('grantd, a check', answer);
        return { items: [String(authorized)] };
      }
      case 'objects':
        return this.#list('objects', { subject: question.subject, relation, namespace: question.namespace });
      case 'subjects': {
        const { object, namespace, name } = question;
        const found = await this.#list('subjects', { object, relation, namespace, include: 'self' });
        if ('limit' in found) return found;
        return { items: found.items.filter((each) => each.split('#')[1] === name) };
      }
    }
  }

  /** A list that is not ascending, or names anything twice, is a wrong answer too. */
  async #list(what: 'objects' | 'subjects', query: Readonly<Record<string, string>>): Promise<Answer> {
    const items: string[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const limit = String(page === 0 ? PAGE_LIMIT : PAGE_LIMIT_LONG);
      const parameters = new URLSearchParams({ ...query, limit, ...(cursor === null ? {} : { cursor }) });
      const answer = await this.#call(`/v1/${what}?${parameters}`, undefined, 'GET');
      if (answer.status === 422) return { limit: 'evaluation-too-large' };
      const found: Record<typeof what, readonly string[]> & { readonly next_cursor: string | null } = demandJson(
        `grantd, ${what}`,
        answer,
      );
      items.push(...found[what]);
      cursor = found.next_cursor;
      if (cursor !== null) continue;
      const isAscending = items.every((item, index) => index === 0 || (items[index - 1] ?? '') < item);
      return { items: isAscending ? items : ['out of order:', ...items] };
    }
    throw new Error(`A list of grantd has more than ${PAGES_MAX} pages.`);
  }

  stop(): Promise<void> {
    return this.#service.stop();
  }
}
