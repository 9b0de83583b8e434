// Sends decisions to a collector as log records over OTLP (HTTP, protobuf), each an event with attributes. Loaded only
// if it is enabled. The library repeats what the collector refuses for the moment, within its own timeout, and reads 4
// MiB of a response at most. Invariant: a delivery ends, also if the collector's response never does.

import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
import { formatTimestamp } from '../core/text/timestamps.ts';
import type { Decision, DecisionSink } from './decision-log.ts';
import { DECISION_EVENT_TYPE } from './decision-output.ts';
import { createOtelResource } from './otel-resource.ts';

type LogRecord = Parameters<OTLPLogExporter['export']>[0][number];

/** INFO: https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber */
const SEVERITY_INFO = 9;
/** Several times what the library takes for all attempts, by default 10 seconds. */
const EXPORT_MS_MAX = 60_000;
/**
 * The library waits for the end of a response for as long as bytes come, and keeps it until then. With so many
 * responses without an end it takes no more decisions.
 */
export const EXPORTS_MAX = 4;
const CLOSE_MS_MAX = 1000;
/** The success code, which the library exports only from one of its transitive packages. */
const SUCCESS = 0;

export interface DecisionExportOptions {
  /** Accepts OTLP over HTTP, as protobuf. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What describes this process: `service.name` and so on. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly exportMsMax?: number;
}

const timeOf = (wallMs: number): [number, number] => [Math.floor(wallMs / 1000), (wallMs % 1000) * 1_000_000];

export function createDecisionExport({
  url,
  headers,
  resource,
  version,
  exportMsMax = EXPORT_MS_MAX,
}: DecisionExportOptions): DecisionSink {
  const exporter = new OTLPLogExporter({ url, headers: { ...headers }, concurrencyLimit: EXPORTS_MAX });
  const common = {
    severityNumber: SEVERITY_INFO,
    severityText: 'INFO',
    eventName: DECISION_EVENT_TYPE,
    resource: createOtelResource(resource),
    instrumentationScope: { name: 'grantd', version },
    droppedAttributesCount: 0,
  };
  const recordOf = (decision: Decision): LogRecord => ({
    ...common,
    hrTime: timeOf(decision.answeredAtMs),
    hrTimeObserved: timeOf(decision.answeredAtMs),
    attributes: {
      'grantd.tenant_id': decision.tenantId,
      'grantd.key_id': decision.keyId,
      'grantd.request_id': decision.requestId,
      'grantd.index': decision.index,
      'grantd.subject': decision.subject,
      'grantd.relation': decision.relation,
      'grantd.object': decision.object,
      'grantd.authorized': decision.authorized,
      ...(decision.reason === undefined ? {} : { 'grantd.reason': decision.reason }),
      'grantd.checked_at': formatTimestamp(decision.checkedAtMs),
    },
  });
  return {
    deliver: (decisions) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error('The response of the collector does not end.')), exportMsMax);
        exporter.export(decisions.map(recordOf), ({ code, error }) => {
          clearTimeout(late);
          if (code === SUCCESS) resolve();
          // Its text may repeat the collector's response, but not the headers.
          else reject(error ?? new Error('The collector does not accept decisions.'));
        });
      }),
    async close() {
      let late: NodeJS.Timeout | undefined;
      // The library waits for responses without an end.
      const given = new Promise<void>((resolve) => {
        late = setTimeout(resolve, CLOSE_MS_MAX);
      });
      await Promise.race([exporter.shutdown(), given]);
      clearTimeout(late);
    },
  };
}
