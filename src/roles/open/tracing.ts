// Traces, if a collector is configured. Only then are their libraries loaded.

import type { DevConfig, FrontConfig } from '../../config/settings.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import { type OtlpConfig, otlpHeadersOf, otlpResourceOf, otlpUrlOf, type ProcessIdentity } from './otlp.ts';

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
