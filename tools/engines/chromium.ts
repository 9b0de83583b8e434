// A real Chromium for browser tests: Debian's, headless, controlled by playwright-core. Every browser has its own
// profile, removed when it closes, and every visit has its own cookies.

import type { Browser } from 'playwright-core';
import { findProgram, provideProgram } from './debian-program.ts';
import { reportMissing } from './engine-script.ts';

/** The shell has no window that nobody sees, and needs half the processor time; not every Debian has it. */
const PROGRAMS: readonly string[] = ['chromium-headless-shell', 'chromium'];
const FONTS = 'fonts-dejavu-core';
/** Tests run as root in containers; the browser must not send requests of its own. */
const ARGUMENTS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Resolves to whether it is there now. */
export async function provideChromium(): Promise<boolean> {
  for (const program of PROGRAMS) if (await provideProgram(program, [program, FONTS])) return true;
  return false;
}

/** Undefined if Chromium can be started, otherwise why not. */
export const missingChromium = async (what: string): Promise<string | undefined> =>
  (await provideChromium())
    ? undefined
    : reportMissing(what, 'Chromium is missing on this machine and cannot be installed.');

/** The caller must close it. */
export async function openChromium(): Promise<Browser> {
  const executablePath = PROGRAMS.map(findProgram).find((path) => path !== undefined);
  if (executablePath === undefined) throw new Error('Chromium is missing.');
  // The installer does not need the library.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: [...ARGUMENTS] });
}
