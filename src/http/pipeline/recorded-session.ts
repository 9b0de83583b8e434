// A session that records its checks in the decision log, whichever operation makes them. Created for sampled requests;
// all others use the session itself. Invariant: calls, their contexts, answers and errors pass through unchanged.

import type { Clock } from '../../core/async/clock.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import type { DecisionRecorder } from '../../telemetry/decision-log.ts';

export interface DecisionRecording {
  readonly decisions: DecisionRecorder;
  readonly clock: Pick<Clock, 'wallMs'>;
}

interface ChecksAnswer {
  readonly authorized: readonly boolean[];
  readonly checkedAtMs: number;
}

export function recordedSession(session: TenantSession, { decisions, clock }: DecisionRecording): TenantSession {
  const { tenantId, keyId } = session;
  const record = ({ requestId }: RequestContext, checks: readonly NamedTuple[], answered: ChecksAnswer): void => {
    const { authorized, checkedAtMs } = answered;
    const answeredAtMs = clock.wallMs();
    for (const [index, { subject, relation, object }] of checks.entries()) {
      const of = { requestId, index, tenantId, keyId, subject, relation, object };
      decisions.record({ ...of, authorized: authorized[index] === true, checkedAtMs, answeredAtMs });
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
      record(call[0], [call[1]], { ...answer, authorized: [answer.authorized] });
      return answer;
    },
    async checkOrDeny(...call) {
      const answer = await session.checkOrDeny(...call);
      record(call[0], call[1], answer);
      return answer;
    },
    async checkBulk(...call) {
      const answer = await session.checkBulk(...call);
      record(call[0], call[1], answer);
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
