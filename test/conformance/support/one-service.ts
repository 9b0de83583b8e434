// One service, with the standard settings unless a file says otherwise first, for all tests of a process.

import { after } from 'node:test';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';

let start: () => Promise<HttpService> = startHttpService;
let starting: Promise<HttpService> | undefined;

/** For a file that imports tests: before them, it imports one that calls this. */
export function startOneServiceBy(other: () => Promise<HttpService>): void {
  start = other;
}

export function oneService(): Promise<HttpService> {
  starting ??= start();
  return starting;
}

after(async () => (await starting)?.stop());
