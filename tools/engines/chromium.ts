// A real Chromium for browser tests: Debian's, headless, controlled by playwright-core. Every browser has its own
// profile, removed when it closes, and every visit has its own cookies.

import type { Browser } from 'playwright-core';
import { findProgram, missingProgram, provideProgram } from './debian-program.ts';

const PROGRAM = 'chromium';
const PACKAGES = [PROGRAM, 'fonts-dejavu-core'];
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
export const provideChromium = (): Promise<boolean> => provideProgram(PROGRAM, PACKAGES);

/** Undefined if Chromium can be started, otherwise why not. */
export const missingChromium = (what: string): Promise<string | undefined> => missingProgram(what, PROGRAM, PACKAGES);

/** The caller must close it. */
export async function openChromium(): Promise<Browser> {
  const executablePath = findProgram(PROGRAM);
  if (executablePath === undefined) throw new Error(`${PROGRAM} is missing.`);
  // The installer does not need the library.
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: [...ARGUMENTS] });
}
