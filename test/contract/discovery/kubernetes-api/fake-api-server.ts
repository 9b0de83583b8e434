// An API server with nothing but EndpointSlices, over HTTP: it lists and watches by label, keeps versions, sends
// bookmarks and Status objects as the real one does, and fails as it is told.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type SliceFixture, sliceObject } from './slice-fixture.ts';

export interface ApiRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly token: string | undefined;
}

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly fixture: SliceFixture;
}

interface Watcher {
  readonly response: ServerResponse;
  readonly wants: (fixture: SliceFixture) => boolean;
}

const REASONS = new Map([
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [410, 'Expired'],
]);

const statusObject = (code: number, message: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason: REASONS.get(code) ?? 'InternalError',
  code,
});

const objectOf = (version: number, fixture: SliceFixture) => {
  const object = sliceObject(fixture);
  return {
    ...object,
    // As Go writes an empty list.
    endpoints: object.endpoints.length === 0 ? null : object.endpoints,
    metadata: { ...object.metadata, resourceVersion: String(version) },
  };
};

export class FakeApiServer {
  readonly requests: ApiRequest[] = [];
  /** What lists and watches are answered with in place of what they ask for; `watch` undefined: as `list`. */
  trouble: { list?: number; watch?: number } = {};
  /** The body of every list that succeeds. */
  body: string | undefined;
  /** While it is true, no request is answered. */
  hangs = false;
  readonly #server;
  readonly #slices = new Map<string, { readonly version: number; readonly fixture: SliceFixture }>();
  readonly #watchers = new Set<Watcher>();
  #changes: Change[] = [];
  #version = 100;
  /** Changes up to this version are not kept any more. */
  #expired = 0;

  constructor(tls?: { readonly cert: string; readonly key: string }) {
    const answer = (request: IncomingMessage, response: ServerResponse): void => this.#answer(request, response);
    this.#server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  get lists(): readonly ApiRequest[] {
    return this.requests.filter(({ query }) => !query.has('watch'));
  }

  get watches(): readonly ApiRequest[] {
    return this.requests.filter(({ query }) => query.has('watch'));
  }

  /** Makes a slice or takes its place. */
  write(fixture: SliceFixture): void {
    const key = `${fixture.namespace}/${fixture.name}`;
    this.#change(this.#slices.has(key) ? 'MODIFIED' : 'ADDED', fixture);
    this.#slices.set(key, { version: this.#version, fixture });
  }

  /** As `write`, and no watch is told, now or later. */
  writeUnseen(fixture: SliceFixture): void {
    this.#slices.set(`${fixture.namespace}/${fixture.name}`, { version: this.#version, fixture });
  }

  remove(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const slice = this.#slices.get(key);
    if (slice === undefined) throw new Error(`There is no slice ${key}.`);
    this.#slices.delete(key);
    this.#change('DELETED', slice.fixture);
  }

  /** The version goes on for reasons of others, and every watch is told. */
  bookmark(): void {
    this.#version += 10;
    this.send({
      type: 'BOOKMARK',
      object: { kind: 'EndpointSlice', metadata: { resourceVersion: String(this.#version) } },
    });
  }

  /** No watch can begin from a version that was told until now. */
  expire(): void {
    this.#version += 10;
    this.#expired = this.#version;
    this.#changes = [];
  }

  /** Every watch is told that its version expired, which ends none. */
  tellExpired(): void {
    this.send({ type: 'ERROR', object: statusObject(410, 'too old resource version') });
  }

  /** A line, or bytes or a text as they are, to every watch. */
  send(line: object | string | Uint8Array): void {
    const text = typeof line === 'string' || line instanceof Uint8Array ? line : `${JSON.stringify(line)}\n`;
    for (const { response } of this.#watchers) response.write(text);
  }

  /** As at the end of their time. */
  endWatches(): void {
    for (const { response } of this.#watchers) response.end();
  }

  #change(type: Change['type'], fixture: SliceFixture): void {
    this.#version += 1;
    const change = { type, version: this.#version, fixture };
    this.#changes.push(change);
    for (const watcher of this.#watchers) this.#tell(watcher, change);
  }

  #tell({ response, wants }: Watcher, { type, version, fixture }: Change): void {
    if (wants(fixture)) response.write(`${JSON.stringify({ type, object: objectOf(version, fixture) })}\n`);
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost');
    const isWatch = query.has('watch');
    this.requests.push({
      path: pathname,
      query,
      token: request.headers.authorization?.replace(/^Bearer /, ''),
    });
    const namespace = /^\/apis\/discovery\.k8s\.io\/v1\/namespaces\/([^/]+)\/endpointslices$/.exec(pathname)?.[1];
    const service = /^kubernetes\.io\/service-name=(.+)$/.exec(query.get('labelSelector') ?? '')?.[1];
    const trouble = isWatch ? (this.trouble.watch ?? this.trouble.list) : this.trouble.list;
    const code = namespace === undefined || service === undefined ? 404 : trouble;
    if (this.hangs) return;
    response.setHeader('content-type', 'application/json');
    if (code !== undefined) {
      response.writeHead(code).end(JSON.stringify(statusObject(code, `told to answer ${code}`)));
      return;
    }
    const wants = (fixture: SliceFixture): boolean => fixture.namespace === namespace && fixture.service === service;
    if (isWatch) this.#beginWatch(response, Number(query.get('resourceVersion')), wants);
    else response.end(this.body ?? this.#list(wants));
  }

  #list(wants: Watcher['wants']): string {
    const items = [...this.#slices.values()]
      .filter(({ fixture }) => wants(fixture))
      .map(({ version, fixture }) => objectOf(version, fixture));
    return JSON.stringify({
      kind: 'EndpointSliceList',
      apiVersion: 'discovery.k8s.io/v1',
      metadata: { resourceVersion: String(this.#version) },
      items,
    });
  }

  #beginWatch(response: ServerResponse, version: number, wants: Watcher['wants']): void {
    const watcher = { response, wants };
    response.flushHeaders();
    if (version < this.#expired) {
      response.end(`${JSON.stringify({ type: 'ERROR', object: statusObject(410, 'too old resource version') })}\n`);
      return;
    }
    this.#watchers.add(watcher);
    response.on('close', () => this.#watchers.delete(watcher));
    for (const change of this.#changes) if (change.version > version) this.#tell(watcher, change);
  }
}
