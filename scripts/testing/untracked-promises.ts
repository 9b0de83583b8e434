// Loaded before node:test in the processes that run tests. node:test follows every promise of the program with a hook,
// to know which test it belongs to; that takes half of the processor time of tests with many promises, or more. Here an
// AsyncLocalStorage knows the test, which costs next to nothing.
//
// node:test has no setting for this, so it gets other functions of node:async_hooks while it loads. The tests of the
// runner fail if a new version of Node no longer works with this (test/tidy/runner.test.ts).

import asyncHooks, { AsyncLocalStorage, AsyncResource, type HookCallbacks } from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

const { createHook, executionAsyncId } = asyncHooks;
const running = new AsyncLocalStorage<number>();

/** Enters a test or suite by its id, which everything it starts inherits. */
function enter(id: number, test: AsyncResource): void {
  const inside = (run: (...args: unknown[]) => unknown, thisArg: unknown, ...args: unknown[]): unknown =>
    AsyncResource.prototype.runInAsyncScope.call(test, () => running.run(id, () => Reflect.apply(run, thisArg, args)));
  Reflect.set(test, 'runInAsyncScope', inside);
}

// Worker threads inherit this import, and run no tests.
if (isMainThread) {
  asyncHooks.createHook = ({ init }: HookCallbacks) =>
    createHook({
      init(id, type, triggerId, resource) {
        if (type !== 'Test' || !(resource instanceof AsyncResource)) return;
        init?.(id, type, triggerId, resource);
        enter(id, resource);
      },
      trackPromises: false,
    });
  asyncHooks.executionAsyncId = () => running.getStore() ?? executionAsyncId();
  await import('node:test');
  asyncHooks.createHook = createHook;
  asyncHooks.executionAsyncId = executionAsyncId;
}
