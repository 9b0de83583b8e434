// Loaded before tests: node:test without its async hook, which follows every promise of a process to the test that made it and
// takes half of the time of tests that make very many. All that it is for is naming the test of an error that nobody
// caught. Without it the file fails, and says so, instead of that test. Nothing else calls `createHook` meanwhile.

import asyncHooks from 'node:async_hooks';

const { createHook } = asyncHooks;
asyncHooks.createHook = () => {
  const untracked = { enable: () => untracked, disable: () => untracked };
  return untracked;
};
await import('node:test');
asyncHooks.createHook = createHook;
