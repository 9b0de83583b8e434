// The calls about the namespaces of a tenant.

import { assert } from '../../core/assert.ts';
import { decideNamespace } from '../log/write-decisions.ts';
import { under } from './grant-writes.ts';
import { type Handler, type ReadHandler, sizeOf } from './peer.ts';
import { readRules } from './rules.ts';

export const listNamespaces: ReadHandler<'listNamespaces'> = async (_, { memory }) => {
  using _namespaces = await memory.namespaces.pin();
  const names = [...memory.namespaces.rows].map(([name, { createdAtMs }]) => ({ name, createdAtMs }));
  return names.sort((left, right) => (left.name < right.name ? -1 : 1));
};

export const unknownNamespaces: ReadHandler<'unknownNamespaces'> = async (context, { memory }, namespaces) => {
  using _namespaces = await memory.namespaces.pin();
  const unused = namespaces.filter((name) => !memory.namespaces.rows.has(name));
  if (unused.length === 0) return unused;
  const { rules, types, public: everyone } = await readRules(context, { memory });
  const named = [...rules, ...types, ...types.flatMap(({ subjects }) => subjects)];
  const known = new Set([...everyone, ...named.map(({ namespace }) => namespace)]);
  return unused.filter((name) => !known.has(name));
};

export const createNamespace: Handler<'createNamespace'> = async (peer, by, name) => {
  const handle = peer.handles.use(by.handle);
  const { memory } = handle;
  using _namespaces = await memory.namespaces.pin();
  peer.handles.assertGood(handle);
  const decide = under(handle, decideNamespace(peer.shard, memory, name));
  const result = await peer.submit(handle, by.attempt, sizeOf(name.length), decide);
  assert(result.kind === 'namespace', 'a namespace operation has a namespace result');
  return { created: result.created, namespace: result.namespace };
};
