// What describes this process to a collector of OpenTelemetry. The library has a constructor for it in one of its
// transitive packages; exporters read only this much.

import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';

export type OtelResource = ReadableSpan['resource'];

export function createOtelResource(attributes: Readonly<Record<string, string>>): OtelResource {
  return {
    attributes,
    getRawAttributes: () => Object.entries(attributes),
    merge: (other) =>
      createOtelResource({ ...attributes, ...(other?.attributes as Record<string, string> | undefined) }),
  };
}
