// The filter of the audit log: which entries of a tenant it returns. Each field has to fit exactly, and all of them
// at once. It is applied to rows as they are read, so that it works on any store and on what was written before.

export const AUDIT_ACTIONS = [
  'grant.created',
  'grant.revoked',
  'key.created',
  'key.revoked',
  'namespace.created',
  'tenant.created',
  'tenant.updated',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** An empty or missing field fits everything. */
export interface AuditFilter {
  readonly action?: string | undefined;
  /** A key id, `operator:<name>` or `system`. */
  readonly actor?: string | undefined;
  /** Of grants. */
  readonly subject?: string | undefined;
  /** Of grants. */
  readonly object?: string | undefined;
  readonly requestId?: string | undefined;
}

/** What a filter looks at. `change`: an object as compact JSON, as `JSON.stringify` writes it. */
export interface FilteredEntry {
  readonly actor: string;
  readonly requestId: string;
  readonly change: string;
}

const IN_CHANGE = ['action', 'subject', 'object'] as const;

/** The filter as a list of texts, for a cursor that belongs to it; empty where everything fits. */
export function filterScope({ action, actor, subject, object, requestId }: AuditFilter): readonly string[] {
  const fields = [action, actor, subject, object, requestId].map((field) => field ?? '');
  return fields.every((field) => field === '') ? [] : fields;
}

/** Undefined where everything fits. */
export function auditMatcher(filter: AuditFilter): ((change: FilteredEntry) => boolean) | undefined {
  if (filterScope(filter).length === 0) return undefined;
  const { actor = '', requestId = '' } = filter;
  const wanted = IN_CHANGE.flatMap((name) => {
    const value = filter[name] ?? '';
    return value === '' ? [] : [{ name, value, text: `"${name}":${JSON.stringify(value)}` }];
  });
  return (row) => {
    if (actor !== '' && row.actor !== actor) return false;
    if (requestId !== '' && row.requestId !== requestId) return false;
    if (wanted.length === 0) return true;
    // Most rows are told apart without reading their JSON. A row that has the text may have it inside of another value.
    if (!wanted.every(({ text }) => row.change.includes(text))) return false;
    const change = parsed(row.change);
    return wanted.every(({ name, value }) => change[name] === value);
  };
}

/** Without fields where it is no object: such a change fits no filter that looks into it. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
