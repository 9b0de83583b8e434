// Renders the reference page of the settings from their table alone.

import type { Role, Setting } from '../../src/config/setting.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { renderTable } from './markdown-table.ts';

const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);

/** Its default: one for all roles that read it, or one per role, and the roles in which it must be set. */
function describeDefault({ roles, defaults, requiredBy, unset }: Setting<unknown>): string {
  const parts: string[] = [];
  for (const text of new Set(Object.values(defaults))) {
    const same = roles.filter((role) => defaults[role] === text);
    parts.push(same.length === roles.length ? `\`${text}\`` : `\`${text}\` in ${renderRoles(same)}`);
  }
  if (requiredBy.length > 0) parts.push(`must be set for ${renderRoles(requiredBy)}`);
  const rest = roles.filter((role) => defaults[role] === undefined && !requiredBy.includes(role));
  if (rest.length > 0 && unset !== undefined) parts.push(parts.length === 0 ? unset : `else ${unset}`);
  return parts.join('; ');
}

const renderRoles = (roles: readonly Role[]): string => roles.map((role) => `\`${role}\``).join(', ');

/** docs/reference/settings.md. */
export function renderSettingsPage(): string {
  const table = rows.map((setting) => {
    const name = setting.file ? `\`${setting.name}\`, \`${setting.name}_FILE\`` : `\`${setting.name}\``;
    const description = setting.secret ? `${setting.description} A secret: never printed.` : setting.description;
    return [name, setting.form, describeDefault(setting), setting.roles.join(', '), description];
  });
  return [
    '# Settings',
    '',
    '<!-- Made by `npm run generate -- docs` from src/config/settings.ts. Change it there. -->',
    '',
    'All settings are environment variables. If any is wrong, the process does not start and lists all wrong ones in one',
    'message. A variable that starts with `GRANTD_` and is not in this table is also wrong. An empty variable counts as not set.',
    '',
    'If the table lists a name with `_FILE`, you can put the value into a file and set that variable to its path; grantd',
    'ignores one line break at the end of the file. Every secret can be given this way.',
    '',
    'Read by: `dev` is the whole service in one process (`npm start`); `front`, `shard`, `console` and `migrate` are the',
    'parts of a cluster ([how to run one](../operating/cluster.md)); `cli` is the commands that call a service.',
    '',
    ...renderTable(['setting', 'form', 'default', 'read by', 'meaning'], table),
    '',
  ].join('\n');
}
