// Scopes of an API key: a mask of three bits. No scope implies another.

export const SCOPES = Object.freeze(['check:read', 'grant:write', 'admin'] as const);

export type Scope = (typeof SCOPES)[number];

/** Bit n represents `SCOPES[n]`. */
export type ScopeMask = number;

export const ALL_SCOPES: ScopeMask = (1 << SCOPES.length) - 1;

export function scopeMask(scopes: readonly Scope[]): ScopeMask {
  let mask = 0;
  for (const scope of scopes) mask |= 1 << SCOPES.indexOf(scope);
  return mask;
}

/** In the order of `SCOPES`. */
export function scopesOf(mask: ScopeMask): Scope[] {
  return SCOPES.filter((_, index) => (mask & (1 << index)) !== 0);
}

export function hasScope(mask: ScopeMask, scope: Scope): boolean {
  return (mask & (1 << SCOPES.indexOf(scope))) !== 0;
}
