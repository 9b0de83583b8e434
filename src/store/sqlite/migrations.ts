// The schema's history: numbered steps. New ones are appended; a released one is never edited. The tables are clustered
// like those of the Cassandra adapter: rows are stored in the order of their primary key, so a subject's grants and a
// tenant's audit log are each one contiguous range. Text is compared by its bytes (BINARY, UTF-8). Only tables whose
// rows may be longer than a page, the log among them, have row ids: a search in a clustered table reads the whole of
// each row that it compares with, so the lookup of one slot would read the entries of another.

export interface Migration {
  /** 1 and up, without gaps. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: 'the schema of 0.2.0',
    sql: `
CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  cluster_id TEXT NOT NULL,
  slots INTEGER NOT NULL,
  segment_size INTEGER NOT NULL,
  lease_ms INTEGER NOT NULL,
  deadline_ms INTEGER NOT NULL,
  log_format INTEGER NOT NULL,
  cursor_secrets TEXT NOT NULL
) STRICT;

CREATE TABLE database_identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  database_id TEXT NOT NULL
) STRICT;

CREATE TABLE accepted_losses (
  at_ms INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;

CREATE TABLE log (
  slot INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  entry_id TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (slot, segment, seq)
) STRICT;

CREATE TABLE slots (
  slot INTEGER NOT NULL PRIMARY KEY,
  owner TEXT,
  epoch INTEGER NOT NULL,
  opened INTEGER,
  first INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  incarnation TEXT NOT NULL PRIMARY KEY,
  shard_name TEXT NOT NULL,
  address TEXT NOT NULL,
  state TEXT NOT NULL,
  beat INTEGER NOT NULL,
  started_at_ms INTEGER NOT NULL,
  healthy_beat INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  place TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
  slot INTEGER NOT NULL PRIMARY KEY,
  seq INTEGER NOT NULL,
  window_from INTEGER NOT NULL,
  stamp INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
  tenant TEXT NOT NULL,
  subject TEXT NOT NULL,
  relation TEXT NOT NULL,
  object TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  condition TEXT,
  gone INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, subject, relation, object)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants_by_object (
  tenant TEXT NOT NULL,
  object TEXT NOT NULL,
  relation TEXT NOT NULL,
  subject TEXT NOT NULL,
  grant_id TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  condition TEXT,
  gone INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, object, relation, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE grants_by_expiry (
  tenant TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  expires_at_ms INTEGER NOT NULL,
  subject TEXT NOT NULL,
  relation TEXT NOT NULL,
  object TEXT NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, bucket, expires_at_ms, subject, relation, object)
) STRICT, WITHOUT ROWID;

CREATE TABLE grant_counts (
  slot INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  seq INTEGER NOT NULL,
  grants INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  by_key TEXT,
  collected_to_ms INTEGER,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (slot, tenant)
) STRICT, WITHOUT ROWID;

CREATE TABLE subjects (
  tenant TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  subject TEXT NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, bucket, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE namespaces (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenant_rules (
  tenant TEXT NOT NULL,
  place INTEGER NOT NULL,
  version INTEGER NOT NULL,
  revision TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  request_id TEXT NOT NULL,
  added INTEGER NOT NULL,
  removed INTEGER NOT NULL,
  rules TEXT NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, place)
) STRICT;

CREATE TABLE keys (
  tenant TEXT NOT NULL,
  key_id TEXT NOT NULL,
  name TEXT NOT NULL,
  scopes INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  hash TEXT NOT NULL,
  gone INTEGER NOT NULL,
  rotated_from TEXT,
  rotated_to TEXT,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE key_uses (
  tenant TEXT NOT NULL,
  key_id TEXT NOT NULL,
  used_at_ms INTEGER NOT NULL,
  PRIMARY KEY (tenant, key_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
  tenant TEXT NOT NULL,
  place INTEGER NOT NULL,
  counts TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (tenant, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
  slot INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  readers INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (slot, tenant)
) STRICT, WITHOUT ROWID;

CREATE TABLE changes (
  tenant TEXT NOT NULL,
  month TEXT NOT NULL,
  seq INTEGER NOT NULL,
  position INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  request_id TEXT NOT NULL,
  change TEXT NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (tenant, month, seq, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE hot_pages (
  slot INTEGER NOT NULL,
  pages TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (slot)
) STRICT;
`,
  },
];
