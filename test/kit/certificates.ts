// Certificates for tests, made by openssl on the spot: an authority, and leaves that it signs.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Leaf {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface Authority {
  readonly ca: string;
  /** `names`: as in a subjectAltName, such as `DNS:a` or `IP:127.0.0.1`. */
  issue(commonName: string, names: readonly string[]): Promise<Leaf>;
}

export async function createDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'grantd-tls-'));
  t.after(() => rm(directory, { recursive: true }));
  return directory;
}

export async function createAuthority(t: TestContext): Promise<Authority> {
  const directory = await createDirectory(t);
  const at = (name: string): string => join(directory, name);
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await run('openssl', [
    ...['req', '-x509', ...newKey, '-days', '2', '-subj', '/CN=test authority'],
    ...['-keyout', at('ca.key'), '-out', at('ca.crt')],
  ]);
  const ca = await readFile(at('ca.crt'), 'utf8');
  let issued = 0;
  return {
    ca,
    async issue(commonName, names) {
      issued += 1;
      const base = at(`leaf-${issued}`);
      await run('openssl', [
        ...['req', ...newKey, '-subj', `/CN=${commonName}`, '-keyout', `${base}.key`, '-out', `${base}.csr`],
      ]);
      await writeFile(`${base}.ext`, names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`);
      await run('openssl', [
        ...['x509', '-req', '-in', `${base}.csr`, '-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-days', '2'],
        ...['-set_serial', String(1000 + issued), '-extfile', `${base}.ext`, '-out', `${base}.crt`],
      ]);
      return { cert: await readFile(`${base}.crt`, 'utf8'), key: await readFile(`${base}.key`, 'utf8'), ca };
    },
  };
}
