// One stream of one peer, at the server of a shard. It turns messages into calls on the peer's connection to the shard
// and gathers the replies: checks that memory decides are answered in one message per incoming message, everything else
// in one per turn of the event loop. Invariants: every id is answered once; what one call or check says never ends the
// stream, which others share: only broken framing does; nothing grows beyond its bound, since the stream does not read
// from a peer that does not read its replies, nor starts what such a peer has asked for; what a peer asks under handles
// that are not its own takes turns of that peer, never of a tenant.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import { GrantdError } from '../../core/errors.ts';
import { type ClusterId, parseClusterId } from '../../core/ids.ts';
import { namespacesOf } from '../../core/tuples.ts';
import { type CheckAnswer, NO_POSITIONS, type Shard, ShardFailure, type TenantConnection } from '../../shard/shard.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { TraceSpan, Tracing } from '../../telemetry/spans.ts';
import { RouteAnnouncer } from '../announced-routes.ts';
import { beginServing, CHECK, serveInSpan } from '../call-spans.ts';
import {
  demandCheck,
  demandColumns,
  demandNamed,
  NAMED,
  NAMED_CHECK_MS,
  type NamedCheck,
  serveNamed,
} from '../calls/checks.ts';
import { reportFrom } from '../calls/cluster.ts';
import type { ReplyBody, ServedPeer } from '../calls/define-call.ts';
import { shortText } from '../calls/fields.ts';
import { positionsFrom } from '../calls/readers.ts';
import { type AnyCall, CALLS, callOf } from '../calls/table.ts';
import {
  Peer,
  type ReceivedCall,
  type ReceivedChecks,
  type ReceivedFrontMessage,
  type ReceivedHello,
  type ShardMessage,
  type Welcome,
} from '../messages.ts';
import { IN_FLIGHT_MAX, OUTSTANDING_MAX } from '../protocol.ts';
import { toStreamStatus } from '../status-mapping.ts';
import type { PeerProof } from '../transport/peer-certificate.ts';
import type { ServerStream } from '../transport/transport.ts';
import { demand, WireViolation } from '../wire-violation.ts';
import { ReplyQueue } from './answer-queue.ts';
import { EnumerationGate, type PeerEnumerations } from './enumeration-gate.ts';
import type { ForeignPeers } from './foreign-peers.ts';

/** About ten of the longest replies. Beyond that, the stream reads nothing from the peer until the peer takes them. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** For a peer of another cluster to read which one is here. */
const REFUSAL_MS = 500;
/** The name of a call whose request this version does not know. */
const UNKNOWN_CALL = 'unknown';
const POSITION = 'position';
const REPORT = 'report';
/** What can be malformed: a call, or a part of a message without one. */
export const MALFORMED_PARTS: readonly string[] = [...Object.keys(CALLS), CHECK, POSITION, REPORT, UNKNOWN_CALL];
/** Checks of a message between two readings of the clock. */
const CHECKS_PER_LOOK = 64;
/** Tenants whose changed settings one message tells. */
const SETTINGS_PER_MESSAGE_MAX = 500;
/** Checks under unknown handles that are answered in one step, and what that costs with their decoding and encoding. */
const UNKNOWN_PER_STEP = 250;
const UNKNOWN_STEP_MS = 1;
/** One error each for refusals that a peer can cause without end: a stack trace would cost more than the refusal. */
const UNKNOWN_HANDLE = new ShardFailure('handle-unknown', 'The handle is unknown.');
const OVERLOADED = new GrantdError('overloaded', 'Too many calls of this peer are waiting at the shard.');

type HintedCheck = Pick<NamedCheck, 'handle' | 'subject' | 'object'>;

type PeerKind = 'front' | 'console' | 'shard';
const KINDS: ReadonlyMap<number, PeerKind> = new Map([
  [Peer.PEER_FRONT, 'front'],
  [Peer.PEER_CONSOLE, 'console'],
  [Peer.PEER_SHARD, 'shard'],
]);

