// The signals that ask a process to stop, and then insist.

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** 128 + the number of the signal, the convention of shells. */
export const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** An interrupt that comes so soon after the first is the same: npm passes on what the terminal has sent to both. */
const SAME_INTERRUPT_MS = 2000;

/** `onAsked` is called at the first signal, `onInsisted` at each further one. */
export function onStopSignals(onAsked: (signal: StopSignal) => void, onInsisted: (signal: StopSignal) => void): void {
  let asked: { readonly signal: StopSignal; readonly atMs: number } | undefined;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      const atMs = performance.now();
      if (asked === undefined) {
        asked = { signal, atMs };
        onAsked(signal);
        return;
      }
      const isSame = signal === 'SIGINT' && asked.signal === 'SIGINT' && atMs - asked.atMs < SAME_INTERRUPT_MS;
      if (!isSame) onInsisted(signal);
    });
  }
}
