// The reference page of the settings, made from their table and nothing else.

import type { Setting } from '../src/config/setting.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { renderTable } from './markdown-table.ts';

const rows: readonly Setting<unknown>[] = Object.values(SETTINGS);

/** docs/reference/settings.md. */
export function renderSettingsPage(): string {
  const table = rows.map((setting) => {
    const fallback = setting.default === undefined ? (setting.unset ?? 'none') : `\`${setting.default}\``;
    const name = setting.file ? `\`${setting.name}\`, \`${setting.name}_FILE\`` : `\`${setting.name}\``;
    const description = setting.secret ? `${setting.description} A secret: never printed.` : setting.description;
    return [name, setting.form, fallback, setting.roles.join(', '), description];
  });
  return [
    '# Settings',
    '',
    '<!-- Made by `npm run generate:docs` from src/config/settings.ts. Change it there. -->',
    '',
    'All settings are environment variables. A wrong one stops the start with one message that lists every wrong one; a',
    'variable that starts with `GRANTD_` and is not in this table is wrong too. An empty variable counts as not set.',
    '',
    'Where a name with `_FILE` is given, the value may stand in a file whose path is in that variable instead; one line',
    'break at the end of the file does not count. Every secret can be given so.',
    '',
    "Read by: `dev` is the whole service in one process (`npm start`), `cli` the operator's commands.",
    '',
    ...renderTable(['setting', 'form', 'default', 'read by', 'meaning'], table),
    '',
  ].join('\n');
}
