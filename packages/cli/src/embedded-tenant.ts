// A tenant of a shard in this process, as commands use it that try a model without a service.

import type { CallContext } from '../../../src/core/call-context.ts';
import type { GrantAttributes } from '../../../src/core/grant-attributes.ts';
import { PAGE_LIMIT_MAX, WRITES_PER_CALL_MAX } from '../../../src/core/limits.ts';
import type { Grant } from '../../../src/core/tuples.ts';
import type { NamedTuple } from '../../../src/rules/questions.ts';
import type { RuleSet } from '../../../src/rules/rule-set.ts';
import { RulesText } from '../../../src/rules/rules-text.ts';
import type {
  Attempt,
  ConsoleConnection,
  GrantedTuple,
  GrantResult,
  HoldersQuery,
  ObjectsQuery,
} from '../../../src/shard/shard.ts';

export interface EmbeddedShard {
  readonly connection: ConsoleConnection;
  attempt(): Attempt;
  /** The operator's handle of a new tenant without limits. */
  openTenant(): Promise<number>;
  close(): Promise<void>;
}

export interface ExplainedAnswer {
  readonly authorized: boolean;
  /** The grants on which a yes rests. */
  readonly because: readonly (Grant & GrantAttributes)[];
  /** Under rules with gates: the proof, as the APIs show it. */
  readonly proof: unknown;
  /** Why it is denied, as the APIs show it. */
  readonly reason: unknown;
}

export interface FoundSubjects {
  readonly subjects: readonly string[];
  readonly excluded: readonly string[];
}

/** Each call rejects with a GrantdError as the API would answer. */
export class EmbeddedTenant {
  readonly #shard: EmbeddedShard;
  readonly #handle: number;

  private constructor(shard: EmbeddedShard, handle: number) {
    this.#shard = shard;
    this.#handle = handle;
  }

  static async open(shard: EmbeddedShard, ruleSet: RuleSet): Promise<EmbeddedTenant> {
    const handle = await shard.openTenant();
    const caller = { handle, attempt: shard.attempt() };
    await shard.connection.tenant.call('writeRules', caller, { rules: RulesText.of(ruleSet), ifMatch: undefined });
    return new EmbeddedTenant(shard, handle);
  }

  /** In the order of the grants. */
  async write(grants: readonly GrantedTuple[]): Promise<readonly GrantResult[]> {
    const results: GrantResult[] = [];
    for (let at = 0; at < grants.length; at += WRITES_PER_CALL_MAX) {
      const writes = grants.slice(at, at + WRITES_PER_CALL_MAX).map((grant) => ({ ...grant, revoke: false }));
      const caller = { handle: this.#handle, attempt: this.#shard.attempt() };
      results.push(...(await this.#shard.connection.tenant.call('writeGrants', caller, writes)));
    }
    return results;
  }

  async check(question: NamedTuple, context: CallContext): Promise<ExplainedAnswer> {
    const checks = { checks: [question], list: '', explain: true, denyUndefined: false, ...context };
    const answer = await this.#shard.connection.tenant.call('checkNamed', { handle: this.#handle }, checks);
    const [authorized = false] = answer.authorized;
    const [because = []] = answer.because;
    const [proof = ''] = answer.proofs;
    const [reason = ''] = answer.reasons;
    const parsed = (text: string): unknown => (text === '' ? undefined : JSON.parse(text));
    return { authorized, because, proof: parsed(proof), reason: parsed(reason) };
  }

  async listObjects(query: Omit<ObjectsQuery, 'limit' | 'cursor'>): Promise<readonly string[]> {
    const objects: string[] = [];
    let cursor: string | undefined;
    do {
      const paged = { ...query, limit: PAGE_LIMIT_MAX, cursor };
      const page = await this.#shard.connection.tenant.call('listObjects', { handle: this.#handle }, paged);
      objects.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return objects;
  }

  async listSubjects(query: Omit<HoldersQuery, 'limit' | 'cursor'>): Promise<FoundSubjects> {
    const subjects: string[] = [];
    const excluded: string[] = [];
    let cursor: string | undefined;
    do {
      const paged = { ...query, limit: PAGE_LIMIT_MAX, cursor };
      const page = await this.#shard.connection.tenant.call('listHolders', { handle: this.#handle }, paged);
      subjects.push(...page.items);
      excluded.push(...(page.excluded ?? []));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return { subjects, excluded };
  }
}