export interface PeerStreamDependencies {
  readonly shard: Shard;
  readonly clock: Clock;
  /** If there is more to do than time, the calls of each tenant wait for its turn. */
  readonly turns: Turns;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'malformedCalls'>;
  /** Shared by all streams of the shard. */
  readonly foreignPeers: ForeignPeers;
  /** Version of the program, for the log of the peer. */
  readonly version: string;
  /** A peer that calls itself a console or a shard and has not proved it is served as a front. */
  readonly proof: PeerProof;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** Shared with the other streams. Absent: there are none. */
  readonly enumerations?: EnumerationGate | undefined;
  readonly onHello?: (() => void) | undefined;
  /** The key of the turns that belong to no tenant: no other stream has it. */
  readonly turnKey: string;
}

export class PeerStream {
  readonly #stream: ServerStream;
  readonly #shard: Shard;
  readonly #clock: Clock;
  readonly #turns: Turns;
  readonly #log: Log;
  readonly #malformedCalls: Metrics['malformedCalls'];
  readonly #foreignPeers: ForeignPeers;
  readonly #version: string;
  readonly #proof: PeerProof;
  readonly #tracing: Tracing | undefined;
  readonly #enumerations: PeerEnumerations;
  readonly #turnKey: string;
  readonly #onHello: (() => void) | undefined;
  readonly #onClosed: () => void;
  #peer: ServedPeer | undefined;
  #unwatch: (() => void) | undefined;
  #gone = false;
  /** Ends the stream of a peer of another cluster. */
  #refusal: Timer | undefined;
  /** Takes no more messages, and ends once everything taken has its reply. */
  #finishing = false;
  /** Messages that the peer has not taken. */
  #inFlight = 0;
  /** Too much waits for the peer: the stream reads nothing from it. */
  #paused = false;
  /** What came before the pause, and has not started: the peer does not take its replies. */
  #held: (() => void)[] = [];
  /** Checks under unknown handles that are not answered yet. Meanwhile the stream reads nothing from the peer. */
  #unknown = 0;
  #flushScheduled = false;
  #outstanding = 0;
  /** The positions of the last message with checks or calls. */
  #positions = NO_POSITIONS;
  #welcomeDue = false;
  #routesDue = false;
  #settingsDue = false;
  readonly #routes = new RouteAnnouncer();
  #pongId: number | undefined;
  readonly #answers: ReplyQueue;
  readonly #flushAtEnd = (): void => {
    this.#flushScheduled = false;
    this.#flush();
  };
  readonly #onSent = (): void => {
    this.#inFlight -= 1;
    this.#flush();
  };

  constructor(stream: ServerStream, dependencies: PeerStreamDependencies, onClosed: () => void) {
    this.#stream = stream;
    this.#shard = dependencies.shard;
    this.#log = dependencies.log;
    this.#malformedCalls = dependencies.metrics.malformedCalls;
    this.#foreignPeers = dependencies.foreignPeers;
    this.#clock = dependencies.clock;
    this.#turns = dependencies.turns;
    this.#answers = new ReplyQueue(dependencies);
    this.#version = dependencies.version;
    this.#proof = dependencies.proof;
    this.#tracing = dependencies.tracing;
    this.#turnKey = dependencies.turnKey;
    this.#onHello = dependencies.onHello;
    const { enumerations = new EnumerationGate() } = dependencies;
    this.#enumerations = enumerations.connect(() => !this.#isFull);
    this.#onClosed = onClosed;
    stream.on('data', (message: ReceivedFrontMessage) => this.#receive(message));
    stream.on('end', () => {
      this.#leave();
      stream.end();
    });
    stream.on('cancelled', () => this.#leave());
    stream.on('error', () => this.#leave());
    stream.on('close', () => this.#leave());
  }

  /** Replies to what has been taken, then ends the stream. */
  finish(): void {
    this.#finishing = true;
    this.#startHeld();
    this.#peer?.tenant.endWaits();
    this.#stream.pause();
    this.#endIfFinished();
  }

  #leave(): void {
    this.#refusal?.cancel();
    if (this.#gone) return;
    this.#gone = true;
    this.#held = [];
    this.#enumerations.close();
    this.#unwatch?.();
    this.#peer?.tenant.close();
    this.#onClosed();
  }

  #abort(error: unknown): void {
    const { code, details } = toStreamStatus(error);
    this.#log.warn({ err: error, peer: this.#stream.getPeer() }, 'closing the stream of a peer after an error');
    this.#leave();
    this.#stream.emit('error', Object.assign(new Error(details), { code, details }));
  }

  #receive(message: ReceivedFrontMessage): void {
    if (this.#gone) return;
    try {
      this.#take(message);
    } catch (error) {
      this.#abort(error);
    }
  }

  #take(message: ReceivedFrontMessage): void {
    if (this.#peer === undefined) {
      demand(message.hello !== null, 'The first message must be the hello.');
      if (!this.#open(message.hello)) return;
    } else {
      demand(message.hello === null, 'The peer sent a second hello.');
    }
    const peer = this.#peer;
    demand(peer !== undefined, 'The first message must be the hello.');
    if (message.ping !== null) this.#pongId = message.ping.id;
    if (message.checks !== null || message.calls.length > 0) {
      // Without its position, a reader asks the owner itself.
      this.#positions = this.#read(POSITION, () => positionsFrom(message.positions)) ?? NO_POSITIONS;
      peer.tenant.answerAt(this.#positions);
    }
    if (message.checks !== null) this.#takeChecks(peer.tenant, message.checks);
    for (const call of message.calls) this.#takeCall(peer, call);
    const { report } = message;
    const counts = report === null ? undefined : this.#read(REPORT, () => reportFrom(report));
    if (counts !== undefined) peer.tenant.report(counts);
    this.#flush();
  }

  /** A part of a message that has no reply. Undefined: it breaks the protocol, and is ignored. */
  #read<Part>(name: string, read: () => Part): Part | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof WireViolation)) throw error;
      this.#noteViolation(name, error);
      return undefined;
    }
  }

  /** `call`: its name, or that of another part of a message. */
  #noteViolation(call: string, violation: WireViolation): void {
    this.#malformedCalls.inc({ call });
    this.#log.error({ err: violation, call, peer: this.#stream.getPeer() }, 'a peer sent a malformed call');
  }

  #failCheck(id: number, error: unknown): void {
    if (error instanceof WireViolation) this.#noteViolation(CHECK, error);
    this.#answers.failCheck(id, error);
  }

  #failCall(name: string, id: number, error: unknown): void {
    if (error instanceof WireViolation) this.#noteViolation(name, error);
    this.#answers.fail(id, error);
  }

  /** False: the peer belongs to another cluster, and its stream has ended. */
  #open(hello: ReceivedHello): boolean {
    const kind = KINDS.get(hello.peer);
    demand(kind !== undefined, 'The hello does not name the kind of peer.');
    const name = shortText.read(hello.name, 'The name of a peer');
    const { slots, clusterId: own } = this.#shard.welcome();
    const clusterId = parseClusterId(hello.clusterId);
    demand(clusterId !== undefined || hello.clusterId === '', 'The cluster of the hello is not the id of a cluster.');
    if (clusterId !== undefined && clusterId !== own) {
      this.#refuse({ name, clusterId }, own);
      return false;
    }
    demand(
      hello.slots === 0 || hello.slots === slots,
      `The cluster has ${slots} slots; the peer expects ${hello.slots}.`,
    );
    this.#peer = this.#connect(kind, name);
    this.#peer.tenant.watchSettings(() => {
      this.#settingsDue = true;
      this.#schedule();
    });
    this.#unwatch = this.#shard.watchRoutes(() => {
      this.#routesDue = true;
      this.#schedule();
    });
    this.#welcomeDue = true;
    this.#routesDue = true;
    this.#onHello?.();
    return true;
  }

  /**
   * The welcome names the cluster that is here, so that the peer can name it too, and gives up. The status ends the
   * stream of one that does not: it comes later, since gRPC may drop a message that an error follows at once.
   */
  #refuse(peer: { readonly name: string; readonly clusterId: ClusterId }, own: ClusterId): void {
    this.#leave();
    const error = this.#foreignPeers.refuse({ ...peer, peer: this.#stream.getPeer() }, own);
    this.#stream.write({ welcome: this.#welcome() }, () => {});
    this.#refusal = this.#clock.setTimer(() => this.#stream.emit('error', error), REFUSAL_MS);
  }

  #welcome(): Welcome {
    return { ...this.#shard.welcome(), version: this.#version };
  }

  /** A peer that has not proved to be what it says gets the rights of a front. */
  #connect(kind: PeerKind, name: string): ServedPeer {
    if (kind === 'console' && this.#proof.console) return this.#shard.connectConsole();
    if (kind === 'shard' && this.#proof.shard) return this.#shard.connectShard();
    if (kind !== 'front') {
      this.#log.warn(
        { peer: this.#stream.getPeer(), name },
        `a peer claims to be a ${kind} without proof; it is served as a front`,
      );
    }
    return { tenant: this.#shard.connect(kind === 'front' ? name : undefined) };
  }

  #takeChecks(connection: TenantConnection, checks: ReceivedChecks): void {
    demandColumns(checks);
    const { ids, handles, subjects, relations, objects, names, contexts } = checks;
    const spans = checks.traced.length === 0 ? undefined : this.#spansOf(checks);
    const unknown: number[] = [];
    let hasTime = false;
    let named = 0;
    for (let index = 0; index < ids.length; index += 1) {
      const id = ids[index] ?? 0;
      const handle = handles[index] ?? 0;
      const subject = subjects[index] ?? '';
      const relation = relations[index] ?? 0;
      const object = objects[index] ?? '';
      const span = spans?.get(index);
      let check: NamedCheck | undefined;
      if (relation === NAMED) {
        check = { handle, subject, name: names[named] ?? '', object, context: contexts[named] ?? '' };
        named += 1;
      }
      try {
        if (check === undefined) demandCheck(handle, subject, relation, object);
        else demandNamed(check);
      } catch (error) {
        this.#failCheck(id, error);
        continue;
      }
      // Memory decides most of them, in less time than it takes to queue them.
      if (index % CHECKS_PER_LOOK === 0) hasTime = this.#turns.hasTime(this.#clock.monotonicMs());
      if (check !== undefined) {
        const isKnown = hasTime && span === undefined && this.#answerKnown(connection, id, check);
        if (isKnown) continue;
        if (connection.tenantOf(handle) === '') unknown.push(id);
        else this.#takeNamed(connection, span, id, check);
        continue;
      }
      if (hasTime) this.#serveCheck(connection, span, id, handle, subject, relation, object);
      else if (connection.tenantOf(handle) === '') unknown.push(id);
      else {
        this.#defer(connection.tenantOf(handle), (error) => {
          if (error !== undefined) this.#answers.failCheck(id, error);
          else this.#serveCheck(connection, span, id, handle, subject, relation, object);
        });
      }
    }
    if (unknown.length > 0) this.#failUnknown(unknown);
  }

  /** Fails checks under handles that this peer does not have, in turns of the peer. */
  #failUnknown(ids: readonly number[]): void {
    this.#unknown += ids.length;
    let next = 0;
    const step = (): boolean => {
      if (this.#gone) return false;
      const end = Math.min(ids.length, next + UNKNOWN_PER_STEP);
      this.#unknown -= end - next;
      for (; next < end; next += 1) this.#answers.failCheck(ids[next] ?? 0, UNKNOWN_HANDLE);
      this.#schedule();
      return next < ids.length;
    };
    this.#turns.run(this.#turnKey, step, UNKNOWN_STEP_MS);
  }

  /** Whether memory has answered it. */
  #answerKnown(connection: TenantConnection, id: number, check: NamedCheck): boolean {
    const { handle, subject, name, object, context } = check;
    if (context !== '') return false;
    try {
      const known = connection.checkKnown(handle, { subject, relation: name, object });
      if (known !== undefined) this.#answerCheck(connection, id, check, known);
      return known !== undefined;
    } catch (error) {
      this.#answers.failCheck(id, error);
      return true;
    }
  }

  /** It may cost as much as a call: it takes its turn as one. */
  #takeNamed(connection: TenantConnection, span: TraceSpan | undefined, id: number, check: NamedCheck): void {
    const answer = (): Promise<CheckAnswer> => serveNamed(connection, check);
    const serve = (error?: GrantdError): void => {
      if (error !== undefined) this.#answers.failCheck(id, error);
      else this.#awaitCheck(connection, id, check, span === undefined ? answer() : serveInSpan(span, answer));
    };
    this.#defer(connection.tenantOf(check.handle), serve, NAMED_CHECK_MS);
  }

  #serveCheck(
    connection: TenantConnection,
    span: TraceSpan | undefined,
    id: number,
    handle: number,
    subject: string,
    relation: number,
    object: string,
  ): void {
    try {
      const answer =
        span === undefined
          ? connection.check(handle, subject, relation, object)
          : serveInSpan(span, () => connection.check(handle, subject, relation, object));
      if (answer === true) this.#answers.check(id, true);
      else if (answer instanceof Promise) this.#awaitCheck(connection, id, { handle, subject, object }, answer);
      else this.#answerCheck(connection, id, { handle, subject, object }, answer);
    } catch (error) {
      this.#answers.failCheck(id, error);
    }
  }

  /** Spans of the traced checks of a message, by index. */
  #spansOf({ ids, traced }: ReceivedChecks): Map<number, TraceSpan> {
    demand(traced.length <= ids.length, 'The message traces more checks than it has.');
    const spans = new Map<number, TraceSpan>();
    for (const { index, traceparent } of traced) {
      const span = index < ids.length ? beginServing(this.#tracing, traceparent, CHECK) : undefined;
      if (span !== undefined) spans.set(index, span);
    }
    return spans;
  }

  /** With a hint, if it is a denial about something of which the tenant has nothing. */
  #answerCheck(connection: TenantConnection, id: number, check: HintedCheck, answer: CheckAnswer): void {
    if (answer === false || (answer !== true && !answer.authorized)) {
      const { handle, subject, object } = check;
      const unknown = connection.unknownNamespaces(handle, [...namespacesOf(subject, object)]);
      if (unknown.length > 0) this.#answers.hint(id, unknown);
    }
    this.#answers.check(id, answer);
  }

  #awaitCheck(connection: TenantConnection, id: number, check: HintedCheck, answer: Promise<CheckAnswer>): void {
    if (this.#outstanding >= OUTSTANDING_MAX) {
      // The read continues and fills the memory for the next try; its outcome is not needed here.
      answer.catch(() => {});
      this.#answers.failCheck(id, OVERLOADED);
      return;
    }
    this.#outstanding += 1;
    answer.then(
      (answered) => {
        this.#answerCheck(connection, id, check, answered);
        this.#settleOne();
      },
      (error) => {
        this.#answers.failCheck(id, error);
        this.#settleOne();
      },
    );
  }

  #takeCall(peer: ServedPeer, call: ReceivedCall): void {
    let defined: AnyCall;
    let costMs: number;
    try {
      defined = callOf(call);
      costMs = defined.costMs(call);
    } catch (error) {
      this.#failCall(call.request ?? UNKNOWN_CALL, call.id, error);
      return;
    }
    const tenantId = this.#tenantOf(peer.tenant, call);
    const serve = (error?: GrantdError, onSettled?: () => void): void => {
      if (error === undefined) {
        this.#serveCall(peer, defined, call, onSettled);
        return;
      }
      this.#answers.fail(call.id, error);
      onSettled?.();
    };
    // What concerns no tenant takes turns by kind. A peer may send any handle: one that is not its own is no kind.
    const key = tenantId !== '' ? tenantId : call.handle > 0 ? this.#turnKey : `${this.#turnKey} ${defined.name}`;
    if (defined.enumerates) this.#enumerate(key, serve, costMs);
    else this.#defer(key, serve, costMs);
  }

  /** The tenant that a call is about; empty: none that this shard knows, whatever the call says. */
  #tenantOf(connection: TenantConnection, { handle, readPosition, followTenant }: ReceivedCall): string {
    if (handle > 0) return connection.tenantOf(handle);
    const named = (readPosition ?? followTenant)?.tenantId ?? '';
    return named !== '' && connection.serves(named) ? named : '';
  }

  /** Defers a call that few of run at once. */
  #enumerate(key: string, serve: (error?: GrantdError, onSettled?: () => void) => void, costMs: number): void {
    if (this.#outstanding >= OUTSTANDING_MAX) {
      serve(OVERLOADED);
      return;
    }
    this.#outstanding += 1;
    const onSettled = (): void => this.#enumerations.end();
    this.#enumerations.enter(() => {
      this.#outstanding -= 1;
      this.#defer(key, (error) => serve(error, onSettled), costMs);
    });
  }

  #serveCall(peer: ServedPeer, defined: AnyCall, call: ReceivedCall, onSettled?: () => void): void {
    const { id } = call;
    let answer: Promise<ReplyBody>;
    try {
      answer = this.#answer(peer, defined, call);
    } catch (error) {
      this.#failCall(defined.name, id, error);
      onSettled?.();
      return;
    }
    this.#outstanding += 1;
    answer.then(
      (body) => {
        this.#answers.reply(id, body);
        onSettled?.();
        this.#settleOne();
      },
      (error) => {
        this.#failCall(defined.name, id, error);
        onSettled?.();
        this.#settleOne();
      },
    );
  }

  /** Serves a check or call when the turn of its tenant comes, perhaps at once; with an error if too many wait. */
  #defer(key: string, serve: (error?: GrantdError) => void, costMs?: number): void {
    if (this.#outstanding >= OUTSTANDING_MAX) {
      serve(OVERLOADED);
      return;
    }
    this.#outstanding += 1;
    // Until its turn comes, messages with other positions may have been taken, and steps of others served.
    const positions = this.#positions;
    const step = (): boolean => {
      if (this.#gone) return false;
      if (this.#isFull && !this.#finishing) {
        this.#held.push(() => this.#turns.run(key, step, costMs));
        return false;
      }
      try {
        this.#peer?.tenant.answerAt(positions);
        serve();
      } catch (error) {
        this.#abort(error);
      }
      this.#settleOne();
      return false;
    };
    this.#turns.run(key, step, costMs);
  }

  #answer(peer: ServedPeer, defined: AnyCall, call: ReceivedCall): Promise<ReplyBody> {
    const { traceparent } = call;
    const span = traceparent === '' ? undefined : beginServing(this.#tracing, traceparent, defined.name);
    return span === undefined ? defined.serve(peer, call) : serveInSpan(span, () => defined.serve(peer, call));
  }

  #settleOne(): void {
    this.#outstanding -= 1;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#flushScheduled || this.#gone) return;
    this.#flushScheduled = true;
    this.#turns.atEnd(this.#flushAtEnd);
  }

  #hasOutput(): boolean {
    return this.#answers.waiting || this.#pongId !== undefined || this.#routesDue || this.#settingsDue;
  }

  #flush(): void {
    while (!this.#gone && this.#inFlight < IN_FLIGHT_MAX && this.#hasOutput()) {
      this.#inFlight += 1;
      this.#stream.write(this.#nextMessage(), this.#onSent);
    }
    this.#readWhileTaken();
    this.#endIfFinished();
  }

  #readWhileTaken(): void {
    if (!this.#isFull) this.#startHeld();
    const pause = this.#isFull || this.#unknown > 0;
    if (pause === this.#paused || this.#finishing) return;
    this.#paused = pause;
    if (pause) this.#stream.pause();
    else this.#stream.resume();
  }

  /** The peer does not take its replies. */
  get #isFull(): boolean {
    return this.#answers.waitingBytes > WAITING_BYTES_MAX;
  }

  #startHeld(): void {
    this.#enumerations.resume();
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    for (const start of held) start();
  }

  #endIfFinished(): void {
    if (!this.#finishing || this.#gone || this.#outstanding + this.#unknown > 0 || this.#hasOutput()) return;
    this.#leave();
    this.#stream.end();
  }

  #nextMessage(): ShardMessage {
    const message: ShardMessage = {};
    if (this.#welcomeDue) {
      this.#welcomeDue = false;
      message.welcome = this.#welcome();
    }
    if (this.#routesDue) {
      this.#routesDue = false;
      message.routes = this.#routes.next(this.#shard.routes());
    }
    if (this.#pongId !== undefined) {
      message.pong = { id: this.#pongId, shardMs: this.#shard.monotonicMs() };
      this.#pongId = undefined;
    }
    this.#answers.fill(message);
    if (this.#peer !== undefined) this.#fillSettings(message, this.#peer.tenant);
    return message;
  }

  /**
   * Those that have changed, and in the replies with handles those of now: whichever message the peer takes last has
   * the newest ones.
   */
  #fillSettings(message: ShardMessage, connection: TenantConnection): void {
    for (const { handle } of message.replies ?? []) {
      const settings = handle && connection.settingsOf(handle.handle ?? 0);
      if (settings) Object.assign(handle, { plan: settings.plan, readers: settings.readers });
    }
    if (!this.#settingsDue) return;
    const settings = connection.takeSettings(SETTINGS_PER_MESSAGE_MAX);
    this.#settingsDue = settings.length === SETTINGS_PER_MESSAGE_MAX;
    message.settings = [...settings];
  }
}
