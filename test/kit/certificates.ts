// Certificates for tests, made by openssl on the spot: an authority, and leaves that it signs.

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { useDirectory } from './directory.ts';

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

export async function createAuthority(): Promise<Authority> {
  const directory = useDirectory();
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
