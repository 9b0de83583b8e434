// The members of the cluster, as one shard reads them from the store.

import type { ClusterMember } from '../../shard/shard.ts';
import type { Member__Output } from '../gen/grantd/v1/Member.ts';
import { defineCall } from './define-call.ts';
import { stateReader } from './parts/answer-fields.ts';

const stateFrom = stateReader<ClusterMember['state']>(['alive', 'draining', 'dead'], 'member');

function memberFrom({ incarnation, shardName, address, state, heartbeat, startedAtMs }: Member__Output): ClusterMember {
  return { incarnation, shardName, address, state: stateFrom(state), heartbeat, startedAtMs };
}

export const listMembers = defineCall({
  request: 'listMembers',
  reply: 'members',
  access: 'console',
  write: 'no',
  requestToWire: (_: undefined) => ({ listMembers: {} }),
  requestFromWire: () => undefined,
  serve: ({ connection }) => connection.listMembers(),
  replyToWire: (members) => ({ members: { members: members.map((member) => ({ ...member })) } }),
  replyFromWire: ({ members }) => members.map(memberFrom),
});
