// The handles of one tenant that its owner has issued to fronts, by key. A dead handle is refused at its next use.

/** A handle as its owner keeps it. */
export interface HandleState {
  readonly keyId: string;
  /** On its connection. */
  readonly id: number;
  dead: boolean;
  /** Informs the connection that the handle died, so that the connection retains nothing of the tenant. */
  readonly onDead: (id: number) => void;
}

export class IssuedHandles {
  readonly #byKey = new Map<string, Set<HandleState>>();

  add(handle: HandleState): void {
    const handles = this.#byKey.get(handle.keyId);
    if (handles === undefined) this.#byKey.set(handle.keyId, new Set([handle]));
    else handles.add(handle);
  }

  remove(handle: HandleState): void {
    const handles = this.#byKey.get(handle.keyId);
    if (handles?.delete(handle) && handles.size === 0) this.#byKey.delete(handle.keyId);
  }

  /** Kills the handles of one key, or all handles. */
  kill(keyId?: string): void {
    const killed = keyId === undefined ? this.#byKey.values() : [this.#byKey.get(keyId) ?? []];
    for (const handles of killed) {
      for (const handle of handles) {
        handle.dead = true;
        handle.onDead(handle.id);
      }
    }
    if (keyId === undefined) this.#byKey.clear();
    else this.#byKey.delete(keyId);
  }
}
