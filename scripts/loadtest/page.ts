// Renders the tables of loadtest/README.md from those in the code. The rest of that page is written by hand.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCENARIO_NAMES, SCENARIOS } from '../../loadtest/scenarios.ts';
import { type LoadSetting, renderDuration, SETTING_ROWS } from '../../loadtest/settings.ts';
import { renderTable } from '../docs/markdown-table.ts';

const PAGE = join(import.meta.dirname, '..', '..', 'loadtest', 'README.md');

const code = (text: string): string => `\`${text}\``;

function renderScenarios(): string[] {
  const rows = Object.values(SCENARIOS).map(({ name, summary, rate, durationSeconds, p99Ms }) => [
    code(name),
    summary,
    String(rate),
    renderDuration(durationSeconds),
    `${p99Ms} ms`,
  ]);
  return renderTable(['scenario', 'what it does', 'rate', 'duration', 'p99 below'], rows);
}

/** One text if all scenarios have the same default, otherwise where to look it up. */
function describeDefault({ required, scenarios, defaultOf, unset = '' }: LoadSetting<unknown>): string {
  if (required) return 'must be set';
  const defaults = new Set(scenarios.map(defaultOf));
  if (defaults.size > 1) return 'as in the table above';
  const [text] = defaults;
  return text === undefined ? unset : code(text);
}

function renderSettings(): string[] {
  const rows = SETTING_ROWS.map((setting) => [
    code(setting.name),
    setting.form,
    describeDefault(setting),
    setting.scenarios.length === SCENARIO_NAMES.length ? 'all' : setting.scenarios.map(code).join(', '),
    setting.description,
  ]);
  return renderTable(['setting', 'form', 'default', 'read by', 'meaning'], rows);
}

/** The page with its current tables. Throws if the page has no place for one. */
export function renderLoadtestPage(text: string): string {
  let page = text;
  for (const [name, lines] of [
    ['scenarios', renderScenarios()],
    ['settings', renderSettings()],
  ] as const) {
    const [begin, end] = [`<!-- ${name}: made by scripts/loadtest/page.ts -->\n`, `<!-- end of ${name} -->\n`];
    const [before, rest] = page.split(begin);
    const [, after] = rest?.split(end) ?? [];
    if (before === undefined || after === undefined)
      throw new Error(`loadtest/README.md has no place for its ${name}.`);
    page = `${before}${begin}\n${lines.join('\n')}\n\n${end}${after}`;
  }
  return page;
}

export const readLoadtestPage = (): string => readFileSync(PAGE, 'utf8');

if (import.meta.main) writeFileSync(PAGE, renderLoadtestPage(readLoadtestPage()));
