// The attributes that describe this process to an OpenTelemetry collector. The library's own constructor is in one of
// its transitive packages; exporters read only these members.

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
