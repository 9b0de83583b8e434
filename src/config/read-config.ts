// Turns the environment into a frozen, typed configuration. Either every setting is valid, or the start ends with one
// message that lists every invalid one. No value of a secret ever appears in that message.

import { readFileSync } from 'node:fs';
import { nearestName } from '../core/json-members.ts';
import { RULES } from './rules.ts';
import { Secret } from './secret.ts';
import { type Origin, type Role, type Setting, WrongSetting } from './setting.ts';
import { type Config, SETTINGS } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'GRANTD_';
const FILE_SUFFIX = '_FILE';
/** Far larger than any setting, so that a wrong path does not exhaust the memory. */
const FILE_BYTES_MAX = 1024 * 1024;

/** Kubernetes sets these in every pod if the name of a Service starts with `grantd`. */
const SERVICE_LINK = /^GRANTD_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;
/** The project's own tests read the first, and the clients for tests of applications the other. */
export const FOREIGN_NAMES: ReadonlySet<string> = new Set(['GRANTD_TOOLS', 'GRANTD_TESTING_URL']);

/** Lists every invalid setting, one per line. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const many = problems.length === 1 ? 'A setting is wrong' : `${problems.length} settings are wrong`;
    super(`${many}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** The problem with one setting, in a line that begins with its name. */
class SettingProblem extends Error {}

const rows: readonly [string, Setting<unknown>][] = Object.entries(SETTINGS);

/** Every variable that the program knows, for all roles. */
export function variableNames(): string[] {
  return rows.flatMap(([, setting]) =>
    setting.file ? [setting.name, `${setting.name}${FILE_SUFFIX}`] : [setting.name],
  );
}

function readTextFile(path: string): string {
  const bytes = readFileSync(path);
  if (bytes.length > FILE_BYTES_MAX) throw new WrongSetting(`names a file of more than ${FILE_BYTES_MAX} bytes`);
  return bytes.toString('utf8').replace(/\r?\n$/, '');
}

const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unreadable';

/** The text of a setting and its origin, or undefined if it is not set. */
function findText(
  setting: Setting<unknown>,
  environment: Environment,
): { readonly text: string; readonly variable: string; readonly path: string | undefined } | undefined {
  // An empty variable counts as not set: that is how compose files and charts omit one.
  const text = environment[setting.name] || undefined;
  const variable = `${setting.name}${FILE_SUFFIX}`;
  const path = setting.file ? environment[variable] || undefined : undefined;
  if (path === undefined) return text === undefined ? undefined : { text, variable: setting.name, path };
  if (text !== undefined)
    throw new SettingProblem(`${setting.name} and ${variable} are both set; set only one of them`);
  let content: string;
  try {
    content = readTextFile(path);
  } catch (error) {
    if (error instanceof WrongSetting) throw new SettingProblem(`${variable} ${error.message}`);
    throw new SettingProblem(`${variable} names a file that cannot be read (${reasonOf(error)}): ${path}`);
  }
  if (content === '') throw new SettingProblem(`${variable} names a file that is empty: ${path}`);
  return { text: content, variable, path };
}

function readSetting(setting: Setting<unknown>, environment: Environment, role: Role): unknown {
  const found = findText(setting, environment);
  const text = found?.text ?? setting.defaults[role];
  if (text === undefined) {
    if (!setting.requiredBy.includes(role)) return undefined;
    throw new SettingProblem(
      `${setting.name} is not set; grantd ${role} needs it (${setting.form.replaceAll('`', '')})`,
    );
  }
  const origin: Origin = { role, path: found?.path };
  try {
    return setting.parse(text, origin);
  } catch (error) {
    if (!(error instanceof WrongSetting)) throw error;
    throw new SettingProblem(`${found?.variable ?? setting.name} ${error.message}`);
  }
}

function findUnknown(environment: Environment): string[] {
  const names = variableNames();
  const known = new Set(names);
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .filter((name) => !SERVICE_LINK.test(name) && !FOREIGN_NAMES.has(name))
    .sort()
    .map((name) => {
      const nearest = nearestName(name, names);
      return `${name} is not a setting${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    });
}

/** Reads the settings of `role` from `environment`. Throws a ConfigError that lists every invalid or unknown one. */
export function readConfig<Reader extends Role>(role: Reader, environment: Environment): Config<Reader> {
  const problems: string[] = [];
  const wrong = new Set<string>();
  const config: Record<string, unknown> = {};
  for (const [key, setting] of rows) {
    if (!setting.roles.includes(role)) continue;
    try {
      config[key] = readSetting(setting, environment, role);
    } catch (error) {
      if (!(error instanceof SettingProblem)) throw error;
      problems.push(error.message);
      wrong.add(key);
    }
  }
  for (const { roles, settings, holds, problem } of RULES) {
    if (roles.includes(role) && !settings.some((key) => wrong.has(key)) && !holds(config)) problems.push(problem);
  }
  problems.push(...findUnknown(environment));
  if (problems.length > 0) throw new ConfigError(problems);
  // The record was filled from the same table that the type is computed from.
  return Object.freeze(config) as Config<Reader>;
}

/** A configuration for the log: settings by name; secrets and bulky values appear only as `set`. */
export function describeConfig(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const described: Record<string, unknown> = {};
  for (const [key, setting] of rows) {
    const value = config[key];
    if (value === undefined) continue;
    described[setting.name] =
      value instanceof Secret || setting.file ? 'set' : Array.isArray(value) ? value.join(',') : value;
  }
  return described;
}

/** The column where the meaning of a setting starts in `--help`. */
const HELP_INDENT = 46;

function describeDefault(setting: Setting<unknown>, role: Role): string {
  if (setting.requiredBy.includes(role)) return '(required)';
  return `(default: ${setting.defaults[role] ?? setting.unset?.replaceAll('`', '')})`;
}

/** The settings that a role reads, as text for the end of its `--help`. */
export function renderSettingsHelp(role: Role): string {
  const lines = rows
    .filter(([, setting]) => setting.roles.includes(role))
    .map(([, setting]) => {
      const name = setting.file ? `${setting.name}[_FILE]` : setting.name;
      return `  ${name.padEnd(HELP_INDENT - 2)}${setting.form.replaceAll('`', '')} ${describeDefault(setting, role)}`;
    });
  return ['', 'Settings (environment variables):', ...lines].join('\n');
}
