// Decisions as lines of text: events in the JSON form of CloudEvents 1.0
// (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md), one a line. The `type` tells
// them from lines of other programs in the same stream.

import { formatTimestamp } from '../core/text/timestamps.ts';
import type { Decision } from './decision-log.ts';

/** Another version would be another type. */
export const DECISION_EVENT_TYPE = 'grantd.decision.v1';

/** `source`: of the process; with the id it names the event. */
export function decisionLine(decision: Decision, source: string): string {
  const { requestId, index, tenantId, keyId, subject, relation, object, authorized } = decision;
  const event = {
    specversion: '1.0',
    type: DECISION_EVENT_TYPE,
    source,
    id: `${requestId}.${index}`,
    time: formatTimestamp(decision.answeredAtMs),
    datacontenttype: 'application/json',
    data: {
      tenant_id: tenantId,
      key_id: keyId,
      request_id: requestId,
      subject,
      relation,
      object,
      authorized,
      checked_at: formatTimestamp(decision.checkedAtMs),
    },
  };
  return `${JSON.stringify(event)}\n`;
}
