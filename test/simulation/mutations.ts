// Mutations: each switches one protection off, by a patch of the source text as it is loaded. `caughtBy` is the focus
// whose faults it protects from; the unmutated code passes under the same focus.

import type { Focus } from './profile.ts';

export interface MutationEdit {
  /** From the root of the project. */
  readonly file: string;
  /** The function or method whose body it changes. Of several with this name, one alone holds what is replaced. */
  readonly within: string;
  /** Every occurrence in the body, after the edits before, is replaced. Undefined: the whole body is. */
  readonly find?: string;
  readonly replace: string;
}

export interface Mutation {
  readonly name: string;
  readonly what: string;
  readonly caughtBy: Focus;
  /** The search begins with this seed: those before it caught nothing lately. Default: 1. */
  readonly from?: number;
  readonly edits: readonly MutationEdit[];
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'expiry-by-the-wall-clock',
    what: 'Whether a grant has expired is read from the wall clock alone.',
    caughtBy: 'expiry',
    edits: [
      { file: 'src/shard/log/slot-time.ts', within: 'nowMs', replace: 'return timeOfStamp(wallStamp(this.#clock));' },
      {
        file: 'src/shard/log/slot-time.ts',
        within: 'holds',
        find: 'hasExpired(facts, this.loggedMs) ? false : undefined',
        replace: 'false',
      },
      { file: 'src/shard/log/slot-time.ts', within: 'keeps', find: 'this.waits = true', replace: '' },
    ],
  },
  {
    name: 'expiry-told-twice',
    what: 'A grant with several rows that tell its expiries is collected once for each.',
    caughtBy: 'expiry',
    edits: [
      { file: 'src/shard/log/grant-collection.ts', within: 'collect', find: 'withoutRepeats(rows)', replace: 'rows' },
    ],
  },
  {
    name: 'rotated-end-forgotten',
    what: 'The state tables lose the nearer end of a key that was rotated, so that the next owner does not know it.',
    caughtBy: 'rotations',
    edits: [
      {
        file: 'src/shard/log-changes.ts',
        within: 'deriveState',
        find: 'settingRow(setting,',
        replace:
          "settingRow(change.kind === 'key-rotated' && setting.kind === 'key' ? { ...setting, key: { ...setting.key, expiresAtMs: change.key.expiresAtMs } } : setting,",
      },
    ],
  },
  {
    name: 'rotated-key-revoked-in-memory-alone',
    what: 'A rotation without a grace ends the former key in memory, and not in the state tables.',
    caughtBy: 'rotations',
    edits: [
      {
        file: 'src/shard/log-changes.ts',
        within: 'deriveState',
        find: 'settingRow(setting,',
        replace:
          "settingRow(change.kind === 'key-rotated' && setting.kind === 'key' ? { ...setting, tombstone: false } : setting,",
      },
    ],
  },
  {
    name: 'trimming-the-tail',
    what: 'The log is trimmed however young it is, and whatever may still be repeated.',
    caughtBy: 'trimming',
    edits: [
      { file: 'src/shard/log/maintenance.ts', within: 'trimLog', find: ' || next > tenure.windowFrom', replace: '' },
      { file: 'src/shard/log/maintenance.ts', within: 'isOld', replace: 'return true;' },
    ],
  },
  {
    name: 'trimming-by-wall-clocks',
    what: 'The log is trimmed by wall clocks alone.',
    caughtBy: 'far-clocks',
    from: 3,
    edits: [
      { file: 'src/shard/log/maintenance.ts', within: 'trimLog', find: ' || next > tenure.windowFrom', replace: '' },
      {
        file: 'src/shard/log/maintenance.ts',
        within: 'isOld',
        find: ' && age.atLeastMs >= Math.min(logRetentionMs, TRIM_AGE_MS_MIN)',
        replace: '',
      },
    ],
  },
  {
    name: 'suspects-declared-dead',
    what: 'A member is declared dead as soon as it is suspected, while its lease lasts.',
    caughtBy: 'stalls',
    from: 14,
    edits: [
      {
        file: 'src/shard/ownership/membership.ts',
        within: 'declarationMs',
        find: 'this.#leaseMs + LEASE_MARGIN_MS',
        replace: 'SUSPECT_MS',
      },
    ],
  },
  {
    name: 'confirming-death',
    what: 'A member whose row a scan lacks is taken for dead, and is not asked after.',
    caughtBy: 'stale-scans',
    from: 11,
    edits: [
      {
        file: 'src/shard/ownership/membership.ts',
        within: 'confirmDead',
        find: 'if (this.#rows',
        replace: 'if (!this.#rows.has(incarnation)) return true;\n    if (this.#rows',
      },
    ],
  },
  {
    name: 'checkpoint-stamp',
    what: 'A checkpoint is stamped by the wall clock of its owner, and not by the entry.',
    caughtBy: 'clocks',
    edits: [
      {
        file: 'src/shard/log/applier.ts',
        within: 'add',
        find: 'checkpointStamp(entry)',
        replace: 'this.#ports.clock.wallMs() * 1000',
      },
    ],
  },
  {
    name: 'fence',
    what: 'An append that finds its seq taken by a higher epoch goes on to the next seq.',
    caughtBy: 'broken-clocks',
    from: 10,
    edits: [
      {
        file: 'src/shard/log/appender.ts',
        within: 'append',
        find: 'present.epoch >= this.#epoch',
        replace: 'present.epoch === this.#epoch',
      },
    ],
  },
  {
    name: 'lease-check',
    what: 'A shard answers without a valid lease.',
    caughtBy: 'zombies',
    from: 7,
    edits: [
      {
        file: 'src/shard/ownership/membership-lease.ts',
        within: 'valid',
        find: 'nowMs < this.#untilMs && !this.#wallJumped(nowMs)',
        replace: '!this.#ended',
      },
    ],
  },
  {
    name: 'incarnations',
    what: 'Every run of a shard has the same incarnation.',
    caughtBy: 'failover',
    edits: [
      {
        file: 'src/shard/shard-node.ts',
        within: 'newSession',
        find: "this.#ids.create('inc')",
        replace: "'inc_' + shardName",
      },
    ],
  },
  {
    name: 'operation-ids',
    what: 'The results of operations are forgotten, so that a repeat is done again.',
    caughtBy: 'failover',
    from: 4,
    edits: [{ file: 'src/shard/log/idempotency/cache.ts', within: 'restore', replace: 'return undefined;' }],
  },
  {
    name: 'read-back',
    what: 'An append that timed out counts as done.',
    caughtBy: 'store',
    edits: [
      {
        file: 'src/shard/log/appender.ts',
        within: 'append',
        find: 'await this.#readBack(record)',
        replace: "{ kind: 'appended' }",
      },
    ],
  },
  {
    name: 'attempts-never-expire',
    what: 'A try of a write is done whenever it arrives.',
    caughtBy: 'late-bytes',
    edits: [
      {
        file: 'src/front/links/shard-link.ts',
        within: 'call',
        find: 'write.deadlineMs + clockOffsetMs',
        replace: 'write.deadlineMs + clockOffsetMs + 3_600_000',
      },
    ],
  },
  {
    name: 'page-delta',
    what: 'A page is installed as it was read, without what was committed meanwhile.',
    caughtBy: 'memory',
    edits: ['load', 'readEach'].map((within) => ({
      file: 'src/shard/memory/grant-pages.ts',
      within,
      find: 'putOver(page, delta)',
      replace: '',
    })),
  },
  {
    name: 'object-tombstones',
    what: 'A revocation writes its tombstone by subject alone.',
    caughtBy: 'broad',
    edits: [
      {
        file: 'test/kit/store/store-tables.ts',
        within: 'apply',
        find: 'this.objectGrants.put(',
        replace: 'if (!write.tombstone) this.objectGrants.put(',
      },
    ],
  },
  {
    name: 'void-entries',
    what: 'An entry counts although a higher epoch stands before it.',
    caughtBy: 'displaced',
    from: 14,
    edits: [
      {
        file: 'src/shard/log/recovery.ts',
        within: 'replayLog',
        find: 'record.epoch < replayed.highestEpoch',
        replace: 'false',
      },
    ],
  },
  {
    name: 'contiguous-replay',
    what: 'A recovery goes on over a gap in the log.',
    caughtBy: 'lost-records',
    from: 3,
    edits: [
      {
        file: 'src/shard/log/recovery.ts',
        within: 'readLog',
        find: 'record.seq !== seq',
        replace: '(seq = record.seq) !== seq',
      },
    ],
  },
  {
    name: 'state-behind-its-checkpoint',
    what: 'A new owner replays the log from a later checkpoint than that of the state that it read ahead.',
    caughtBy: 'listings',
    from: 36,
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        within: 'stateOf',
        find: 'return state;',
        replace: 'return { ...state, checkpoint: (await readSlotState(this.#dependencies, this.slot)).checkpoint };',
      },
    ],
  },
  {
    name: 'pages-ahead-after-replay',
    what: 'Pages that were read before a claim are put over what the replay of the log has committed.',
    caughtBy: 'moves',
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        within: 'open',
        find: 'await this.#takeIn(ahead?.pages ?? [], slice);',
        replace: '',
      },
      {
        file: 'src/shard/log/tenure.ts',
        within: 'open',
        find: 'this.#expectExpiries(',
        replace: 'await this.#takeIn(ahead?.pages ?? [], slice);\n      this.#expectExpiries(',
      },
    ],
  },
  {
    name: 'serving-while-replayed',
    what: 'A slot is served while its log is still being replayed.',
    caughtBy: 'delays',
    from: 238,
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        within: 'serving',
        replace: "return this.#state === 'serving' || this.#state === 'opening';",
      },
      {
        file: 'src/shard/log/tenure.ts',
        within: 'assertServing',
        find: "if (this.#state !== 'serving') throw",
        replace: 'if (!this.serving) throw',
      },
    ],
  },
  {
    name: 'counted-once',
    what: 'A grant that the stored count holds already is counted again where its entry is replayed.',
    caughtBy: 'broad',
    edits: [
      {
        file: 'src/shard/memory/grant-count.ts',
        within: 'commit',
        find: 'if (seq <= this.#loadedSeq) return false;',
        replace: '',
      },
    ],
  },
  {
    name: 'listing-past-read',
    what: 'A listing takes in changes that lie behind what it has read of the state tables.',
    caughtBy: 'listings',
    edits: [
      {
        file: 'src/shard/memory/grant-range.ts',
        within: 'rowsUnder',
        find: 'end === undefined || compareRows(row, end) <= 0',
        replace: 'true',
      },
    ],
  },
  {
    name: 'revoking-what-was-read',
    what: 'A revocation by a filter takes what matched when it was read, not when it is decided.',
    caughtBy: 'transactions',
    edits: [
      { file: 'src/shard/memory/grant-range.ts', within: 'current', find: 'return ', replace: 'return this.kept ??= ' },
    ],
  },
  {
    name: 'bulk-in-two-entries',
    what: 'The revocations of a bulk write are an operation of their own, after its grants.',
    caughtBy: 'transactions',
    from: 4,
    edits: [
      {
        file: 'src/shard/peers/grant-writes.ts',
        within: 'writeBulk',
        find: 'const result = await peer.submit(handle, by.attempt, sizeOfBulk(write, held.tuples), decide);',
        replace: `const { grants, revocations, preconditions } = write;
    const cuts = [grants.length, grants.length + revocations.length];
    const parts = [
      [{ grants, revocations: [], preconditions }, [...held.tuples.slice(0, cuts[0]), ...held.tuples.slice(cuts[1])]],
      [{ grants: [], revocations, preconditions: [] }, held.tuples.slice(cuts[0], cuts[1])],
    ];
    const [first, second] = parts.map(([part, tuples], index) => () =>
      peer.submit(
        handle,
        { ...by.attempt, requestId: by.attempt.requestId + index },
        sizeOfBulk(part, tuples),
        under(handle, decideBulk(peer.shard, memory, tuples, part)),
      ),
    );
    const granted = await first();
    if (granted.bulk.kind !== 'written') return granted.bulk;
    const result = { kind: 'bulk', bulk: { ...granted.bulk, revoked: (await second()).bulk.revoked } };`,
      },
    ],
  },
  {
    name: 'reader-without-an-index',
    what: 'A reader answers without asking how far the log is.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        within: 'asked',
        find: 'if (this.#isAsking) return;',
        replace: 'resolve();\n      if (this.#isAsking) return;',
      },
    ],
  },
  {
    name: 'reader-without-a-commit',
    what: 'A reader leaves a commit out.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        within: 'take',
        find: 'if (commit.seq <= this.#seq',
        replace: 'if (commit.seq % 7 === 0 || commit.seq <= this.#seq',
      },
    ],
  },
  {
    name: 'reader-key-outlived',
    what: 'A handle at a reader outlives its key.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        within: 'take',
        find: 'memory.commit(change, commit.seq);',
        replace: "if (change.kind !== 'key-revoked') memory.commit(change, commit.seq);",
      },
    ],
  },
  {
    name: 'reader-beginning-without-commits',
    what: 'A reader begins with a record of the tenant that is older than its position.',
    caughtBy: 'busy',
    from: 25,
    edits: [
      {
        file: 'src/shard/readers/follow-tenant.ts',
        within: 'begin',
        find: 'return { epoch, seq, nextBase,',
        replace: 'return { epoch, seq: tenure.lastSeq, nextBase,',
      },
    ],
  },
  {
    name: 'reader-index-without-a-lease',
    what: 'An owner tells readers how far its log is although its lease has ended.',
    caughtBy: 'zombies',
    from: 7,
    edits: [
      {
        file: 'src/shard/shard-node.ts',
        within: 'tenureOf',
        find: 'tenure.assertServing();\n      return tenure;',
        replace: 'return tenure;',
      },
    ],
  },
  {
    name: 'commits-kept-again-from-the-first',
    what: 'Commits that are kept again after a pause count as all commits, so that former readers lack none.',
    caughtBy: 'busy',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        within: 'keepCommits',
        find: 'clock, seq, readerLimits',
        replace: 'clock, 0, readerLimits',
      },
    ],
  },
  {
    name: 'promise-not-kept',
    what: 'An owner shows a commit although it has promised that it shows none.',
    caughtBy: 'promises',
    edits: [
      { file: 'src/shard/log/quiet-promises.ts', within: 'holdMs', replace: 'return 0;' },
      { file: 'src/shard/log/appender.ts', within: 'readiness', replace: 'return EVERY_TENANT;' },
    ],
  },
  {
    name: 'promise-from-the-answer',
    what: 'A front uses a promise from the moment at which its answer comes.',
    caughtBy: 'promises',
    edits: [
      {
        file: 'src/front/requests/read-positions.ts',
        within: 'end',
        find: 'new QuietPosition(position, route, asked)',
        replace: 'new QuietPosition(position, route, { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() })',
      },
    ],
  },
  {
    name: 'promise-of-the-dead',
    what: 'An earlier process in the same place is declared dead although its promises may stand.',
    caughtBy: 'promises',
    edits: [
      {
        file: 'src/shard/ownership/predecessors.ts',
        within: 'declarePredecessors',
        find: 'if (rows.length > 0) await delay(clock, promisesMs);',
        replace: '',
      },
    ],
  },
  {
    name: 'dead-without-the-place',
    what: 'The watch of a place declares a shard dead although it does not hold the place.',
    caughtBy: 'watches',
    from: 80,
    edits: [
      {
        file: 'src/shard/ownership/predecessors.ts',
        within: 'declareVacant',
        find: 'isThere: held.isHeld',
        replace: 'isThere: () => true',
      },
    ],
  },
  {
    name: 'promise-slept-over',
    what: 'A front whose machine was suspended takes a promise for as young as its monotonic clock says.',
    caughtBy: 'promises',
    edits: [
      {
        file: 'src/front/requests/read-positions.ts',
        within: 'serves',
        find: 'this.#isWithin(clock.wallMs() - this.#asked.wallMs) &&',
        replace: '',
      },
    ],
  },
  {
    name: 'promise-while-writing',
    what: 'An owner promises that nothing is shown while a write waits, again and again.',
    caughtBy: 'promises',
    edits: [{ file: 'src/shard/log/appender.ts', within: 'isWriting', replace: 'return false;' }],
  },
  {
    name: 'promise-to-the-last',
    what: 'An owner forgets what it has promised to one tenant when it promises something to another.',
    caughtBy: 'promises',
    edits: [
      {
        file: 'src/shard/log/quiet-promises.ts',
        within: 'give',
        find: 'this.#untilMs.delete(tenantId);',
        replace: 'this.#untilMs.clear();',
      },
    ],
  },
  {
    name: 'promise-over-an-expiry',
    what: 'An owner promises that nothing is shown although grants may expire meanwhile.',
    caughtBy: 'promise-times',
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        within: 'promiseQuiet',
        find: 'memory.uncollectedMs <= nowMs + ms + QUIET_SLACK_MS',
        replace: 'false',
      },
    ],
  },
  {
    name: 'settled-in-doubt',
    what: 'An owner says where its log ends while the outcome of an append is not known.',
    caughtBy: 'delays',
    from: 5,
    edits: [
      {
        file: 'src/shard/log/appender.ts',
        within: 'settled',
        find: 'this.#running || this.#hasWork || this.#closed',
        replace: 'this.#closed',
      },
    ],
  },
  {
    name: 'tail-with-holes',
    what: 'A successor takes what a plain read has shown it of the log for all of it.',
    caughtBy: 'broad',
    from: 31,
    edits: [
      {
        file: 'src/shard/log/log-tail.ts',
        within: 'restFrom',
        find: 'isWhole && isSameSegment',
        replace: 'isSameSegment',
      },
    ],
  },
  {
    name: 'settled-and-not-compared',
    what: 'The same, and the successor takes an entry behind that end for one that everybody skips.',
    caughtBy: 'delays',
    from: 70,
    edits: [
      {
        file: 'src/shard/log/appender.ts',
        within: 'settled',
        find: 'this.#running || this.#hasWork || this.#closed',
        replace: 'this.#closed',
      },
      {
        file: 'src/shard/log/appender.ts',
        within: 'append',
        find: 'present.epoch === this.#epoch - 1',
        replace: 'false',
      },
    ],
  },
  {
    name: 'promise-given-up',
    what: 'An owner hands a slot over although promises of it stand.',
    caughtBy: 'promise-ends',
    from: 16,
    edits: [
      {
        file: 'src/shard/ownership/ownership.ts',
        within: 'giveUp',
        find: 'await promises.of(slot).over();',
        replace: '',
      },
    ],
  },
  {
    name: 'promise-beyond-the-lease',
    what: 'An owner promises for longer than its lease lasts.',
    caughtBy: 'promise-ends',
    edits: [
      { file: 'src/shard/log/tenure.ts', within: 'promiseQuiet', find: ', quietMs, leftMs)', replace: ', quietMs)' },
    ],
  },
  {
    name: 'promise-whatever-the-time',
    what: 'An entry whose time is later than promises rest on is shown although they stand.',
    caughtBy: 'promise-times',
    edits: [
      {
        file: 'src/shard/log/quiet-promises.ts',
        within: 'holdMs',
        find: 'if (timeMs > this.#leadMs + atMs + QUIET_SLACK_MS) return this.#lastMs - atMs;',
        replace: '',
      },
    ],
  },
  {
    name: 'promise-over-the-end-of-a-key',
    what: 'A front uses a promise for a key that may end meanwhile.',
    caughtBy: 'promise-times',
    edits: [
      {
        file: 'src/front/requests/read-positions.ts',
        within: 'serves',
        find: 'keyEndsMs > nowMs + quietMs + QUIET_SLACK_MS &&',
        replace: '',
      },
    ],
  },
  {
    name: 'reader-waited-for',
    what: 'A read waits for a reader that does not answer, and the owner is not asked.',
    caughtBy: 'reader-cut-off',
    edits: [{ file: 'src/front/requests/flights.ts', within: 'askAside', replace: '' }],
  },
  {
    name: 'keys-end-before-the-log-says-so',
    what: 'A key is refused as expired by the clock of its owner alone, so that the next owner may serve it again.',
    caughtBy: 'key-clocks',
    edits: [
      {
        file: 'src/shard/peers/authentication.ts',
        within: 'issue',
        find: 'expiresAtMs <= tenure.slotTime.loggedMs',
        replace: 'true',
      },
    ],
  },
  {
    name: 'commits-counted-late',
    what: 'An owner counts a commit, for the readers that share memory with it, after the acknowledgement.',
    caughtBy: 'threads',
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        within: 'commit',
        find: 'this.#dependencies.commitCounts?.raise(this.slot)',
        replace: 'this.#dependencies.clock.setTimer(() => this.#dependencies.commitCounts?.raise(this.slot), 20)',
      },
    ],
  },
  {
    name: 'revoked-while-queued',
    what: 'A write that waits for its turn is done although its key was revoked before.',
    caughtBy: 'keys',
    from: 4,
    edits: [
      {
        file: 'src/shard/peers/grant-writes.ts',
        within: 'under',
        find: 'handle.dead || draft.revokes(memory.tenantId, keyId) || ',
        replace: '',
      },
    ],
  },
  {
    name: 'handles-outlive-suspension',
    what: 'A tenant that is suspended or deleted keeps the handles of its keys, as it does when its plan changes.',
    caughtBy: 'operators',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        within: 'tellUpdate',
        find: 'state !== before.state',
        replace: 'false',
      },
    ],
  },
  {
    name: 'removal-after-checkpoint',
    what: 'The rows of a deleted tenant are removed before the last of them are written.',
    caughtBy: 'operators',
    edits: [
      {
        file: 'src/shard/log/maintenance.ts',
        within: 'purgeTenant',
        find: 'await tenure.checkpointed();',
        replace: '',
      },
    ],
  },
  {
    name: 'groups-before-the-commit',
    what: 'A page of an object remembers the groups with grants on it, whatever is committed.',
    caughtBy: 'rules',
    edits: [{ file: 'src/shard/memory/grant-page.ts', within: 'set', find: 'this.#marked = undefined', replace: '' }],
  },
  {
    name: 'answers-past-their-commit',
    what: 'An answer under rules stays where a grant to the subject of a tuple that it rests on comes or goes.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/memory/grant-reads.ts',
        within: 'readsChangedBy',
        find: 'tupleRead(subjectHash, objectHash),',
        replace: '',
      },
    ],
  },
  {
    name: 'sets-of-a-mirror-behind',
    what: 'Sets do not say that a mirror needs the commits since their first question.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        within: 'commitGrant',
        find: 'this.#used?.touched?.commit(namespaceOf(object), relation, seq);',
        replace: '',
      },
    ],
  },
  {
    name: 'listing-by-one-operand',
    what: 'A listing takes an `all_of` for its first operand.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/rules/gate-evaluation.ts',
        within: 'operandsOf',
        find: 'goals(gate.all)',
        replace: 'goals(this.#limits.lead === 128 ? gate.all : gate.all.slice(0, 1))',
      },
    ],
  },
  {
    name: 'feed-end-after-applied',
    what: 'A page of the change feed says that it goes up to what was committed while it waited for the state tables.',
    caughtBy: 'feeds',
    from: 3,
    edits: [
      { file: 'src/shard/peers/change-feed.ts', within: 'storedPage', find: 'await tenure.applied();', replace: '' },
      {
        file: 'src/shard/peers/change-feed.ts',
        within: 'storedPage',
        find: 'const end = endOf(tenure);',
        replace: 'await tenure.applied();\n  const end = endOf(tenure);',
      },
    ],
  },
  {
    name: 'feed-revoked-key',
    what: 'A call that waits for changes goes on after the revocation of its key.',
    caughtBy: 'feeds',
    edits: [
      {
        file: 'src/shard/peers/change-feed.ts',
        within: 'readChanges',
        find: 'handles.assertGood(handle);',
        replace: '',
      },
    ],
  },
  {
    name: 'repeat-after-suspension',
    what: 'A front goes on with its writes after its machine was suspended for longer than owners know operations.',
    caughtBy: 'suspended',
    from: 15,
    edits: [{ file: 'src/front/requests/flight-requests.ts', within: 'maySend', replace: 'return true;' }],
  },
  {
    name: 'without-the-cluster-check',
    what: 'Neither end of a stream refuses the other one because it belongs to another cluster.',
    caughtBy: 'foreign-shards',
    edits: [
      {
        file: 'src/rpc/transport/cluster-identity.ts',
        within: 'verdict',
        find: "clusterId === this.#id ? 'same' : 'foreign'",
        replace: "'same'",
      },
      {
        file: 'src/rpc/serving/peer-stream.ts',
        within: 'open',
        find: 'clusterId !== undefined && clusterId !== own',
        replace: 'false',
      },
    ],
  },
  {
    name: 'clocks-not-judged',
    what: 'A shard serves whatever its wall clock says.',
    caughtBy: 'wrong-clocks',
    from: 6,
    edits: [
      { file: 'src/shard/ownership/wall-clock.ts', within: 'right', replace: 'return true;' },
      {
        file: 'src/shard/ownership/wall-clock.ts',
        within: 'wallMs',
        find: 'Math.min(wallMs, Math.floor(referenceMs + this.#skewMsMax))',
        replace: 'wallMs',
      },
    ],
  },
  {
    name: 'uses-not-told',
    what: 'Readers do not tell the owner which keys were used.',
    caughtBy: 'auto-readers',
    edits: [{ file: 'src/shard/readers/tenant-reader.ts', within: 'usesToTell', replace: 'return [];' }],
  },
  {
    name: 'readers-whatever-the-owner-chooses',
    what: 'Fronts are not told how many readers the owner of a tenant has chosen since they had their handles.',
    caughtBy: 'auto-readers',
    from: 2,
    edits: [{ file: 'src/front/requests/flight-paths.ts', within: 'followReaders', replace: '' }],
  },
];
