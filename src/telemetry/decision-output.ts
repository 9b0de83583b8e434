// Writes decisions to standard output. Node's own stream would write synchronously, so a stalled reader would stall
// every check. Invariant: nothing here blocks the event loop, however slow the reader is.

import { closeSync, constants, fstatSync, openSync, write } from 'node:fs';
import { type Clock, delay } from '../core/async/clock.ts';
import { formatTimestamp } from '../core/text/timestamps.ts';
import type { Decision, DecisionSink } from './decision-log.ts';

/** Until the next attempt if the pipe is full. */
const FULL_MS = 20;
const STDOUT = 1;
const NEWLINE = 0x0a;

/**
 * A pipe is opened once more without blocking, so that no thread waits in it when the process ends. Anything else, and
 * a pipe that belongs to another user, is used as it is.
 */
function openOutput(descriptor: number): number {
  if (!fstatSync(descriptor).isFIFO()) return descriptor;
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return descriptor;
  }
}

const isFull = (error: NodeJS.ErrnoException): boolean => error.code === 'EAGAIN';

/** Resolves to the number of bytes written; 0 if the other end takes none now. */
const writeOnce = (descriptor: number, bytes: Buffer, from: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(descriptor, bytes, from, bytes.length - from, null, (error, written) => {
      if (error === null) resolve(written);
      else if (isFull(error)) resolve(0);
      else reject(error);
    });
  });

/** `descriptor`: by default standard output. */
export function createDecisionOutput(
  { clock }: { readonly clock: Clock },
  { source, descriptor = STDOUT }: { readonly source: string; readonly descriptor?: number },
): DecisionSink {
  const output = openOutput(descriptor);
  let closed = false;
  let writing: Promise<void> = Promise.resolve();
  /** A line was cut: another one behind it would be lost with it. */
  let cut = false;
  const writeAll = async (lines: string): Promise<void> => {
    const bytes = Buffer.from(cut ? `\n${lines}` : lines);
    for (let from = 0; from < bytes.length; ) {
      if (closed) throw new Error('The output is closed.');
      const written = await writeOnce(output, bytes, from);
      if (written === 0) await delay(clock, FULL_MS);
      from += written;
      if (written > 0) cut = bytes[from - 1] !== NEWLINE;
    }
  };
  return {
    deliver(decisions) {
      const delivery = writeAll(decisions.map((decision) => decisionLine(decision, source)).join(''));
      writing = delivery.catch(() => {});
      return delivery;
    },
    async close() {
      closed = true;
      if (output === descriptor) return;
      // A write in flight would go to whatever gets this descriptor next.
      await writing;
      closeSync(output);
    },
  };
}

// ---- decisions as events ----

/** Identifies these lines in a stream that other programs share. A later version would be another type. */
export const DECISION_EVENT_TYPE = 'grantd.decision.v1';

/**
 * One line: an event in the JSON form of CloudEvents 1.0
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md). `source`: of the process; with
 * the id it identifies the event.
 */
export function decisionLine(decision: Decision, source: string): string {
  const { requestId, index, tenantId, keyId, subject, relation, object, authorized, reason } = decision;
  const event = {
    specversion: '1.0',
    type: DECISION_EVENT_TYPE,
    source,
    id: `${requestId}.${index}`,
    time: formatTimestamp(decision.answeredAtMs),
    datacontenttype: 'application/json',
    data: {
      tenant_id: tenantId,
      key_id: keyId,
      request_id: requestId,
      subject,
      relation,
      object,
      authorized,
      reason,
      checked_at: formatTimestamp(decision.checkedAtMs),
    },
  };
  return `${JSON.stringify(event)}\n`;
}
