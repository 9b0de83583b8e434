// The decision log, if it is on. The libraries of its export are loaded only where they are used.

import type { DevConfig, FrontConfig } from '../../config/settings.ts';
import { assertNever } from '../../core/assert.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { DecisionLog, type DecisionSink } from '../../telemetry/decision-log.ts';
import { createDecisionOutput } from '../../telemetry/decision-output.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { otlpHeadersOf, otlpResourceOf, otlpUrlOf, type ProcessIdentity } from './otlp.ts';

const LOGS_PATH = '/v1/logs';

type DecisionLogConfig = DevConfig | FrontConfig;

async function openSink(
  clock: Clock,
  config: DecisionLogConfig,
  process: ProcessIdentity,
): Promise<DecisionSink | undefined> {
  switch (config.decisionLog) {
    case 'off':
      return undefined;
    case 'stdout': {
      const { 'service.name': name = '', 'service.instance.id': instance = '' } = otlpResourceOf(config, process);
      return createDecisionOutput(
        { clock },
        { source: `/${encodeURIComponent(name)}/${encodeURIComponent(instance)}` },
      );
    }
    case 'otlp': {
      const url = otlpUrlOf(config, config.logsEndpoint, LOGS_PATH);
      if (url === undefined) return undefined;
      const { createDecisionExport } = await import('../../telemetry/decision-export.ts');
      const { version } = process;
      return createDecisionExport({
        url,
        headers: otlpHeadersOf(config),
        resource: otlpResourceOf(config, process),
        version,
      });
    }
    default:
      return assertNever(config.decisionLog);
  }
}

/** Undefined if it is off. `parts` closes what this opens. */
export async function openDecisionLog(
  dependencies: { readonly clock: Clock; readonly random: Random; readonly log: Log; readonly metrics: Metrics },
  config: DecisionLogConfig,
  process: ProcessIdentity,
  parts: AsyncDisposableStack,
): Promise<DecisionLog | undefined> {
  const sink = await openSink(dependencies.clock, config, process);
  if (sink === undefined) return undefined;
  const { decisionLog: output, decisionLogRate: rate, decisionLogTenants: tenants = [] } = config;
  const decisions = new DecisionLog(dependencies, sink, { rate, tenants });
  parts.defer(() => decisions.close());
  dependencies.log.info({ output, rate, tenants: tenants.length }, 'the decision log is on');
  return decisions;
}
