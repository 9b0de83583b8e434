// Metrics of a mirror, for Prometheus.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Counter, Gauge, Registry } from 'prom-client';
import type { MirrorWatch } from './run-mirror.ts';

export interface MirrorMetrics extends AsyncDisposable {
  readonly watch: Pick<MirrorWatch, 'loaded' | 'followed'>;
  written(documents: number): void;
}

/** Serves them until it is closed. */
export async function serveMetrics(port: number, nowMs: () => number): Promise<MirrorMetrics> {
  const registers = [new Registry()];
  const metric = (name: string, help: string) => ({ name: `grantd_sync_${name}`, help, registers });
  const loaded = new Counter(metric('loaded_grants_total', 'Grants read in snapshots'));
  const changes = new Counter(metric('changes_total', 'Changes of grants applied'));
  const written = new Counter(metric('written_documents_total', 'Documents whose sets were written'));
  const entry = new Gauge(metric('entry', 'Entry of the log that the mirror has reached'));
  const page = new Gauge(metric('page_timestamp_seconds', 'Time of the last page of the feed, in seconds since 1970'));
  const behind = new Gauge(metric('behind_seconds', 'Age of the last change when it was applied, in seconds'));
  const server: Server = createServer((_request, response) => {
    void Promise.all(registers.map((each) => each.metrics())).then((texts) => {
      response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(texts.join(''));
    });
  });
  await once(server.listen(port), 'listening');
  return {
    watch: {
      loaded: (count) => loaded.inc(count),
      followed({ changes: { length }, atMs }, { seq }) {
        changes.inc(length);
        entry.set(seq);
        page.set(nowMs() / 1000);
        behind.set(atMs === undefined ? 0 : Math.max(0, nowMs() - atMs) / 1000);
      },
    },
    written: (documents) => written.inc(documents),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
