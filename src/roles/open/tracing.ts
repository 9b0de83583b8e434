// Traces, if a collector is configured. Only then are their libraries loaded.

import type { DevConfig, FrontConfig } from '../../config/settings.ts';
import { parsePairs } from '../../config/telemetry-settings.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/spans.ts';

const TRACES_PATH = '/v1/traces';

type TracingConfig = Pick<
  DevConfig | FrontConfig,
  | 'tracesDisabled'
  | 'tracesBaseEndpoint'
  | 'tracesEndpoint'
  | 'tracesHeaders'
  | 'serviceName'
  | 'resourceAttributes'
  | 'tracesSampler'
  | 'tracesSamplerRatio'
>;

/** Undefined if tracing is off. `parts` closes what this opens. */
export async function openTracing(
  dependencies: { readonly log: Log; readonly metrics: Metrics },
  config: TracingConfig,
  process: { readonly serviceName: string; readonly instance: string; readonly version: string },
  parts: AsyncDisposableStack,
): Promise<Tracing | undefined> {
  const { tracesBaseEndpoint, tracesHeaders, resourceAttributes, serviceName } = config;
  const below = tracesBaseEndpoint === undefined ? undefined : `${tracesBaseEndpoint}${TRACES_PATH}`;
  const url = config.tracesEndpoint ?? below;
  if (url === undefined || config.tracesDisabled) return undefined;
  const { createTracing } = await import('../../telemetry/tracing.ts');
  const tracing = createTracing(dependencies, {
    url,
    headers: tracesHeaders === undefined ? {} : parsePairs(tracesHeaders.reveal()),
    sampler: config.tracesSampler,
    ratio: config.tracesSamplerRatio,
    resource: {
      'service.name': process.serviceName,
      'service.version': process.version,
      'service.instance.id': process.instance,
      ...resourceAttributes,
      ...(serviceName === undefined ? {} : { 'service.name': serviceName }),
    },
    version: process.version,
  });
  parts.defer(() => tracing.close());
  dependencies.log.info({ url, sampler: config.tracesSampler }, 'tracing is on');
  return tracing;
}
