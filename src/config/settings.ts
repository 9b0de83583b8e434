// The table of settings: every environment variable that the program reads, with its form, default and meaning. Nothing
// else reads the environment. `--help` and docs/reference/settings.md are generated from this table.

import { ADDRESS_SETTINGS } from './address-settings.ts';
import { DECISION_LOG_SETTINGS } from './decision-log-settings.ts';
import { OIDC_SETTINGS } from './oidc-settings.ts';
import { REDIS_SETTINGS } from './redis-settings.ts';
import { SERVICE_SETTINGS } from './service-settings.ts';
import type { Role, Setting } from './setting.ts';
import { STORE_SETTINGS } from './store-settings.ts';
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts';

export const SETTINGS = Object.freeze({
  ...ADDRESS_SETTINGS,
  ...STORE_SETTINGS,
  ...REDIS_SETTINGS,
  ...SERVICE_SETTINGS,
  ...OIDC_SETTINGS,
  ...TELEMETRY_SETTINGS,
  ...DECISION_LOG_SETTINGS,
});

export type Settings = typeof SETTINGS;
type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;
/** Roles that always have a value. */
type FilledFor<Row extends Pick<Setting<unknown>, 'defaults' | 'requiredBy'>> =
  | keyof Row['defaults']
  | Row['requiredBy'][number];

/** The parsed settings of a role: those rows of the table that name it. */
export type Config<Reader extends Role> = {
  readonly [Key in keyof Settings as Reader extends Settings[Key]['roles'][number]
    ? Key
    : never]: Reader extends FilledFor<Settings[Key]> ? ValueOf<Settings[Key]> : ValueOf<Settings[Key]> | undefined;
};

export type DevConfig = Config<'dev'>;
export type FrontConfig = Config<'front'>;
export type ShardConfig = Config<'shard'>;
export type ConsoleConfig = Config<'console'>;
export type MigrateConfig = Config<'migrate'>;
export type CliConfig = Config<'cli'>;
