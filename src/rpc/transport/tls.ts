// Mutual TLS between shards and their peers: each end proves itself with a certificate and trusts one set of
// authorities. The files are read again every few seconds (a mounted secret is replaced by swapping links, which a
// watch on the file would miss). Invariants: only files that fit together are ever used; a half-written or mismatched
// set leaves the last good one in place; new connections use the newest good set, and open ones continue.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import {
  checkServerIdentity,
  createSecureContext,
  type PeerCertificate,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import { type ChannelCredentials, credentials as grpcCredentials, ServerCredentials } from '@grpc/grpc-js';
import { splitAddress } from '../../core/text/addresses.ts';
import type { Log } from '../../telemetry/log.ts';

const RELOAD_MS_DEFAULT = 2000;
const PEM_MARK = '-----BEGIN ';
const CERTIFICATE_PATTERN = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Each is either PEM text, or the path of a file that contains it. */
export interface RpcTlsFiles {
  /** Certificate of this process, followed by the intermediate certificates. */
  readonly cert: string;
  readonly key: string;
  /** The authorities that must have issued the other end's certificate. */
  readonly ca: string;
}

export interface RpcTlsOptions {
  /**
   * A certificate of a shard has to be for one of these names, such as that of their Service, since pods are dialled by
   * address. Absent: it has to be for the dialled host.
   */
  readonly serverNames?: readonly string[] | undefined;
  readonly reloadMs?: number;
}

export interface RpcTls {
  /** For a shard: refuses clients without a certificate from the authorities. */
  serverCredentials(): ServerCredentials;
  /** For a connection to a shard. To be called at every dial. */
  channelCredentials(address: string): ChannelCredentials;
  /** For a connection of a shard to itself, regardless of the names in its certificate. */
  loopBackCredentials(): ChannelCredentials;
  /** Stops reading the files. Credentials that were created stay in use. */
  close(): void;
}

/** PEM texts, whether or not they came from files. */
interface Material {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

const isSame = (left: Material, right: Material): boolean =>
  left.cert === right.cert && left.key === right.key && left.ca === right.ca;

interface TlsContexts {
  readonly material: Material;
  readonly server: SecureContextOptions;
  readonly client: SecureContext;
}

const isText = (source: string): boolean => source.includes(PEM_MARK);

function certificatesIn(pem: string, what: string): X509Certificate[] {
  const blocks = pem.match(CERTIFICATE_PATTERN) ?? [];
  const begun = pem.split('-----BEGIN CERTIFICATE-----').length - 1;
  if (blocks.length === 0 || blocks.length !== begun) throw new Error(`${what} is not complete PEM.`);
  return blocks.map((block) => new X509Certificate(block));
}

/** Throws if the parts do not fit together. */
function load(material: Material): TlsContexts {
  certificatesIn(material.cert, 'The certificate');
  certificatesIn(material.ca, 'The file of authorities');
  // Both ends are this program, so nothing older is needed.
  const options: SecureContextOptions = { ...material, minVersion: 'TLSv1.3' };
  // Throws if the key does not belong to the certificate.
  return { material, server: options, client: createSecureContext(options) };
}

/** As for HTTPS, except that a common name proves nothing (https://www.rfc-editor.org/rfc/rfc9525#section-2). */
const checkName = (name: string, certificate: PeerCertificate): Error | undefined =>
  checkServerIdentity(name, { ...certificate, subject: { ...certificate.subject, CN: '' } });

function checkNames(names: readonly string[], certificate: PeerCertificate): Error | undefined {
  const failures = names.map((name) => checkName(name, certificate));
  return failures.includes(undefined) ? undefined : (failures[0] ?? new Error('No name of a shard is known.'));
}

/** Server credentials whose files may change while the server listens. */
class ReloadableServerCredentials extends ServerCredentials {
  constructor(options: SecureContextOptions) {
    super({ requestCert: true, rejectUnauthorized: true }, options);
  }

  update(options: SecureContextOptions): void {
    this.updateSecureContextOptions(options);
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

/** Throws if the files cannot be read or used now. */
export function createRpcTls(
  files: RpcTlsFiles,
  dependencies: { readonly log: Log },
  options: RpcTlsOptions = {},
): RpcTls {
  const { log } = dependencies;
  const { serverNames, reloadMs = RELOAD_MS_DEFAULT } = options;
  const readNow = (source: string): string => (isText(source) ? source : readFileSync(source, 'utf8'));
  const readLater = async (source: string): Promise<string> => (isText(source) ? source : readFile(source, 'utf8'));

  let current = load({ cert: readNow(files.cert), key: readNow(files.key), ca: readNow(files.ca) });
  const servers = new Set<ReloadableServerCredentials>();
  let lastRead = current.material;
  let lastFailure = '';
  let reading = false;

  async function reload(): Promise<void> {
    const [cert, key, ca] = await Promise.all([readLater(files.cert), readLater(files.key), readLater(files.ca)]);
    // Files swapped between two readings may belong to two sets: they are judged once two readings agree.
    const settled = isSame(lastRead, { cert, key, ca });
    lastRead = { cert, key, ca };
    if (!settled) return;
    const changed = !isSame(current.material, lastRead);
    if (changed) current = load(lastRead);
    lastFailure = '';
    if (!changed) return;
    for (const server of servers) server.update(current.server);
    const [own] = certificatesIn(cert, 'The certificate');
    log.info({ validTo: own?.validTo, subject: own?.subject }, 'using new certificates between shards and their peers');
  }

  function poll(): void {
    if (reading) return;
    reading = true;
    reload()
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (reason !== lastFailure) {
          log.warn({ reason }, 'cannot use the changed certificates; keeping the last good ones');
        }
        lastFailure = reason;
      })
      .finally(() => {
        reading = false;
      });
  }

  const changeable = [files.cert, files.key, files.ca].some((source) => !isText(source));
  const timer = changeable ? setInterval(poll, reloadMs).unref() : undefined;

  return {
    serverCredentials() {
      const server = new ReloadableServerCredentials(current.server);
      servers.add(server);
      return server;
    },
    channelCredentials(address) {
      const names = serverNames ?? [splitAddress(address).host];
      return grpcCredentials.createFromSecureContext(current.client, {
        checkServerIdentity: (_, certificate) => checkNames(names, certificate),
      });
    },
    loopBackCredentials() {
      return grpcCredentials.createFromSecureContext(current.client, { checkServerIdentity: () => undefined });
    },
    close() {
      clearInterval(timer);
    },
  };
}
