// The calls of the clients' contract, by operationId, as methods of this client.

import type { Grantd, Listing, Page } from './src/exports.ts';

export type Outcome = Readonly<Record<string, unknown>>;

interface How {
  readonly options: { readonly timeoutMs: number } | undefined;
  readonly page: boolean;
  readonly take: number;
}

type Args = Record<string, unknown>;
type Perform = (args: Args, how: How) => Promise<Outcome>;

async function itemsOf<T>(iteration: AsyncIterable<T>, take: number): Promise<Outcome> {
  const items: T[] = [];
  for await (const item of iteration) {
    items.push(item);
    if (items.length >= take) break;
  }
  return { items };
}

interface ListedMembers {
  readonly feedCursor?: string;
  readonly seq?: number;
  readonly excluded?: readonly string[];
}

async function listed<T, P extends Page<T>>(
  listing: Listing<T, P>,
  { page, take }: How,
  cursor: unknown,
): Promise<Outcome> {
  if (!page) return itemsOf(listing, take);
  const read: P & ListedMembers = await listing.page({
    cursor: as({ cursor }).cursor,
  });
  const { items, feedCursor: feed_cursor, seq, excluded } = read;
  return { page: { items, cursor: read.cursor, feed_cursor, seq, ...(excluded?.length ? { excluded } : {}) } };
}

/** Cases also have ill-typed arguments, so arguments are of any type. */
// biome-ignore lint/suspicious/noExplicitAny: see above
const as = (args: Args): any => args;

const query = ({ cursor: _, ...rest }: Args) => as(rest);

function listingCalls(client: Grantd): Record<string, Perform> {
  return {
    listObjects: (args, how) => listed(client.listObjects(query(args), how.options), how, args.cursor),
    listSubjects: (args, how) => listed(client.listSubjects(query(args), how.options), how, args.cursor),
    listGrants: (args, how) => listed(client.listGrants(query(args), how.options), how, args.cursor),
    snapshotGrants: (args, how) => listed(client.snapshotGrants(query(args), how.options), how, args.cursor),
    listKeys: (args, how) => listed(client.listKeys(query(args), how.options), how, args.cursor),
    listNamespaces: (args, how) => listed(client.listNamespaces(how.options), how, args.cursor),
    searchSubjects: (args, how) => listed(client.searchSubjects(as(args), how.options), how, undefined),
    searchResources: (args, how) => listed(client.searchResources(as(args), how.options), how, undefined),
    searchActions: (args, how) => listed(client.searchActions(as(args), how.options), how, undefined),
    async listChanges({ checkpoints, ...args }, how) {
      const changes = client.changes(as(args), how.options);
      if (!how.page) return itemsOf<unknown>(checkpoints === 'batch' ? changes.withCheckpoints() : changes, how.take);
      return { page: await changes.page() };
    },
  };
}

function ruleCalls(client: Grantd): Record<string, Perform> {
  return {
    async readRules({ text, ...args }, { options }) {
      if (text === true) return { value: await client.readRulesText(as(args), options) };
      const read = await client.readRules(as(args), options);
      return { value: read ?? null };
    },
    listRulesVersions: (args, how) => listed(client.listRulesVersions(how.options), how, args.cursor),
    async readRulesVersion({ text, ...args }, { options }) {
      if (text === true) return { value: await client.readRulesText(as(args), options) };
      return { value: await client.readRulesVersion(as(args), options) };
    },
    async writeRules(args, { options }) {
      const { dry_run: isPreview, ...change } = as(args);
      return { value: await (isPreview ? client.previewRules(change, options) : client.writeRules(change, options)) };
    },
  };
}

export function callsOf(client: Grantd): Record<string, Perform> {
  const value =
    (call: (args: Args, options: How['options']) => Promise<unknown>): Perform =>
    async (args, { options }) => ({ value: await call(args, options) });
  return {
    check: value((args, options) => {
      const { explain, ...request } = as(args);
      return explain ? client.explain(request, options) : client.check(request, options);
    }),
    checkBulk: value((args, options) => client.checkBulk(as(args), options)),
    createGrant: value((args, options) => client.createGrant(as(args), options)),
    revokeGrant: value((args, options) => client.revokeGrant(as(args), options)),
    writeBulk: value((args, options) => client.writeBulk(as(args), options)),
    revokeGrants: value((args, options) => client.revokeGrants(as(args), options)),
    createNamespace: value((args, options) => client.createNamespace(as(args), options)),
    createKey: value((args, options) => client.createKey(as(args), options)),
    revokeKey: value((args, options) => client.revokeKey(as(args), options)),
    evaluate: value((args, options) => client.evaluate(as(args), options)),
    evaluateMany: value((args, options) => client.evaluateMany(as(args), options)),
    readJoin: value((args, options) => client.readJoin(as(args), options)),
    readSets: value((args, options) => client.readSets(as(args), options)),
    readOpenapi: value((_, options) => client.readOpenapi(options)),
    ...listingCalls(client),
    ...ruleCalls(client),
  };
}
