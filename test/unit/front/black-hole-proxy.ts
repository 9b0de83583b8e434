// A TCP proxy that can stop forwarding without closing anything, as a network that swallows packets does. It goes with
// its test.

import type { TestContext } from 'node:test';
import { type ApiLink, startApiLink } from '../../contract/discovery/kubernetes-api/api-link.ts';

export async function startBlackHoleProxy(t: TestContext, target: string): Promise<ApiLink> {
  const link = await startApiLink(target);
  t.after(() => link.close());
  return link;
}
