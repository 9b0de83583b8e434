// The state of a tenant and the revision of its rules as one text in one column.

import { assert } from './assert.ts';
import type { Tenant } from './tenants.ts';

const FORM = /^(active|suspended|deleting|deleted)(?: rules:([0-9a-f]{32}))?$/;

export const encodeTenantState = ({ state, rulesRevision }: Tenant): string =>
  rulesRevision === undefined ? state : `${state} rules:${rulesRevision}`;

/** Throws if no version of this program could have written this text. */
export function decodeTenantState(text: string): Pick<Tenant, 'state' | 'rulesRevision'> {
  const match = FORM.exec(text);
  assert(match !== null, 'the column state holds a state');
  const state = match[1] as Tenant['state'];
  const rulesRevision = match[2];
  return rulesRevision === undefined ? { state } : { state, rulesRevision };
}
