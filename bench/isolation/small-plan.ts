// A plan with so low a limit on grants that a run reaches it.

export const GRANTS_MAX = 200;
export const SMALL_PLAN_NAME = 'small';
export const SMALL_PLAN = JSON.stringify({
  [SMALL_PLAN_NAME]: { requests: 10_000, window_seconds: 1, grants_max: GRANTS_MAX },
});
