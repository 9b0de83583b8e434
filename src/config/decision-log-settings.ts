// Settings of the decision log (docs/operating/decision-log.md).

import { choiceParser, parseTenant } from './parsers.ts';
import { optional, plain, row, WrongSetting } from './setting.ts';
import { parseRatio } from './telemetry-settings.ts';

const ROLES = ['dev', 'front'] as const;
const OUTPUTS = ['off', 'stdout', 'otlp'] as const;
/** Each is looked up for every request. */
const TENANTS_MAX = 1000;

function parseTenants(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.length > TENANTS_MAX) throw new WrongSetting(`must contain at most ${TENANTS_MAX} tenant ids`);
  return Object.freeze(parts.map(parseTenant));
}

export const DECISION_LOG_SETTINGS = Object.freeze({
  decisionLog: row({
    ...plain,
    name: 'GRANTD_DECISION_LOG',
    roles: ROLES,
    form: OUTPUTS.join(', '),
    parse: choiceParser(OUTPUTS),
    default: 'off',
    description:
      'Where the [decision log](../operating/decision-log.md) goes: nowhere; to standard output, as JSON lines; to an OpenTelemetry collector, as log records.',
  }),
  decisionLogRate: row({
    ...plain,
    name: 'GRANTD_DECISION_LOG_RATE',
    roles: ROLES,
    form: 'number, 0 to 1',
    parse: parseRatio,
    default: '1',
    description: 'The share of requests whose decisions are logged.',
  }),
  decisionLogTenants: optional({
    ...plain,
    name: 'GRANTD_DECISION_LOG_TENANTS',
    roles: ROLES,
    form: 'tenant ids, comma-separated',
    parse: parseTenants,
    unset: 'none',
    description: 'Tenants whose decisions are all logged, whatever the share. At most 1000.',
  }),
});
