// A session that records its checks in the decision log, whichever operation makes them. Created for sampled requests;
// all others use the session itself. Invariant: calls, their contexts, answers and errors pass through unchanged.

import type { Clock } from '../../core/async/clock.ts';
import type { CallContext } from '../../core/call-context.ts';
import { isJsonObject } from '../../core/json-members.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import type { DecisionRecorder } from '../../telemetry/decision-log.ts';

export interface DecisionRecording {
  readonly decisions: DecisionRecorder;
  readonly clock: Pick<Clock, 'wallMs' | 'monotonicMs'>;
}

interface ChecksAnswer {
  readonly authorized: readonly boolean[];
  readonly checkedAtMs: number;
}

/** For the reason of a denial, once the check is answered. */
const REASON_MS = 2000;

/** The sentence of a reason, JSON as the owner writes it. */
function sentenceOf(reason: string): string {
  const parsed: unknown = reason === '' ? undefined : JSON.parse(reason);
  return isJsonObject(parsed) && typeof parsed.text === 'string' ? parsed.text : '';
}

export function recordedSession(session: TenantSession, { decisions, clock }: DecisionRecording): TenantSession {
  const { tenantId, keyId } = session;
  const record = (
    { requestId }: RequestContext,
    checks: readonly (NamedTuple & CallContext)[],
    answered: ChecksAnswer,
    call: CallContext = {},
    known?: string,
  ): void => {
    const { authorized, checkedAtMs } = answered;
    const answeredAtMs = clock.wallMs();
    const reasonOf = async (check: NamedTuple & CallContext): Promise<string> => {
      if (known !== undefined) return sentenceOf(known);
      const context = { requestId, deadlineMs: clock.monotonicMs() + REASON_MS };
      return sentenceOf((await session.explain(context, { ...check, ...call }, false)).reason);
    };
    for (const [index, check] of checks.entries()) {
      const { subject, relation, object } = check;
      const of = { requestId, index, tenantId, keyId, subject, relation, object };
      const decision = { ...of, authorized: authorized[index] === true, checkedAtMs, answeredAtMs };
      if (decision.authorized) decisions.record(decision);
      else decisions.record(decision, () => reasonOf(check));
    }
  };
  const recorded: Pick<TenantSession, 'check' | 'explain' | 'checkBulk' | 'checkOrDeny'> = {
    async check(...call) {
      const answer = await session.check(...call);
      record(call[0], [call[1]], { ...answer, authorized: [answer.authorized] });
      return answer;
    },
    async explain(...call) {
      const answer = await session.explain(...call);
      record(call[0], [call[1]], { ...answer, authorized: [answer.authorized] }, {}, answer.reason);
      return answer;
    },
    async checkOrDeny(...call) {
      const answer = await session.checkOrDeny(...call);
      record(call[0], call[1], answer, call[2]);
      return answer;
    },
    async checkBulk(...call) {
      const answer = await session.checkBulk(...call);
      record(call[0], call[1], answer, call[2]);
      return answer;
    },
  };
  return new Proxy(session, {
    get(target, name) {
      if (Object.hasOwn(recorded, name)) return Reflect.get(recorded, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
