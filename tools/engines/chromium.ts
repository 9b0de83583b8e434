// A real Chromium for tests of pages: Debian's, headless, steered by playwright-core. Every browser has a profile of
// its own that goes when it is closed, and every visit has cookies of its own.

import { type Browser, chromium } from 'playwright-core';
import { findProgram, missingProgram } from './debian-program.ts';

const PROGRAM = 'chromium';
/** Tests run as root in containers; nothing of the browser may reach out by itself. */
const ARGUMENTS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Undefined where Chromium can be started; else why not. */
export const missingChromium = (what: string): Promise<string | undefined> =>
  missingProgram(what, PROGRAM, [PROGRAM, 'fonts-dejavu-core']);

/** To be closed by who opened it. */
export async function openChromium(): Promise<Browser> {
  const executablePath = await findProgram(PROGRAM);
  if (executablePath === undefined) throw new Error(`${PROGRAM} is missing.`);
  return chromium.launch({ executablePath, headless: true, chromiumSandbox: false, args: [...ARGUMENTS] });
}
