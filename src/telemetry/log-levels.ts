// The levels of the log, in a file of their own, so that a command that only prints does not load the log's library.

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
