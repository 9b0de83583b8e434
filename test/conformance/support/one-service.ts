// One service, with the standard settings, for all tests of a process.

import { after } from 'node:test';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';

let starting: Promise<HttpService> | undefined;

export function oneService(): Promise<HttpService> {
  starting ??= startHttpService();
  return starting;
}

after(async () => (await starting)?.stop());
