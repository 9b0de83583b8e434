// Loaded into a process under test before its program (`--import`): SIGUSR2 blocks its event loop for up to a second,
// as a long garbage collection or synchronous step does. Its other threads go on.

export const BLOCKED_MS_MAX = 980;
const BLOCKED_MS_MIN = 100;

const never = new Int32Array(new SharedArrayBuffer(4));

process.on('SIGUSR2', () => {
  Atomics.wait(never, 0, 0, BLOCKED_MS_MIN + Math.random() * (BLOCKED_MS_MAX - BLOCKED_MS_MIN));
});
