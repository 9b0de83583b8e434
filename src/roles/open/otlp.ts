// What traces and the decision log have in common: the collector, its headers, and what describes this process to it.

import type { DevConfig, FrontConfig } from '../../config/settings.ts';
import { parsePairs } from '../../config/telemetry-settings.ts';

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
