// Opens traces and the decision log if they are configured. Only then are their libraries loaded.

import { parsePairs } from '../../config/parsers.ts';
import type { DevConfig, FrontConfig } from '../../config/settings.ts';
import { assertNever } from '../../core/assert.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { DecisionLog, type DecisionSink } from '../../telemetry/decision-log.ts';
import { createDecisionOutput } from '../../telemetry/decision-output.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/spans.ts';

const TRACES_PATH = '/v1/traces';

type TracingConfig = OtlpConfig &
  Pick<DevConfig | FrontConfig, 'tracesDisabled' | 'tracesEndpoint' | 'tracesSampler' | 'tracesSamplerRatio'>;

/** Undefined if tracing is off. `parts` closes what this opens. */
export async function openTracing(
  dependencies: { readonly log: Log; readonly metrics: Metrics },
  config: TracingConfig,
  process: ProcessIdentity,
  parts: AsyncDisposableStack,
): Promise<Tracing | undefined> {
  const url = otlpUrlOf(config, config.tracesEndpoint, TRACES_PATH);
  if (url === undefined || config.tracesDisabled) return undefined;
  const { createTracing } = await import('../../telemetry/tracing.ts');
  const tracing = createTracing(dependencies, {
    url,
    headers: otlpHeadersOf(config),
    sampler: config.tracesSampler,
    ratio: config.tracesSamplerRatio,
    resource: otlpResourceOf(config, process),
    version: process.version,
  });
  parts.defer(() => tracing.close());
  dependencies.log.info({ url, sampler: config.tracesSampler }, 'tracing is on');
  return tracing;
}

// ---- common to both: the collector, its headers, and the attributes that describe this process to it ----

export interface ProcessIdentity {
  readonly serviceName: string;
  readonly instance: string;
  readonly version: string;
}

export type OtlpConfig = Pick<
  DevConfig | FrontConfig,
  'tracesBaseEndpoint' | 'tracesHeaders' | 'serviceName' | 'resourceAttributes'
>;

/** `own`: the full URL for one kind of data, if it is set. Undefined: no collector is configured. */
export const otlpUrlOf = (
  { tracesBaseEndpoint }: OtlpConfig,
  own: string | undefined,
  path: string,
): string | undefined => own ?? (tracesBaseEndpoint === undefined ? undefined : `${tracesBaseEndpoint}${path}`);

export const otlpHeadersOf = ({ tracesHeaders }: OtlpConfig): Readonly<Record<string, string>> =>
  tracesHeaders === undefined ? {} : parsePairs(tracesHeaders.reveal());

export const otlpResourceOf = (
  { resourceAttributes, serviceName }: OtlpConfig,
  process: ProcessIdentity,
): Readonly<Record<string, string>> => ({
  'service.name': process.serviceName,
  'service.version': process.version,
  'service.instance.id': process.instance,
  ...resourceAttributes,
  ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
});

// ---- the decision log ----

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
  const explained = config.decisionLogExplain;
  const decisions = new DecisionLog(dependencies, sink, { rate, tenants, explained });
  parts.defer(() => decisions.close());
  dependencies.log.info({ output, rate, tenants: tenants.length, explained }, 'the decision log is on');
  return decisions;
}
