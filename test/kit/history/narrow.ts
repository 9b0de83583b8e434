// A step on several registers, as far as one of them is concerned. It may allow more than the whole step does, but
// never less: a register that is out of order alone is out of order.

import type { Effect, Step } from './linearizer.ts';

export function narrow<Each extends Step>(step: Each, cell: number): Each[] {
  const effects = [...narrowed(step.effect, cell)];
  return effects.map((effect) => {
    // It may happen at any later moment, or never.
    const isOpen = effect.kind === 'remove' && step.effect.kind === 'clear';
    return { ...step, effect, returnedAt: isOpen ? undefined : step.returnedAt };
  });
}

function* narrowed(effect: Effect, cell: number): Generator<Effect> {
  switch (effect.kind) {
    case 'read':
      yield { ...effect, needs: effect.needs.filter((need) => need.cell === cell) };
      return;
    case 'transaction':
      yield* narrowedTransaction(effect, cell);
      return;
    case 'open-transaction':
      if (effect.creates.includes(cell)) yield { kind: 'create', cell, identity: '' };
      if (effect.removes.includes(cell)) yield { kind: 'remove', cell };
      return;
    case 'clear':
      if (effect.all) yield { kind: 'clear', cells: [cell], count: undefined, all: true };
      else yield { kind: 'remove', cell };
      return;
    default:
      yield effect;
  }
}

/** A cell is changed once at most, and what a change needs is what it says. */
function* narrowedTransaction(
  { needs, identities, creates, removes }: Extract<Effect, { kind: 'transaction' }>,
  cell: number,
): Generator<Effect> {
  const created = creates.find((each) => each.cell === cell);
  const known = identities.find((each) => each.cell === cell);
  if (created !== undefined) yield { kind: 'create', ...created };
  else if (removes.includes(cell)) yield { kind: 'remove', cell };
  else if (known !== undefined) yield { kind: 'read-identity', ...known };
  else yield { kind: 'read', needs: needs.filter((need) => need.cell === cell) };
}
