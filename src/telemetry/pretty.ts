// The lines of a log on a terminal. Loaded only there: other processes start without the library.

export { prettyFactory } from 'pino-pretty';
