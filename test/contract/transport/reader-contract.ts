// What every transport keeps between a front, a reader of a tenant and its owner: the reader answers what the owner
// does, as of every write that was acknowledged before, over both of their connections.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import { scopeMask } from '../../../src/core/scopes.ts';
import { slotOfTenant } from '../../../src/core/slots.ts';
import { columnsOf, wireNumberOf } from '../../../src/core/tuples.ts';
import { type Receiver, ShardLink } from '../../../src/front/links/shard-link.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { CALLS } from '../../../src/rpc/calls/table.ts';
import { Peer } from '../../../src/rpc/messages.ts';
import type { ShardServer } from '../../../src/rpc/serving/server.ts';
import type { OpenStream } from '../../../src/rpc/transport/transport.ts';
import type { NamedTuple } from '../../../src/rules/questions.ts';
import type { AnswerOf, KeyCredentials, LogPosition, RequestOf, TenantCalls } from '../../../src/shard/shard.ts';
import { MemoryStore } from '../../kit/store/memory-store.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { listen } from '../../unit/rpc/harness.ts';
import { PAIR_META, ReaderPair } from '../support/reader-pair.ts';
import { linkDependencies, openOwnerLinks } from './links.ts';

const HELLO = { name: 'contract', peer: Peer.PEER_FRONT, version: '0', slots: 0 };
const WRITES = 20;
const [ANN, BOB, EVE] = ['user:ann', 'user:bob', 'user:eve'];
const viewer = (subject: string) => ({ subject, relation: 'viewer', object: 'doc:1' }) as const;
const PAGE = { limit: 1, cursor: undefined };
const ALL = { limit: 100, cursor: undefined };
const NAMED = { list: 'checks', explain: true, denyUndefined: false };

/** The front's end of a connection to one shard. */
class Front {
  readonly #link: ShardLink;

