// Mutations: each switches one protection off, by a patch of the source text as it is loaded. `caughtBy` is the focus
// whose faults it protects from; the unmutated code passes under the same focus.

import type { Focus } from './profile.ts';

export interface Edit {
  /** From the root of the project. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutation {
  readonly name: string;
  readonly what: string;
  readonly caughtBy: Focus;
  /** Each within the body of a function, so that it can be switched on and off (`mutation-switch.ts`). */
  readonly edits: readonly Edit[];
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'late-read-lease',
    what: 'A read that waited for the store is answered although its lease or its tenure has ended meanwhile.',
    caughtBy: 'late-responses',
    edits: [
      {
        file: 'src/shard/peers/checks.ts',
        find: 'peer.handles.assertGood(handle);\n  const nowMs = tenure.slotTime.nowMs;',
        replace: 'const nowMs = tenure.slotTime.nowMs;',
      },
      {
        file: 'src/shard/peers/peer.ts',
        find: 'this.handles.assertGood(handle);\n    return answer;',
        replace: 'return answer;',
      },
    ],
  },
  {
    name: 'expiry-by-the-wall-clock',
    what: 'Whether a grant has expired is read from the wall clock alone.',
    caughtBy: 'expiry',
    edits: [
      {
        file: 'src/shard/log/slot-time.ts',
        find: 'return Math.max(timeOfStamp(wallStamp(this.#clock)), this.loggedMs);',
        replace: 'return timeOfStamp(wallStamp(this.#clock));',
      },
      {
        file: 'src/shard/log/slot-time.ts',
        find: 'return hasExpired(facts, this.loggedMs) ? false : undefined;',
        replace: 'return false;',
      },
      {
        file: 'src/shard/log/slot-time.ts',
        find: 'if (!hasExpired(terms, this.#loggedMs)) this.waits = true;',
        replace: '',
      },
    ],
  },
  {
    name: 'expiry-before-the-log',
    what: 'A client is told that a grant has expired before the log, and so the next owner, knows that time.',
    caughtBy: 'expiry',
    edits: [
      {
        file: 'src/shard/log/slot-time.ts',
        find: 'return hasExpired(facts, this.loggedMs) ? false : undefined;',
        replace: 'return false;',
      },
      {
        file: 'src/shard/log/slot-time.ts',
        find: 'if (!hasExpired(terms, this.#loggedMs)) this.waits = true;',
        replace: '',
      },
    ],
  },
  {
    name: 'expiry-told-twice',
    what: 'A grant with several rows that tell its expiries is collected once for each.',
    caughtBy: 'expiry',
    edits: [
      {
        file: 'src/shard/log/grant-collection.ts',
        find: 'const due = withoutRepeats(rows);',
        replace: 'const due = rows;',
      },
    ],
  },
  {
    name: 'rotated-end-forgotten',
    what: 'The state tables lose the nearer end of a key that was rotated, so that the next owner does not know it.',
    caughtBy: 'rotations',
    edits: [
      {
        file: 'src/shard/log-changes.ts',
        find: 'settingRow(setting, origin, position)',
        replace:
          "settingRow(setting.kind === 'key' && change.kind === 'key-rotated' ? { ...setting, key: { ...setting.key, expiresAtMs: change.key.expiresAtMs } } : setting, origin, position)",
      },
    ],
  },
  {
    name: 'rotated-handles-live-on',
    what: 'Handles of a key that is rotated live on, with the end that the key had before.',
    caughtBy: 'rotations',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        find: 'this.#used?.handles.kill(keyId);',
        replace: 'if (revoked) this.#used?.handles.kill(keyId);',
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
        find: 'settingRow(setting, origin, position)',
        replace:
          "settingRow(setting.kind === 'key' && change.kind === 'key-rotated' ? { ...setting, tombstone: false } : setting, origin, position)",
      },
    ],
  },
  {
    name: 'trimming-the-tail',
    what: 'The log is trimmed however young it is, and whatever may still be repeated.',
    caughtBy: 'trimming',
    edits: [
      { file: 'src/shard/log/maintenance.ts', find: ' || next > tenure.windowFrom', replace: '' },
      { file: 'src/shard/log/maintenance.ts', find: ' || !(await isOld(ports, tenure, next - 1))', replace: '' },
    ],
  },
  {
    name: 'trimming-by-wall-clocks',
    what: 'The log is trimmed by wall clocks alone.',
    caughtBy: 'far-clocks',
    edits: [
      { file: 'src/shard/log/maintenance.ts', find: ' || next > tenure.windowFrom', replace: '' },
      {
        file: 'src/shard/log/maintenance.ts',
        find: ' && age.atLeastMs >= Math.min(logRetentionMs, TRIM_AGE_MS_MIN)',
        replace: '',
      },
    ],
  },
  {
    name: 'confirming-death',
    what: 'A member whose row a scan lacks is taken for dead, and is not asked after.',
    caughtBy: 'stale-scans',
    edits: [
      {
        file: 'src/shard/ownership/membership.ts',
        find: "if (this.#rows.get(incarnation)?.state === 'dead') return true;",
        replace: "if (!this.#rows.has(incarnation) || this.#rows.get(incarnation)?.state === 'dead') return true;",
      },
    ],
  },
  {
    name: 'certain-death',
    what: 'A shard that starts declares some of the others dead while they live, wherever they run.',
    caughtBy: 'restarts',
    edits: [
      {
        file: 'src/shard/ownership/predecessors.ts',
        find: '(row) => row.place === place &&',
        replace: '(row) => (row.place === place || row.heartbeat % 2 !== 0) &&',
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
        find: 'const checkpoint = { seq: entry.seq, stamp: checkpointStamp(entry) };',
        replace:
          'const checkpoint = { seq: entry.seq, stamp: this.#ports.clock.wallMs() * 1000 + checkpointStamp(entry) * 0 };',
      },
    ],
  },
  {
    name: 'fence',
    what: 'An append that finds its seq taken by a higher epoch goes on to the next seq.',
    caughtBy: 'broken-clocks',
    edits: [
      {
        file: 'src/shard/log/appender.ts',
        find: 'if (present.epoch >= this.#epoch) {',
        replace: 'if (present.epoch === this.#epoch) {',
      },
    ],
  },
  {
    name: 'open-entry',
    what: 'A new owner serves without an entry of its epoch in the log.',
    caughtBy: 'broken-clocks',
    edits: [
      {
        file: 'src/shard/log/recovery.ts',
        find: 'if (!(await appendOnce(ports, record))) continue;',
        replace: 'if (record.seq > 0) return { slot, epoch, first, lastSeq, nextBase: time.base, openedAtMs };',
      },
    ],
  },
  {
    name: 'lease-check',
    what: 'A shard answers without a valid lease.',
    caughtBy: 'zombies',
    edits: [
      {
        file: 'src/shard/ownership/membership-lease.ts',
        find: 'return nowMs < this.#untilMs && !this.#wallJumped(nowMs);',
        replace: 'return nowMs < Number.POSITIVE_INFINITY && !this.#ended;',
      },
    ],
  },
  {
    name: 'declaring-dead',
    what: 'A member is declared dead before its lease is over.',
    caughtBy: 'zombies',
    edits: [
      {
        file: 'src/shard/ownership/membership.ts',
        find: 'if (silentMs < this.#leaseMs + LEASE_MARGIN_MS + turnMs) continue;',
        replace: 'if (silentMs < 700 + turnMs) continue;',
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
        find: "const incarnation = this.#ids.create('inc');",
        replace: "const incarnation = 'inc_' + shardName;",
      },
    ],
  },
  {
    name: 'read-back',
    what: 'An append that timed out counts as done.',
    caughtBy: 'store',
    edits: [
      {
        file: 'src/shard/log/appender.ts',
        find: 'outcome = await this.#readBack(record);',
        replace: "outcome = { kind: 'appended' };",
      },
    ],
  },
  {
    name: 'operation-ids',
    what: 'The results of operations are forgotten, so that a repeat is done again.',
    caughtBy: 'failover',
    edits: [
      {
        file: 'src/shard/log/idempotency/cache.ts',
        find: 'const outcome = table.find(requestId, index);',
        replace: 'const outcome = table.bytes < 0 ? table.find(requestId, index) : undefined;',
      },
    ],
  },
  {
    name: 'operation-ids-restored',
    what: 'A new owner does not know the operations of the log before the checkpoint.',
    caughtBy: 'broad',
    edits: [
      {
        file: 'src/shard/log/recovery.ts',
        find: 'while (end >= range.windowFrom && !ports.over()) {',
        replace: 'while (end < 0) {',
      },
    ],
  },
  {
    name: 'attempt-expiry',
    what: 'A write is done however late it arrives.',
    caughtBy: 'late-bytes',
    edits: [
      {
        file: 'src/shard/log/appender.ts',
        find: 'if (waiting.expiresAtMs <= nowMs) {',
        replace: 'if (waiting.expiresAtMs <= nowMs - 1e9) {',
      },
    ],
  },
  {
    name: 'page-delta',
    what: 'A page is installed as it was read, without what was committed meanwhile.',
    caughtBy: 'memory',
    edits: [
      {
        file: 'src/shard/memory/grant-pages.ts',
        find: 'if (fits) putOver(page, delta);\n        else page =',
        replace: 'if (!fits) page =',
      },
    ],
  },
  {
    name: 'whole-page-delta',
    what: 'A page that was read to its end in slices is installed without what was committed meanwhile.',
    caughtBy: 'memory',
    edits: [
      {
        file: 'src/shard/memory/grant-pages.ts',
        find: 'putOver(page, delta);\n    budget.remove(sparse);',
        replace: 'budget.remove(sparse);',
      },
    ],
  },
  {
    name: 'watched-tuples',
    what: 'A call is not told what is committed while it waits for others of its tuples.',
    caughtBy: 'memory',
    edits: [
      {
        file: 'src/shard/memory/grant-pages.ts',
        find: 'this.#watched.commit(entity, relation, counterpart, facts);',
        replace: '',
      },
    ],
  },
  {
    name: 'point-read-overlay',
    what: 'A tuple is read from the state tables although a newer change of it is not confirmed there.',
    caughtBy: 'memory',
    edits: [
      {
        file: 'src/shard/memory/grant-pages.ts',
        find: 'tuple.facts = this.#deltas.find(entity, relation, counterpart)?.facts;',
        replace: '',
      },
    ],
  },
  {
    name: 'object-page-commits',
    what: 'Pages of objects are not told what is committed.',
    caughtBy: 'memory',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        find: 'this.objectPages.commit(object, number, subject, facts, seq);',
        replace: '',
      },
    ],
  },
  {
    name: 'object-row-stamps',
    what: 'Rows by object are written in the order in which they arrive, without a stamp.',
    caughtBy: 'store',
    edits: [
      {
        file: 'test/kit/store/store-tables.ts',
        find: 'this.objectGrants.put([write.tenantId, write.object], [write.relation, write.subject], write);',
        replace: `const stamp = (this.objectGrants.written = (this.objectGrants.written ?? 0) + 1);
        this.objectGrants.put([write.tenantId, write.object], [write.relation, write.subject], { ...write, stamp });`,
      },
    ],
  },
  {
    name: 'object-tombstones',
    what: 'A revocation writes its tombstone by subject alone.',
    caughtBy: 'broad',
    edits: [
      {
        file: 'test/kit/store/store-tables.ts',
        find: 'this.objectGrants.put([write.tenantId, write.object], [write.relation, write.subject], write);',
        replace:
          'if (!write.tombstone) this.objectGrants.put([write.tenantId, write.object], [write.relation, write.subject], write);',
      },
    ],
  },
  {
    name: 'tenure-scope',
    what: 'Handles and pages of a tenure go on after it has ended.',
    caughtBy: 'delays',
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        find: 'for (const memory of this.tenants.values()) memory.drop();',
        replace: '',
      },
      {
        file: 'src/shard/log/tenure.ts',
        find: "assertServing(): void {\n    if (this.#state !== 'serving') throw this.#notServing();",
        replace: 'assertServing(): void {',
      },
    ],
  },
  {
    name: 'tombstone-rows',
    what: 'A revocation deletes its row, so that an older write that comes late brings the grant back.',
    caughtBy: 'store',
    edits: [
      {
        file: 'test/kit/store/store-tables.ts',
        find: 'this.grants.put([write.tenantId, write.subject], [write.relation, write.object], write);',
        replace:
          'this.grants.put([write.tenantId, write.subject], [write.relation, write.object], write); if (write.tombstone) this.grants.remove([write.tenantId, write.subject], [write.relation, write.object], write.stamp, (row) => row === write);',
      },
      {
        file: 'test/kit/store/store-tables.ts',
        find: 'if (this.#shadows) this.#removed.set(',
        replace: 'if (this.#shadows === undefined) this.#removed.set(',
      },
    ],
  },
  {
    name: 'void-entries',
    what: 'An entry counts although a higher epoch stands before it.',
    caughtBy: 'displaced',
    edits: [
      {
        file: 'src/shard/log/recovery.ts',
        find: 'const isVoid = record.epoch < highestEpoch;',
        replace: 'const isVoid = false;',
      },
    ],
  },
  {
    name: 'state-behind-its-checkpoint',
    what: 'A new owner replays the log from a later checkpoint than that of the state that it read ahead.',
    caughtBy: 'moves',
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        find: 'if (state !== undefined && state.checkpoint.seq + 1 >= this.#row.first) return state;',
        replace:
          'if (state !== undefined) return { ...state, checkpoint: (await readSlotState(this.#dependencies, this.slot)).checkpoint };',
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
        find: 'await this.#takeIn(ahead?.pages ?? [], slice);\n      const end = await recoverLog(ports, this.#row, checkpoint);',
        replace:
          'const end = await recoverLog(ports, this.#row, checkpoint);\n      await this.#takeIn(ahead?.pages ?? [], slice);',
      },
    ],
  },
  {
    name: 'contiguous-replay',
    what: 'A recovery goes on over a gap in the log.',
    caughtBy: 'lost-records',
    edits: [
      {
        file: 'src/shard/log/recovery.ts',
        find: 'if (record.seq !== seq) {',
        replace: 'seq = record.seq; if (record.seq !== seq) {',
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
        find: 'if (seq <= this.#loadedSeq) return false;',
        replace: '',
      },
    ],
  },
  {
    name: 'count-before-checkpoint',
    what: 'The count that is stored is the first of a batch, so that a checkpoint comes before it.',
    caughtBy: 'broad',
    edits: [
      {
        file: 'src/shard/log/applier.ts',
        find: 'for (const count of pending.counts) counts.set(count.row.tenantId, count);',
        replace:
          'for (const count of pending.counts) if (!counts.has(count.row.tenantId)) counts.set(count.row.tenantId, count);',
      },
    ],
  },
  {
    name: 'release',
    what: 'A shard goes on serving a slot while its handover is in flight.',
    caughtBy: 'moves',
    edits: [
      {
        file: 'src/shard/ownership/ownership.ts',
        find: 'await tenure.release({ limitMs: FLUSH_MS_MAX, flush: successor === undefined });',
        replace:
          'await this.#giveUp({ slot, owner: tenure.owner, epoch: tenure.epoch }, successor).catch(() => {}); await delay(clock, 2000); await tenure.release({ limitMs: FLUSH_MS_MAX, flush: false });',
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
        find: 'if (end === undefined || compareRows(row, end) <= 0) insertRow(rows, row);',
        replace: 'insertRow(rows, row);',
      },
    ],
  },
  {
    name: 'listing-under-delta',
    what: 'A listing answers what it has read of the state tables, without what was committed since.',
    caughtBy: 'listings',
    edits: [
      {
        file: 'src/shard/memory/grant-range.ts',
        find: 'this.delta = pages.openDelta(query.entity);',
        replace: "this.delta = pages.openDelta('user:nobody');",
      },
    ],
  },
  {
    name: 'export-after-commits',
    what: 'An export reads the state tables before they hold what was committed before it was asked for.',
    caughtBy: 'listings',
    edits: [
      {
        file: 'src/shard/peers/enumerations.ts',
        find: 'const position = positionOf(context, scope, query.cursor);\n  await tenure.applied();',
        replace: 'const position = positionOf(context, scope, query.cursor);',
      },
    ],
  },
  {
    name: 'serving-while-replayed',
    what: 'A slot is served while its log is still being replayed.',
    caughtBy: 'failover',
    edits: [
      {
        file: 'src/shard/log/tenure.ts',
        find: "return this.#state === 'serving';",
        replace: "return this.#state === 'serving' || this.#state === 'opening';",
      },
      {
        file: 'src/shard/log/tenure.ts',
        find: "assertServing(): void {\n    if (this.#state !== 'serving') throw",
        replace: 'assertServing(): void {\n    if (!this.serving) throw',
      },
    ],
  },
  {
    name: 'unknown-after-undecided',
    what: 'A write that an owner could not tell the outcome of is said to have been refused, where the next try is.',
    caughtBy: 'keys',
    edits: [
      {
        file: 'src/front/requests/flights.ts',
        find: 'if (sent && MAY_HAVE_COMMITTED.has(failure.kind)) this.#unknownTry = true;',
        replace:
          "if (sent && failure.kind !== 'undecided' && MAY_HAVE_COMMITTED.has(failure.kind)) this.#unknownTry = true;",
      },
    ],
  },
  {
    name: 'unknown-after-disconnect',
    what: 'A write whose connection was lost is said to have been refused, where the next try is.',
    caughtBy: 'keys',
    edits: [
      {
        file: 'src/front/requests/flights.ts',
        find: 'if (sent && MAY_HAVE_COMMITTED.has(failure.kind)) this.#unknownTry = true;',
        replace:
          "if (sent && failure.kind !== 'disconnected' && MAY_HAVE_COMMITTED.has(failure.kind)) this.#unknownTry = true;",
      },
    ],
  },
  {
    name: 'unknown-at-the-door',
    what: 'A write that may stand is said to have been refused, where its key is revoked or its tenant suspended by its next try.',
    caughtBy: 'keys',
    edits: [
      {
        file: 'src/front/requests/flights.ts',
        find: '(error.retryable || REFUSED_AT_THE_DOOR.has(error.code))',
        replace: 'error.retryable',
      },
    ],
  },
  {
    name: 'repeat-as-another',
    what: 'A front sends the second try of a write as another operation than the first.',
    caughtBy: 'failover',
    edits: [
      {
        file: 'src/front/links/shard-link.ts',
        find: '{ requestId: write.requestId, expiresAtMs:',
        replace: '{ requestId: write.requestId + id, expiresAtMs:',
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
        find: 'write.deadlineMs + clockOffsetMs',
        replace: 'write.deadlineMs + clockOffsetMs + 3_600_000',
      },
    ],
  },
  {
    name: 'repeat-after-suspension',
    what: 'A front goes on with its writes after its machine was suspended for longer than owners know operations.',
    caughtBy: 'suspended',
    edits: [
      {
        file: 'src/front/requests/flight-requests.ts',
        find: 'return wallOffsetMs - this.#wallOffsetMs <= SUSPENSION_MS_MAX;',
        replace: 'return true;',
      },
    ],
  },
  {
    name: 'revoked-while-queued',
    what: 'A write that waits for its turn is done although its key was revoked before.',
    caughtBy: 'keys',
    edits: [
      {
        file: 'src/shard/peers/grant-writes.ts',
        find: "if (handle.dead || draft.revokes(memory.tenantId, keyId) || draft.tenant(memory).state === 'suspended') {",
        replace: "if (draft.tenant(memory).state === 'suspended') {",
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
        find: 'await tenure.checkpointed();',
        replace: '',
      },
    ],
  },
  {
    name: 'removal-to-the-end',
    what: 'A tenant counts as removed when the first part of its rows is.',
    caughtBy: 'operators',
    edits: [
      {
        file: 'src/shard/log/maintenance.ts',
        find: 'if (!tenure.serving || clock.monotonicMs() >= untilMs) return;\n    await yieldTurn(clock);',
        replace: 'break;',
      },
    ],
  },
  {
    name: 'bulk-finds-expired',
    what: 'A bulk write takes a grant that has expired, and is not collected, for one that exists.',
    caughtBy: 'expiry',
    edits: [
      {
        file: 'src/shard/log/bulk-decision.ts',
        find: 'const found = asOf(draft, request, draft.grant(memory, tuple, request));',
        replace: 'const found = { present: draft.grant(memory, tuple, request), expired: [] };',
      },
    ],
  },
  {
    name: 'filter-revokes-expired',
    what: 'A revocation by a filter counts grants that have expired as revoked.',
    caughtBy: 'expiry',
    edits: [
      {
        file: 'src/shard/log/revocation-decision.ts',
        find: 'if (hasExpired(row, nowMs)) expired',
        replace: 'if (nowMs < 0) expired',
      },
    ],
  },
  {
    name: 'bulk-in-two-entries',
    what: 'The revocations of a bulk write are an operation of their own, after its grants.',
    caughtBy: 'transactions',
    edits: [
      {
        file: 'src/shard/peers/grant-writes.ts',
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
    name: 'condition-after-the-changes',
    what: 'A condition on a tuple that the bulk write itself changes means the state after the write.',
    caughtBy: 'transactions',
    edits: [
      {
        file: 'src/shard/log/bulk-decision.ts',
        find: 'const unmet = write.preconditions.findIndex(({ exists }, index) => exists !== (present[index] !== null));',
        replace: `const textOf = ({ subject, relation, object }) => [subject, relation, object].join(' ');
    const own = new Map(write.grants.map((tuple) => [textOf(tuple), true]));
    for (const tuple of write.revocations) own.set(textOf(tuple), false);
    const unmet = write.preconditions.findIndex(
      (condition, index) => condition.exists !== (own.get(textOf(condition)) ?? present[index] !== null),
    );`,
      },
    ],
  },
  {
    name: 'revoking-what-was-read',
    what: 'A revocation by a filter takes what matched when it was read, not when it is decided.',
    caughtBy: 'transactions',
    edits: [
      {
        file: 'src/shard/memory/grant-range.ts',
        find: 'return rowsUnder(this.pages.relations, this.#rows, this.delta.changes(drafted), this.query, this.end);',
        replace:
          'this.kept ??= rowsUnder(this.pages.relations, this.#rows, this.delta.changes(drafted), this.query, this.end);\n    return this.kept;',
      },
    ],
  },
  {
    name: 'revoking-without-the-draft',
    what: 'A revocation by a filter does not know what was decided before it in the same entry.',
    caughtBy: 'transactions',
    edits: [
      {
        file: 'src/shard/log/revocation-decision.ts',
        find: 'const matching = range.current(draftedOf(draft, memory, of));',
        replace: 'const matching = range.current();',
      },
    ],
  },
  {
    name: 'swept-range',
    what: 'A new grant leaves it standing that nothing is left where a revocation by a filter has been.',
    caughtBy: 'transactions',
    edits: [
      {
        file: 'src/shard/memory/grant-pages.ts',
        find: 'if (facts !== null) this.#swept?.delete(entity);',
        replace: '',
      },
    ],
  },
  {
    name: 'pages-of-two-moments',
    what: 'An evaluation keeps the grants that it has looked at while it loads others.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/evaluation/page-graph.ts',
        find: "return this.#subjects.mayHave(subject) ? this.#counterparts(keeps, 'subject', subject, relations) : NOTHING;",
        replace: `const key = [subject, relations].join(' ');
    const kept = (this.kept ??= new Map());
    if (!kept.has(key)) {
      const found = this.#counterparts(keeps, 'subject', subject, relations);
      if (!Array.isArray(found)) return found;
      kept.set(key, found.map(({ relation, texts }) => ({ relation, texts: [...texts] })));
    }
    return kept.get(key);`,
      },
    ],
  },
  {
    name: 'filter-without-commits',
    what: 'A subject that gets a grant is not added to the filter of subjects.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        find: 'if (facts !== null) (this.#isNew ? this.subjects : this.#used?.subjects)?.add(subject);',
        replace: '',
      },
    ],
  },
  {
    name: 'filter-before-applied',
    what: 'The subjects for the filter are read before the state tables contain every commit.',
    caughtBy: 'rules',
    edits: [{ file: 'src/shard/memory/subject-filter.ts', find: 'await applied();\n', replace: '' }],
  },
  {
    name: 'former-rules',
    what: 'The rules in memory stay what they were when others are committed.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/memory/tenant-rules.ts',
        find: 'this.#table.commit(ROW, prepared ?? this.#store(text), seq);',
        replace: 'this.#table.commit(ROW, this.loaded ?? prepared ?? this.#store(text), seq);',
      },
    ],
  },
  {
    name: 'removing-a-granted-relation',
    what: 'Rules that no longer declare a relation are written although it has grants, which survive it.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/log/write-decisions.ts',
        find: "const relations = counted('relation', removed);",
        replace: "const relations = counted('relation', removed.slice(removed.length));",
      },
    ],
  },
  {
    name: 'answers-before-the-commit',
    what: 'Answers under rules stay when a grant is committed.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        find: 'this.objectPages.commit(object, number, subject, facts, seq);\n    this.#used?.answers?.clear();',
        replace: 'this.objectPages.commit(object, number, subject, facts, seq);',
      },
    ],
  },
  {
    name: 'answers-whatever-the-time',
    what: 'Answers under rules are kept that rest on a grant that expires.',
    caughtBy: 'expiry',
    edits: [
      {
        file: 'src/shard/log/slot-time.ts',
        find: 'if (isContingent(terms)) this.depends = true;',
        replace: '',
      },
    ],
  },
  {
    name: 'answers-of-former-rules',
    what: 'Answers under rules stay when other rules are committed.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        find: 'this.rules.commit(setting.rules, seq);\n        this.#used?.answers?.clear();',
        replace: 'this.rules.commit(setting.rules, seq);',
      },
    ],
  },
  {
    name: 'bound-as-denial',
    what: 'A check that exceeds a bound is denied.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/rules/check-evaluation.ts',
        find: "const bound = this.#tooLong ? 'depthMax' : this.#wanted.cost.exceeded;",
        replace:
          "const bound = this.#tooLong ? 'depthMax' : this.#wanted.cost.exceeded;\n    if (bound !== '') return { kind: 'decided', authorized: false };",
      },
    ],
  },
  {
    name: 'listing-to-the-bound',
    what: 'A listing that exceeds a bound ends there.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/evaluation/evaluate-listings.ts',
        find: "if (cost.exceeded !== undefined) return beyond(limits, cost.exceeded);\n  if (cost.misses) return 'missing';\n  const takeStep",
        replace: "if (cost.misses) return 'missing';\n  const takeStep",
      },
      {
        file: 'src/shard/evaluation/evaluate-listings.ts',
        find: "if (cost.exceeded !== undefined) return beyond(limits, cost.exceeded);\n    if (cost.misses) return 'missing';\n    const { gates }",
        replace: "if (cost.misses) return 'missing';\n    const { gates }",
      },
    ],
  },
  {
    name: 'groups-before-the-commit',
    what: 'A page of an object remembers the groups with grants on it, whatever is committed.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/memory/grant-page.ts',
        find: 'if (this.#marked !== undefined && counterpart.includes(GROUP_MARK)) this.#marked = undefined;',
        replace: '',
      },
    ],
  },
  {
    name: 'search-of-two-runs',
    what: 'What a run has found for a subject serves the next one, after a load.',
    caughtBy: 'rules',
    edits: [
      {
        file: 'src/shard/evaluation/evaluate-checks.ts',
        find: 'graph.startRun();\n    terms.conditions?.startRun(rules);',
        replace:
          'graph.startRun();\n    terms.conditions?.startRun(rules);\n    this.#granted = graph.granted ??= new Map();',
      },
      // The workload is small: otherwise there is no search from a subject.
      { file: 'src/shard/evaluation/evaluate-checks.ts', find: 'lead: LEAD,', replace: 'lead: 0,' },
    ],
  },
  {
    name: 'feed-end-after-applied',
    what: 'A page of the change feed says that it goes up to what was committed while it waited for the state tables.',
    caughtBy: 'feeds',
    edits: [
      {
        file: 'src/shard/peers/change-feed.ts',
        find: 'const end = endOf(tenure);\n  if (from.seq >= end.seq) return filling.page(end);\n  await tenure.applied();',
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
        find: 'handles.assertGood(handle);\n    const isLast',
        replace: 'const isLast',
      },
      {
        file: 'src/shard/peers/change-feed.ts',
        find: 'handles.assertGood(handle);\n  }',
        replace: '}',
      },
    ],
  },
  {
    name: 'feed-cursor-over-a-switch',
    what: 'The cursor after the stored part of a feed skips what was committed while that part was read.',
    caughtBy: 'feeds',
    edits: [
      {
        file: 'src/shard/peers/change-feed.ts',
        find: 'after = last;\n  }\n  return filling.page(end);',
        replace: 'after = last;\n  }\n  return filling.page(endOf(tenure));',
      },
    ],
  },
  {
    name: 'feed-tail-from-anywhere',
    what: 'A follower goes on from pages to the tail over what was committed between the two.',
    caughtBy: 'feeds',
    edits: [
      {
        file: 'src/front/feeds/tail.ts',
        find: 'return start !== undefined && !isAfter(start, place);',
        replace: 'return start !== undefined;',
      },
    ],
  },
  {
    name: 'grant-whatever-its-condition',
    what: 'A grant of the asked relation allows a single check even if its condition is not met.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/shard/evaluation/evaluate-checks.ts',
        find: 'return conditions.meets(terms);',
        replace: 'return true;',
      },
    ],
  },
  {
    name: 'goals-over-a-commit',
    what: 'What gates have decided for a subject decides its later checks, whatever is committed.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/shard/evaluation/evaluate-checks.ts',
        find: 'this.#evaluations.push(evaluation);',
        replace: `if (gated && !explain && this.#terms.contextGrants === undefined) {
      const tables = (rules.goals ??= new Map());
      const key = [subject, this.#contextOf(index)].join(' ');
      evaluation.decided = tables.get(key) ?? new Map();
      tables.set(key, evaluation.decided);
    }
    this.#evaluations.push(evaluation);`,
      },
      {
        file: 'src/rules/gate-evaluation.ts',
        find: 'let goal = this.#goals.get(key);',
        replace: 'let goal = this.#goals.get(key) ?? this.decided?.get(key);',
      },
      {
        file: 'src/rules/gate-evaluation.ts',
        find: 'goal.value = value;',
        replace:
          "goal.value = value;\n    if (value !== undefined) this.decided?.set(goal.number + ' ' + goal.object, goal);",
      },
    ],
  },
  {
    name: 'condition-for-another-context',
    what: 'The value of a condition in one call is its value in the next one, whose context is another one.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/shard/evaluation/grant-conditions.ts',
        find: 'const result = evaluateCondition(compiled, storedIn(condition), request, within);',
        replace: `const kept = (this.#rules.kept ??= new Map());
    const result = kept.get(condition) ?? evaluateCondition(compiled, storedIn(condition), request, within);
    kept.set(condition, result);`,
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
        find: 'all: goals(gate.all), none',
        // The limits of checks have another lead than those of listings.
        replace: 'all: goals(this.#limits.lead === 128 ? gate.all : gate.all.slice(0, 1)), none',
      },
    ],
  },
  {
    name: 'negation-of-two-moments',
    what: 'What a `but_not` has found in one round decides it in the next one, after a load.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/shard/evaluation/evaluate-checks.ts',
        find: 'this.#evaluations.push(evaluation);',
        replace: `if (gated) {
      const tables = (this.#graph.negations ??= new Map());
      const key = [subject, this.#contextOf(index)].join(' ');
      evaluation.negations = tables.get(key) ?? new Map();
      tables.set(key, evaluation.negations);
    }
    this.#evaluations.push(evaluation);`,
      },
      {
        file: 'src/rules/gate-evaluation.ts',
        find: 'for (const goal of none) {\n      const holds = yield* this.#decide(goal);',
        replace: `for (const goal of none) {
      const key = goal.number + ' ' + goal.object;
      const holds = this.negations?.get(key) ?? (yield* this.#decide(goal));
      if (holds !== undefined) this.negations?.set(key, holds);`,
      },
    ],
  },
  {
    name: 'context-grant-for-all',
    what: 'An answer that rests on a grant that its call brought along is kept for other calls.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/shard/evaluation/evaluate-checks.ts',
        find: 'this.#answers = changesGrants(checks) ? undefined : answers;',
        replace: 'this.#answers = answers;',
      },
    ],
  },
  {
    name: 'listing-without-exclusion',
    what: 'A listing forgets `but_not`.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/rules/gate-evaluation.ts',
        find: 'none: goals(gate.none), perhaps',
        replace: 'none: this.#limits.lead === 128 ? goals(gate.none) : [], perhaps',
      },
    ],
  },
  {
    name: 'removing-a-carried-condition',
    what: 'Rules that no longer declare a condition are written although grants carry it.',
    caughtBy: 'gates',
    edits: [
      {
        file: 'src/shard/log/write-decisions.ts',
        find: "const conditions = counted('condition', narrowedConditions(former, next));",
        replace: "const conditions = counted('condition', narrowedConditions(former, former));",
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
        find: 'if (this.#isAsking) return;',
        replace: 'resolve();\n      if (this.#isAsking) return;',
      },
    ],
  },
  {
    name: 'reader-index-before-the-call',
    what: 'A reader answers by an index that it had asked for before the call came.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: 'for (const { resolve } of waiting) resolve();',
        replace: 'for (const { resolve } of [...waiting, ...this.#waiting.splice(0)]) resolve();',
      },
    ],
  },
  {
    name: 'reader-behind-its-position',
    what: 'A reader answers although it lacks a commit before the position of the call.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: ' || position.seq > this.#seq',
        replace: '',
      },
    ],
  },
  {
    name: 'reader-position-before-the-call',
    what: 'A front takes a position for a call that came after the question had left.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/front/requests/read-positions.ts',
        find: 'this.#turns.atEnd(() => this.#left(flights));',
        replace: '',
      },
    ],
  },
  {
    name: 'busy-position-before-the-call',
    what: 'Flights of a busy tenant take the position that the question before them brings.',
    caughtBy: 'busy',
    edits: [
      {
        file: 'src/front/requests/read-positions.ts',
        find: 'if (this.#waiting.length > 0) this.#askSoon(route, clock, clock.monotonicMs());',
        replace: 'flights.push(...this.#waiting.splice(0));',
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
        find: 'new RecentCommits(budget, clock, seq, readerLimits)',
        replace: 'new RecentCommits(budget, clock, 0, readerLimits)',
      },
    ],
  },
  {
    name: 'commits-dropped-without-a-gap',
    what: 'Commits that are dropped beyond the bound leave no gap for the readers that lack them.',
    caughtBy: 'busy',
    edits: [
      {
        file: 'src/shard/memory/recent-items.ts',
        find: 'this.#afterSeq = seq;\n    this.#budget.resize(this, this.bytes - bytes);',
        replace: 'this.#budget.resize(this, this.bytes - bytes);',
      },
    ],
  },
  {
    name: 'commits-applied-again',
    what: 'A reader applies the commits again that two answers have.',
    caughtBy: 'busy',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: 'if (commit.seq <= this.#seq) continue;',
        replace: '',
      },
    ],
  },
  {
    name: 'reader-beginning-without-commits',
    what: 'A reader begins with a record of the tenant that is older than its position.',
    caughtBy: 'busy',
    edits: [
      {
        file: 'src/shard/readers/follow-tenant.ts',
        find: 'return { epoch: tenure.epoch, seq, nextBase,',
        replace: 'return { epoch: tenure.epoch, seq: tenure.lastSeq, nextBase,',
      },
    ],
  },
  {
    name: 'reader-keys-by-its-own-clock',
    what: 'A key ends at a reader by the wall clock of that reader, and no front knows its end.',
    caughtBy: 'key-clocks',
    edits: [
      {
        file: 'src/front/requests/session.ts',
        find: 'return this.#dependencies.clock.monotonicMs() >= this.#expiresAtMs;',
        replace: 'return false;',
      },
      {
        file: 'src/shard/peers/handles.ts',
        find: 'if (keyHasEnded(expiresAtMs, tenure.slotTime)) throw unauthorized();',
        replace: 'if (expiresAtMs !== undefined && expiresAtMs <= this.#clock.wallMs()) throw unauthorized();',
      },
    ],
  },
  {
    name: 'clocks-not-judged',
    what: 'A shard serves whatever its wall clock says.',
    caughtBy: 'wrong-clocks',
    edits: [
      {
        file: 'src/shard/ownership/wall-clock.ts',
        find: 'return this.#judged && this.agrees;',
        replace: 'return true;',
      },
      {
        file: 'src/shard/ownership/wall-clock.ts',
        find: 'return Math.min(wallMs, Math.floor(referenceMs + this.#skewMsMax));',
        replace: 'return wallMs + referenceMs * 0;',
      },
    ],
  },
  {
    name: 'keys-end-before-the-log-says-so',
    what: 'A key is refused as expired by the clock of its owner alone, so that the next owner may serve it again.',
    caughtBy: 'key-clocks',
    edits: [
      {
        file: 'src/shard/peers/authentication.ts',
        find: 'if (expiresAtMs <= tenure.slotTime.loggedMs) throw unauthorized();',
        replace: 'throw unauthorized();',
      },
    ],
  },
  {
    name: 'readers-whatever-the-owner-chooses',
    what: 'Fronts are not told how many readers the owner of a tenant has chosen since they had their handles.',
    caughtBy: 'auto-readers',
    edits: [
      {
        file: 'src/front/requests/flight-paths.ts',
        find: 'readers.follow(position?.readers);',
        replace: '',
      },
    ],
  },
  {
    name: 'uses-not-told',
    what: 'Readers do not tell the owner which keys were used.',
    caughtBy: 'auto-readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: 'if (!this.#tellsUses) return [];',
        replace: 'if (this.#tellsUses || !this.#tellsUses) return [];',
      },
    ],
  },
  {
    name: 'handles-not-renewed',
    what: 'Fronts that know of no reader of a tenant do not hear that its owner has chosen some.',
    caughtBy: 'auto-readers',
    edits: [
      {
        file: 'src/shard/memory/tenant-memory.ts',
        find: 'renewHandles(): void {\n    this.#used?.handles.kill();',
        replace: 'renewHandles(): void {',
      },
    ],
  },
  {
    name: 'reader-waited-for',
    what: 'A read waits for a reader that does not answer, and the owner is not asked.',
    caughtBy: 'reader-cut-off',
    edits: [
      {
        file: 'src/front/requests/flights.ts',
        find: 'if (this.#sweeps <= this.request.sweepsAtReader) return;',
        replace: 'if (this.#sweeps > 0) return;',
      },
    ],
  },
  {
    name: 'reader-outlives-its-owner',
    what: 'A reader goes on, and answers, when the shard that it asks no longer owns the slot.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: 'this.end(endedBy(error), waiting.length);',
        replace:
          "if (error.kind === 'wrong-owner') {\n        this.#isAsking = false;\n        for (const { resolve } of waiting) resolve();\n        return;\n      }\n      this.end(endedBy(error), waiting.length);",
      },
    ],
  },
  {
    name: 'reader-index-without-a-lease',
    what: 'An owner tells readers how far its log is although its lease has ended.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/shard-node.ts',
        find: 'tenure.assertServing();\n      return tenure;',
        replace: 'return tenure;',
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
        find: 'if (commit.seq <= this.#seq) continue;',
        replace: 'if (commit.seq <= this.#seq || commit.seq % 7 === 0) continue;',
      },
    ],
  },
  {
    name: 'reader-page-behind',
    what: 'A reader forgets commits that the state tables do not have yet.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: 'memory.confirm(appliedSeq);',
        replace: 'memory.confirm(seq);',
      },
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: 'if (appliedSeq <= this.#appliedSeq) return;',
        replace: '',
      },
    ],
  },
  {
    name: 'reader-beginning-before-the-state',
    what: 'A reader begins at a position that the state tables do not have yet.',
    caughtBy: 'readers',
    edits: [
      {
        file: 'src/shard/readers/follow-tenant.ts',
        find: 'await tenure.applied();',
        replace: '',
      },
    ],
  },
  {
    name: 'commits-counted-after-the-answer',
    what: 'A reader that shares memory with its owner notes the count of commits when the answer comes.',
    caughtBy: 'threads',
    edits: [
      {
        file: 'src/shard/readers/tenant-reader.ts',
        find: 'this.#notedCount = count;',
        replace: 'this.#notedCount = commitCounts?.read(slot);',
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
        find: 'this.#dependencies.commitCounts?.raise(this.slot);\n    const counted',
        replace:
          'this.#dependencies.clock.setTimer(() => this.#dependencies.commitCounts?.raise(this.slot), 20);\n    const counted',
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
        find: 'memory.commit(change, commit.seq);',
        replace: "if (change.kind !== 'key-revoked') memory.commit(change, commit.seq);",
      },
    ],
  },
  {
    name: 'without-the-cluster-check',
    what: 'Neither end of a stream refuses the other one because it belongs to another cluster.',
    caughtBy: 'foreign-shards',
    edits: [
      {
        file: 'src/rpc/transport/cluster-identity.ts',
        find: "return clusterId === this.#id ? 'same' : 'foreign';",
        replace: "return 'same';",
      },
      {
        file: 'src/rpc/serving/peer-stream.ts',
        find: 'if (clusterId !== undefined && clusterId !== own) {',
        replace: 'if (clusterId === own && clusterId !== own) {',
      },
    ],
  },
];
