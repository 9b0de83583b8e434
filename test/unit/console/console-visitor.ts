// A visitor of the console's pages without a browser: keeps the cookie, follows nothing, and fills in the CSRF token of
// the last page, unless a test gives another one.

import assert from 'node:assert/strict';
import { type ConsoleService, OPERATOR_TOKEN } from '../../kit/console-service.ts';

export interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class ConsoleVisitor {
  readonly url: string;
  cookie: string | undefined;
  csrf = '';
  /** Sent with every request. */
  headers: Readonly<Record<string, string>> = {};

  constructor(url: string) {
    this.url = url;
  }

  async #visit(path: string, init: RequestInit): Promise<Visit> {
    const response = await fetch(`${this.url}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...(this.cookie === undefined ? {} : { Cookie: this.cookie }), ...this.headers, ...init.headers },
    });
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) this.cookie = /Max-Age=0/.test(cookie) ? undefined : cookie.split(';')[0];
    const text = await response.text();
    this.csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? this.csrf;
    return { status: response.status, headers: response.headers, text };
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Visit> {
    return this.#visit(path, { headers: { ...headers } });
  }

  post(
    path: string,
    fields: Readonly<Record<string, string | readonly string[]>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Visit> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries({ csrf: this.csrf, ...fields })) {
      for (const each of [value].flat()) body.append(name, each);
    }
    return this.#visit(path, { method: 'POST', body, headers: { ...headers } });
  }

  /** Fails where the token is not taken. */
  async logIn(token: string): Promise<this> {
    const visit = await this.post('/console/log-in', { token });
    assert.equal(visit.status, 303, visit.text);
    await this.get('/console/tenants/new');
    return this;
  }
}

/** Of calls of the cluster beside the console. */
export const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };

/** An operator who visits a new tenant, and a session of another operator there. */
export async function visitTenant({ url, operator }: ConsoleService, other = 'test') {
  const visitor = await new ConsoleVisitor(url).logIn(OPERATOR_TOKEN);
  const { tenantId } = await operator.createTenant(context, { name: 'Acme', plan: 'free', operator: 'test' });
  return { visitor, tenantId, session: await operator.tenant(context, tenantId, other) };
}

/** The text that a browser shows for this markup. */
export const plainText = (markup: string): string =>
  markup.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
