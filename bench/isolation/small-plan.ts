// A plan that bounds the grants of a tenant so tightly that a run reaches the bound.

export const GRANTS_MAX = 200;
export const SMALL_PLAN_NAME = 'small';
export const SMALL_PLAN = JSON.stringify({
  [SMALL_PLAN_NAME]: { requests: 10_000, window_seconds: 1, grants_max: GRANTS_MAX },
});
