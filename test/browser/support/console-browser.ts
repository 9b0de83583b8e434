// The console in a browser, as tests use it: a page of its own per visit, logged in, that fails on what a page must not
// do: an error in its script, a breach of its policy, a request to anybody else.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

/** Half as long as the source that the library exports: every page loads it anew. */
const AXE = readFileSync(join(import.meta.dirname, '../../../node_modules/axe-core/axe.min.js'), 'utf8');
export const WIDE = { width: 1600, height: 900 };
/** What most laptops show. */
export const COMMON = { width: 1280, height: 800 };
export const NARROW = { width: 375, height: 800 };

export interface ConsolePage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly url: string;
  /** Opens a path of the console. */
  open(path: string): Promise<void>;
  /** Also fails on what the page complained of. */
  [Symbol.asyncDispose](): Promise<void>;
}

export async function visitConsole(
  browser: Browser,
  url: string,
  options: BrowserContextOptions & { readonly token?: string } = {},
): Promise<ConsolePage> {
  const { token, ...contextOptions } = options;
  const context = await browser.newContext({ viewport: WIDE, timezoneId: 'UTC', ...contextOptions });
  // Nothing here judges a time: what does not come within a minute does not come.
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
  page.on('console', (message) => {
    // The browser says by itself of every answer of 400 and above, htmx of none at all or in time; tests look at those.
    const told = /Failed to load resource|Failed to fetch|htmx:error: timeout/;
    if (message.type() === 'error' && !told.test(message.text())) complaints.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== new URL(url).origin) complaints.push(`a request to ${origin}`);
  });
  const open = async (path: string): Promise<void> => {
    await page.goto(`${url}/console${path}`);
  };
  if (token !== undefined) {
    // Without the form, which has tests of its own and takes ten times as long.
    await context.request.post(`${url}/console/log-in`, { form: { token }, headers: { Origin: url } });
    await open('/cluster');
  }
  return {
    page,
    context,
    url,
    open,
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(complaints, []);
    },
  };
}

/** Fails where axe finds a violation. `rules`: all unless given. */
export async function assertAccessible(page: Page, what: string, rules?: readonly string[]): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  const violations = await page.evaluate(
    async (runOnly) => {
      const { axe: inPage } = window as unknown as { axe: typeof import('axe-core') };
      const options = { resultTypes: ['violations' as const], ...(runOnly === undefined ? {} : { runOnly }) };
      const found = await inPage.run(document, options);
      return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    },
    rules === undefined ? undefined : [...rules],
  );
  assert.deepEqual(violations, [], what);
}

/** Fails where the page is wider than its window, or a table than its place. */
export async function assertFits(page: Page, what: string): Promise<void> {
  const [excess, beyond] = await page.evaluate(() => {
    const tables = [...document.querySelectorAll('main table')].filter((table) => table.checkVisibility());
    const widths = tables.map((table) => table.clientWidth - (table.parentElement?.clientWidth ?? 0));
    return [document.documentElement.scrollWidth - window.innerWidth, Math.max(0, ...widths)];
  });
  assert.ok(excess <= 0, `${what} is ${excess} px wider than its window`);
  assert.ok(beyond <= 0, `a table of ${what} is ${beyond} px wider than its place`);
}

/** Longer words, such as those of an ID, may break anywhere. */
const WHOLE_WORD_MAX = 24;

/** Fails where a word is broken inside, or touches what follows it. The editor of rules breaks lines as it likes. */
export async function assertWholeWords(page: Page, what: string): Promise<void> {
  const wrong = await page.evaluate((lengthMax) => {
    const found: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const text = node.textContent ?? '';
      if (node.parentElement?.closest('.cm-editor, textarea') !== null) continue;
      for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]{2,}/gu)) {
        if (word.length > lengthMax) continue;
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const rows = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (rows.size > 1) found.push(`“${word}” is broken`);
      }
      const next = node.nextSibling;
      const isInline =
        next instanceof Element && getComputedStyle(next).display === 'inline' && next.localName !== 'wbr';
      if (/[.,:;·]$/.test(text) && isInline) found.push(`“${text.slice(-20)}” touches “${next.textContent}”`);
    }
    return found;
  }, WHOLE_WORD_MAX);
  assert.deepEqual(wrong, [], what);
}

/** Fails where controls in a row do not begin and end at the same height. */
export async function assertAligned(page: Page, what: string): Promise<void> {
  const wrong = await page.evaluate(() => {
    const rows = document.querySelectorAll('.form-row, .buttons, td.actions, .toolbar, .pager');
    return [...rows].flatMap((row) => {
      const controls = [...row.querySelectorAll('input, select, button, .button')].filter(
        (each) => each.checkVisibility() && !each.matches('[type="checkbox"], [type="range"]'),
      );
      return controls.flatMap((each, index) => {
        const before = controls[index - 1];
        if (before === undefined) return [];
        const [one, other] = [before.getBoundingClientRect(), each.getBoundingClientRect()];
        const middle = (other.top + other.bottom) / 2;
        if (middle < one.top || middle > one.bottom) return [];
        const [above, below] = [other.top - one.top, other.bottom - one.bottom];
        if (Math.max(Math.abs(above), Math.abs(below)) <= 0.5) return [];
        const nameOf = (of: Element): string => of.textContent?.trim() || of.id;
        return `“${nameOf(each)}” is ${above} px lower than “${nameOf(before)}”, its end ${below} px`;
      });
    });
  });
  assert.deepEqual(wrong, [], what);
}

const TABS_MAX = 80;

/**
 * Goes on with the Tab key until the element of that name has the focus; every stop on the way has to show that it has.
 */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (!(element instanceof HTMLElement) || element === document.body) return { text: '', visible: true };
      const labels =
        element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels : null;
      const text = element.getAttribute('aria-label') ?? labels?.[0]?.textContent ?? element.textContent;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      const outlined = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
      return { text: (text ?? '').trim().replaceAll(/\s+/g, ' '), visible: outlined || boxShadow !== 'none' };
    });
    assert.ok(stop.visible, `the focus on “${stop.text}” cannot be seen`);
    if (stop.text === name) return;
    passed.push(stop.text);
  }
  assert.fail(`The Tab key does not lead to “${name}”, but to ${passed.join(', ')}.`);
}
