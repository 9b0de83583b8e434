// Renders the table of settings as text for `--help`, from nothing but the table.

import type { Role, Setting } from './setting.ts';
import { SETTINGS } from './settings.ts';

const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);

/** The column where the meaning of a setting starts in `--help`. */
const HELP_INDENT = 46;

function describeDefault(setting: Setting<unknown>, role: Role): string {
  if (setting.requiredBy.includes(role)) return '(required)';
  return `(default: ${setting.defaults[role] ?? (setting.unset ?? 'none').replaceAll('`', '')})`;
}

/** The settings that a role reads, for the end of its `--help`. */
export function renderSettingsHelp(role: Role): string {
  const lines = rows
    .filter((setting) => setting.roles.includes(role))
    .map((setting) => {
      const name = setting.file ? `${setting.name}[_FILE]` : setting.name;
      return `  ${name.padEnd(HELP_INDENT - 2)}${setting.form.replaceAll('`', '')} ${describeDefault(setting, role)}`;
    });
  return ['', 'Settings (environment variables):', ...lines].join('\n');
}
