// Whether a command's output arrived. Invariant: a write that failed is known when the command ends, whichever part of
// it wrote and whenever; only a reader that has left (EPIPE) is told apart, because `grantd … | head` is no failure.

import { constants, fstatSync, fsync, readFileSync, statSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

/** `fd`: only of a stream of this process. */
type Output = Writable & { readonly fd?: number };

const STDOUT = 1;
const ACCESS_MODE = 0o3;
/** Errors of `fsync` on files that have nothing to put on a disk. */
const NOT_SYNCED: ReadonlySet<string | undefined> = new Set(['EINVAL', 'ENOTSUP', 'EROFS']);

const isFile = (descriptor: number): boolean => {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    return false;
  }
};

/**
 * Writes in full to standard output that is a file. Node's stream takes a partial write for a whole one, and the error
 * would come only with the next one.
 */
export function writeWhole(stdout: Output): void {
  if (stdout.fd !== STDOUT || !isFile(STDOUT)) return;
  stdout._write = (chunk: Uint8Array, _encoding, done) => {
    try {
      for (let from = 0; from < chunk.length; ) {
        const written = writeSync(STDOUT, chunk, from);
        if (written === 0) throw new Error('the file takes no more');
        from += written;
      }
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    done();
  };
}

/**
 * Whether standard output is closed, or discarded by the program that started this one: Node opens /dev/null in place
 * of a closed descriptor, for reading and writing. `> /dev/null` in a shell opens it for writing alone.
 */
export function isDiscarded(stdout: Output): boolean {
  if (stdout.fd !== STDOUT) return false;
  try {
    const { rdev } = fstatSync(STDOUT);
    if (rdev === 0 || rdev !== statSync('/dev/null').rdev) return false;
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${STDOUT}`, 'utf8'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & ACCESS_MODE) === constants.O_RDWR;
  } catch {
    return false;
  }
}

const synced = (descriptor: number): Promise<NodeJS.ErrnoException | undefined> =>
  new Promise((resolve) => fsync(descriptor, (error) => resolve(error ?? undefined)));

export class OutputWatch {
  readonly #stream: Output;
  #failure: NodeJS.ErrnoException | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error) => this.#keep(error));
  }

  #keep(error: NodeJS.ErrnoException): void {
    // A reader that has left says nothing about what it has got: another error says more.
    if (this.#failure === undefined || this.#failure.code === 'EPIPE') this.#failure = error;
  }

  /** The first failure so far. Also one that the stream will tell only in a later turn. */
  get failure(): NodeJS.ErrnoException | undefined {
    const { errored } = this.#stream;
    if (errored) this.#keep(errored);
    return this.#failure;
  }

  /** Resolves once everything is written, and on the disk if it goes there, or has failed. */
  async settled(): Promise<void> {
    const { fd, writableLength } = this.#stream;
    if (writableLength > 0) await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
    await turn();
    if (fd === undefined || this.failure !== undefined || !isFile(fd)) return;
    const error = await synced(fd);
    if (error !== undefined && !NOT_SYNCED.has(error.code)) this.#keep(error);
  }
}
