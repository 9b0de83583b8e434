// Addresses from the configuration; they never change.

import type { Discovery } from './discovery.ts';

export function createStaticDiscovery(addresses: readonly string[]): Discovery {
  return {
    watch(onChange) {
      onChange(addresses);
      return () => {};
    },
  };
}
