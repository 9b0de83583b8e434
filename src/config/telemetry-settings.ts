// Settings for tracing. They are the variables of the OpenTelemetry specification, so that what a cluster sets for all
// its programs also applies to this one
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).

import { SAMPLER_NAMES } from '../telemetry/sampler-names.ts';
import { choiceParser, parseBoolean, parseUrl, quote } from './parsers.ts';
import { Secret } from './secret.ts';
import { optional, plain, row, WrongSetting } from './setting.ts';

const TRACED_ROLES = ['dev', 'front', 'shard', 'console'] as const;
const PAIRS_MAX = 64;
/** RFC 9110 section 5.1. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;

/**
 * `key=value,key=value`, percent-encoded: the form of W3C Baggage. Errors never repeat the text: it may be a secret.
 */
export function parsePairs(text: string): Readonly<Record<string, string>> {
  const pairs: [string, string][] = [];
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const end = part.indexOf('=');
    const key = part.slice(0, Math.max(end, 0)).trim();
    if (key === '') throw new WrongSetting('must be comma-separated pairs of the form key=value');
    try {
      pairs.push([decodeURIComponent(key), decodeURIComponent(part.slice(end + 1).trim())]);
    } catch {
      throw new WrongSetting('must be percent-encoded: two hexadecimal digits must follow each "%"');
    }
  }
  if (pairs.length > PAIRS_MAX) throw new WrongSetting(`must contain at most ${PAIRS_MAX} pairs`);
  return Object.freeze(Object.fromEntries(pairs));
}

function parseHeaders(text: string): Secret {
  for (const [name, value] of Object.entries(parsePairs(text))) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      throw new WrongSetting('must name HTTP headers with values of printable ASCII characters');
    }
  }
  return new Secret(text);
}

export function parseRatio(text: string): number {
  const ratio = /^(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(ratio >= 0 && ratio <= 1)) throw new WrongSetting(`must be a number from 0 to 1; it is ${quote(text)}`);
  return ratio;
}

export const TELEMETRY_SETTINGS = Object.freeze({
  tracesDisabled: row({
    ...plain,
    name: 'OTEL_SDK_DISABLED',
    roles: TRACED_ROLES,
    form: 'true or false',
    parse: (text: string) => parseBoolean(text.toLowerCase()),
    default: 'false',
    description: 'With `true`, tracing is off, whatever else is set.',
  }),
  tracesBaseEndpoint: optional({
    ...plain,
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    roles: TRACED_ROLES,
    form: 'URL',
    parse: parseUrl,
    unset: 'tracing is off',
    description:
      'Base URL of the collector; traces go to `/v1/traces` below it, as OTLP over HTTP (protobuf). This or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` turns on [tracing](../operating/tracing.md).',
  }),
  logsEndpoint: optional({
    ...plain,
    name: 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
    roles: ['dev', 'front'],
    form: 'URL',
    parse: parseUrl,
    unset: '`/v1/logs` below `OTEL_EXPORTER_OTLP_ENDPOINT`',
    description:
      'The full URL that the [decision log](../operating/decision-log.md) is sent to with `GRANTD_DECISION_LOG=otlp`, used unchanged.',
  }),
  tracesEndpoint: optional({
    ...plain,
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    roles: TRACED_ROLES,
    form: 'URL',
    parse: parseUrl,
    unset: '`/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`',
    description: 'The full URL that traces are sent to, used unchanged.',
  }),
  tracesHeaders: optional({
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    roles: TRACED_ROLES,
    form: '`name=value`, comma-separated, percent-encoded',
    parse: parseHeaders,
    unset: 'none',
    file: true,
    secret: true,
    description:
      'HTTP headers sent with traces and with the decision log, for example the authorization that the collector requires.',
  }),
  serviceName: optional({
    ...plain,
    name: 'OTEL_SERVICE_NAME',
    roles: TRACED_ROLES,
    form: 'name',
    parse: (text: string) => text,
    unset: '`grantd-front`, `grantd-shard`, `grantd-console`; `grantd` in `dev`',
    description: 'The `service.name` of the traces and of the decision log.',
  }),
  resourceAttributes: optional({
    ...plain,
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    roles: TRACED_ROLES,
    form: '`key=value`, comma-separated, percent-encoded',
    parse: parsePairs,
    unset: 'none',
    description:
      'Additional resource attributes, such as `deployment.environment.name=production`. They override the built-in ones, but `OTEL_SERVICE_NAME` overrides a `service.name` given here.',
  }),
  tracesSampler: row({
    ...plain,
    name: 'OTEL_TRACES_SAMPLER',
    roles: TRACED_ROLES,
    form: SAMPLER_NAMES.join(', '),
    parse: choiceParser(SAMPLER_NAMES),
    default: 'parentbased_always_on',
    description:
      'Which requests are traced. The `parentbased_` samplers follow the `traceparent` header if the client sends one.',
  }),
  tracesSamplerRatio: row({
    ...plain,
    name: 'OTEL_TRACES_SAMPLER_ARG',
    roles: TRACED_ROLES,
    form: 'number, 0 to 1',
    parse: parseRatio,
    default: '1',
    description: 'For the `traceidratio` samplers: the share of requests that is traced.',
  }),
});
