// The process that holds a port: named if /proc shows it, otherwise not mentioned.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { demandAddresses, findPortHolder } from '../../../../src/roles/process/start-error.ts';
import { useDirectory } from '../../../kit/directory.ts';

/** A /proc in which the process 42 listens on port 8080 (1F90) over IPv6. */
function fakeProc(cmdline: string): string {
  const proc = useDirectory();
  for (const directory of ['net', '41/fd', '42/fd', 'self']) mkdirSync(join(proc, directory), { recursive: true });
  const head = '  sl  local_address remote_address st tx_queue rx_queue tr tm->when retrnsmt uid timeout inode\n';
  const line = (local: string, state: string, inode: number) =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 0 0 ${inode} 1 0\n`;
  writeFileSync(join(proc, 'net', 'tcp'), head + line('0100007F:1F90', '01', 7) + line('0100007F:1F91', '0A', 8));
  writeFileSync(join(proc, 'net', 'tcp6'), head + line('00000000000000000000000000000000:1F90', '0A', 9));
  writeFileSync(join(proc, '42', 'cmdline'), cmdline);
  for (const [pid, inode] of [
    [41, 7],
    [42, 9],
  ]) {
    symlinkSync(`socket:[${inode}]`, join(proc, String(pid), 'fd', '5'));
    symlinkSync('/dev/null', join(proc, String(pid), 'fd', '0'));
  }
  return proc;
}

describe('the holder of a port', () => {
  it('is named by program and process id, without the rest of its command line', () => {
    const proc = fakeProc('/usr/sbin/nginx\0-p\0secret\0');
    assert.equal(findPortHolder(8080, proc), 'nginx (pid 42)');
  });

  it('is grantd if its command line says so', () => {
    for (const program of ['/opt/grantd/dist/grantd.js', '/srv/grantd/src/main.ts', '/usr/local/bin/grantd']) {
      assert.equal(findPortHolder(8080, fakeProc(`node\0${program}\0dev\0`)), 'grantd (pid 42)');
    }
  });

  it('is not named if no process listens, or without /proc', () => {
    const proc = fakeProc('x\0');
    assert.equal(findPortHolder(8081, proc), undefined, 'it listens, but no process is seen to hold it');
    assert.equal(findPortHolder(9, proc), undefined);
    assert.equal(findPortHolder(8080, join(proc, 'nowhere')), undefined);
  });

  it('is found on Linux itself', { skip: process.platform !== 'linux' }, async (context) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    context.after(() => server.close());
    const bound = server.address();
    assert.ok(typeof bound === 'object' && bound !== null);
    assert.match(findPortHolder(bound.port) ?? '', new RegExp(`^\\S+ \\(pid ${process.pid}\\)$`));
  });
});

describe('the addresses of a role', () => {
  it('that are not available are all told at once', async (context) => {
    const listening = async (): Promise<{ readonly address: string; close(): void }> => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const bound = server.address();
      assert.ok(typeof bound === 'object' && bound !== null);
      return { address: `127.0.0.1:${bound.port}`, close: () => void server.close() };
    };
    const [first, second] = [await listening(), await listening()];
    context.after(() => [first, second].forEach((each) => void each.close()));
    const addresses = { FIRST: first.address, ANY: '127.0.0.1:0', NONE: undefined, SECOND: second.address };
    await assert.rejects(demandAddresses(addresses), (error: Error) => {
      const settings = error.message.split('\n').map((line) => /is in use by .* Set (\w+) to another/.exec(line)?.[1]);
      assert.deepEqual(settings, ['FIRST', 'SECOND']);
      return true;
    });
    await demandAddresses({ ANY: '127.0.0.1:0', NONE: undefined });
  });
});
