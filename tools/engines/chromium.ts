// A real Chromium for browser tests: Debian's, headless, controlled by playwright-core. Every browser has its own
// profile, removed when it closes, and every visit has its own cookies.

import { type Browser, chromium } from 'playwright-core';
import { findProgram, missingProgram } from './debian-program.ts';

const PROGRAM = 'chromium';
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

/** Undefined if Chromium can be started, otherwise why not. */
export const missingChromium = (what: string): Promise<string | undefined> =>
  missingProgram(what, PROGRAM, [PROGRAM, 'fonts-dejavu-core']);

/** The caller must close it. */
export async function openChromium(): Promise<Browser> {
  const executablePath = await findProgram(PROGRAM);
  if (executablePath === undefined) throw new Error(`${PROGRAM} is missing.`);
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: [...ARGUMENTS] });
}