  constructor(t: TestContext, openStream: OpenStream, address: string) {
    const events = { onWelcome: () => true, onRoutes: () => {}, onSettings: () => {}, onLost: () => {} };
    this.#link = new ShardLink(address, events, linkDependencies(openStream), { hello: () => HELLO });
    t.after(() => this.#link.close());
  }

  ready(): Promise<void> {
    return waitFor('the link', () => this.#link.ready);
  }

  call<Name extends keyof TenantCalls>(name: Name, handle: number, request: RequestOf<Name>): Promise<AnswerOf<Name>> {
    const call = CALLS[name];
    return new Promise((resolve, reject) => {
      const onReply: Receiver['onReply'] = (reply) => resolve(call.answerOf(reply, request));
      this.#link.call({ onReply, onFailure: reject, onCheck: reject }, handle, call.toWire(request));
    });
  }

  /** `at`: what the owner has said of its log since the check has come. */
  check(handle: number, subject: string, at?: LogPosition): Promise<boolean> {
    if (at !== undefined) this.#link.answerAt(at);
    const check = { subject, relation: wireNumberOf('viewer'), object: 'doc:1', name: '', context: '' };
    return new Promise((resolve, reject) => {
      this.#link.check({ onCheck: resolve, onFailure: reject, onReply: reject }, handle, check);
    });
  }

  async handle(name: 'authenticate' | 'authenticateAtReader', credentials: KeyCredentials): Promise<number> {
    return (await this.call(name, 0, credentials)).handle;
  }
}

type Read = (front: Front, handle: number) => Promise<unknown>;

const OBJECTS = { subject: ANN, relation: 'viewer', namespace: undefined };
const HOLDERS = { object: 'doc:1', relation: 'can_read', namespace: undefined };
const named = (...tuples: readonly NamedTuple[]) => ({ ...NAMED, checks: tuples });

/** Everything that readers answer, without times. */
const READS: { readonly [what: string]: Read } = {
  'a check that is granted': (front, handle) => front.check(handle, ANN),
  'a check that is denied': (front, handle) => front.check(handle, EVE),
  async 'several checks'(front, handle) {
    return (await front.call('checkBulk', handle, columnsOf([viewer(BOB), viewer(EVE), viewer(ANN)]))).authorized;
  },
  async 'checks by name, with their reasons'(front, handle) {
    const checks = [ANN, EVE].map((subject) => ({ subject, relation: 'can_read', object: 'doc:1' }));
    const { checkedAtMs: _, ...answer } = await front.call('checkNamed', handle, named(...checks));
    return answer;
  },
  'names of an object': (front, handle) => front.call('listNames', handle, { subject: ANN, object: 'doc:1', ...ALL }),
  'objects of a subject': (front, handle) => front.call('listObjects', handle, { ...OBJECTS, ...ALL }),
  async 'sets of a subject'(front, handle) {
    const query = { subject: ANN, namespace: 'doc', name: 'can_read', deep: [], perhaps: false };
    const { seq, timeMs: _, through, ...sets } = await front.call('readSets', handle, query);
    assert.ok(through <= seq);
    return sets;
  },
  async 'holders of a name, by pages'(front, handle) {
    const first = await front.call('listHolders', handle, { ...HOLDERS, ...PAGE });
    return [first, await front.call('listHolders', handle, { ...HOLDERS, ...PAGE, cursor: first.nextCursor })];
  },
};

const REFUSED: { readonly [code: string]: Read } = {
  'invalid-relation': (front, handle) =>
    front.call('checkNamed', handle, named({ subject: ANN, relation: 'can_fly', object: 'doc:1' })),
  'invalid-cursor': (front, handle) => front.call('listObjects', handle, { ...OBJECTS, limit: 1, cursor: 'x' }),
};

async function refusalOf(read: Promise<unknown>): Promise<{ readonly code: string; readonly message: string }> {
  const refusal = await read.then(
    () => assert.fail('it is answered'),
    (error: unknown) => error,
  );
  assert.ok(refusal instanceof GrantdError, String(refusal));
  const { code, message } = refusal;
  return { code, message };
}

/** A pair of shards, a front's connections to both of them, and a handle at each. */
class Connected {
  readonly pair: ReaderPair;
  readonly owner: Front;
  readonly reader: Front;
  readonly #ownerServer: ShardServer;

  static async open(t: TestContext, connect: (server: ShardServer) => OpenStream): Promise<Connected> {
    const servers: ShardServer[] = [];
    const pair = await ReaderPair.start(t, new MemoryStore({ clock: systemClock }), async (node) => {
      const server = await listen(t, () => node);
      servers.push(server);
      const links = openOwnerLinks(t, connect(server));
      return { follow: (_, request) => links.follow(server.address, request) };
    });
    const readerServer = await listen(t, () => pair.reader.node);
    const [ownerServer = readerServer] = servers;
    const [owner, reader] = [ownerServer, readerServer].map((each) => new Front(t, connect(each), each.address));
    assert.ok(owner !== undefined && reader !== undefined);
    await Promise.all([owner.ready(), reader.ready(), pair.read(await pair.createKey())]);
    return new Connected(pair, owner, reader, ownerServer);
  }

  private constructor(pair: ReaderPair, owner: Front, reader: Front, ownerServer: ShardServer) {
    this.pair = pair;
    this.owner = owner;
    this.reader = reader;
    this.#ownerServer = ownerServer;
  }

  /** The same read at the owner and at the reader. */
  async both<Result>(
    credentials: KeyCredentials,
    read: Read,
    resultOf: (read: Promise<unknown>) => Promise<Result>,
  ): Promise<{ readonly atOwner: Result; readonly atReader: Result }> {
    const atOwner = await resultOf(read(this.owner, await this.owner.handle('authenticate', credentials)));
    const atReader = await resultOf(read(this.reader, await this.reader.handle('authenticateAtReader', credentials)));
    return { atOwner, atReader };
  }

  position(): Promise<LogPosition> {
    const { tenantId } = this.pair;
    return this.owner.call('readPosition', 0, { slot: slotOfTenant(tenantId, PAIR_META.slots), tenantId });
  }

  /** Nobody reaches the owner any more. */
  loseOwner(): Promise<void> {
    return this.#ownerServer.close();
  }
}

export function defineReaderContract(name: string, connect: (server: ShardServer) => OpenStream): void {
  describe(`a reader by the transport ${name}`, () => {
    it('answers and refuses what its owner does, in the same words', async (t) => {
      const connected = await Connected.open(t, connect);
      const { pair } = connected;
      await pair.writeRules({ namespace: 'doc', name: 'can_read', any_of: ['viewer'] });
      await pair.write({ grants: [viewer(ANN), viewer(BOB), { ...viewer(ANN), object: 'doc:2' }] });
      const credentials = await pair.createKey();
      for (const [what, read] of Object.entries(READS)) {
        const { atOwner, atReader } = await connected.both(credentials, read, (answer) => answer);
        assert.deepEqual(atReader, atOwner, what);
      }
      for (const [code, read] of Object.entries(REFUSED)) {
        const { atOwner, atReader } = await connected.both(credentials, read, refusalOf);
        assert.equal(atOwner.code, code);
        assert.deepEqual(atReader, atOwner);
      }
      const writer = await pair.createKey(scopeMask(['grant:write']));
      const { atOwner, atReader } = await connected.both(
        writer,
        (front, handle) => front.check(handle, ANN),
        refusalOf,
      );
      assert.equal(atOwner.code, 'insufficient-scope');
      assert.deepEqual(atReader, atOwner);
    });

    it('answers as of every acknowledged write, and hands the rest to its owner', async (t) => {
      const connected = await Connected.open(t, connect);
      const { pair, reader } = connected;
      const credentials = await pair.createKey();
      const handle = await reader.handle('authenticateAtReader', credentials);
      for (let write = 0; write < WRITES; write += 1) {
        const isGrant = write % 2 === 0;
        await pair.write(isGrant ? { grants: [viewer(ANN)] } : { revocations: [viewer(ANN)] });
        const position = write % 3 === 0 ? undefined : await connected.position();
        assert.equal(await reader.check(handle, ANN, position), isGrant);
      }
      await assert.rejects(reader.call('readRules', handle, undefined), { kind: 'wrong-owner' });
      await pair.revokeKey(credentials);
      await assert.rejects(reader.check(handle, ANN), { kind: 'handle-unknown' });

      const other = await pair.createKey();
      const last = await reader.handle('authenticateAtReader', other);
      assert.equal(await reader.check(last, ANN), false);
      const position = await connected.position();
      await connected.loseOwner();
      assert.equal(await reader.check(last, ANN, position), false, 'it has applied that position');
      await assert.rejects(reader.check(last, ANN), { kind: 'handle-unknown' });
      await assert.rejects(reader.handle('authenticateAtReader', other), { kind: 'not-serving' });
    });
  });
}
