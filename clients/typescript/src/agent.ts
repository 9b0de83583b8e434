// What the client says of itself in the header User-Agent.

const VERSION = '0.2.0';

interface Runtime {
  readonly Deno?: { readonly version?: { readonly deno?: string } };
  readonly Bun?: { readonly version?: string };
  readonly process?: { readonly version?: string };
}

/** Deno and Bun also say that they are a Node. */
function runtime({ Deno, Bun, process }: Runtime): string {
  if (Deno?.version?.deno !== undefined) return `deno ${Deno.version.deno}`;
  if (Bun?.version !== undefined) return `bun ${Bun.version}`;
  return process?.version === undefined ? 'browser' : `node ${process.version}`;
}

/** `addition`: of the application. */
export function userAgent(addition: string | undefined): string {
  const own = `grantd-typescript/${VERSION} (${runtime(globalThis as Runtime)})`;
  return addition === undefined ? own : `${own} ${addition}`;
}
