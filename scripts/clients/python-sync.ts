// The Python client for programs without an event loop, from the one for asyncio, as unasync does it: token by token.
// Lines that end with `# async only` are left out.

const ASYNC_ONLY = /^.*# async only\n/gm;
const DEADLINE_NOTE = `
        A read waits for at most the time that is left when its request is sent, and the deadline is checked between
        reads: a service that sends single bytes can hold a call for twice its time at most.
`;

/** The first match wins. Each occurs in the source. */
const REPLACEMENTS: readonly (readonly [from: string, to: string])[] = [
  [
    '"""The client for asyncio. `_client.py`, the one without an event loop, is generated from this file."""',
    '"""The client for programs without an event loop. Generated from `_async_client.py`: edit that file."""',
  ],
  [
    'Calls the service from one event loop.',
    'Calls the service. Create it once, and use it from as many threads as you like.',
  ],
  [
    '        batching: checks that are started in one turn of the loop go out as one bulk check, each with its own answer.\n',
    '',
  ],
  ['the caller closes it.\n', `the caller closes it.\n${DEADLINE_NOTE}`],
  ['import asyncio\nimport copy\n', 'import copy\nimport time\n'],
  ['from ._async_transport import AsyncTransport\n', ''],
  [
    'ChangeEvent, CreatedNamespace, Page, Rules\n',
    'ChangeEvent, CreatedNamespace, Page, Rules\nfrom ._transport import Transport\n',
  ],
  ['asyncio.sleep', 'time.sleep'],
  ['AsyncIterator', 'Iterator'],
  ['AsyncGrantd', 'Grantd'],
  ['AsyncTransport', 'Transport'],
  ['httpx.AsyncClient', 'httpx.Client'],
  ['__aenter__', '__enter__'],
  ['__aexit__', '__exit__'],
  ['aclose', 'close'],
  ['async def ', 'def '],
  ['async for ', 'for '],
  ['await ', ''],
];

/** Throws if a replacement matches nothing, so that a change of the source cannot make one useless. */
export function renderSyncPythonClient(asyncSource: string): string {
  let text = asyncSource.replaceAll(ASYNC_ONLY, '');
  for (const [from, to] of REPLACEMENTS) {
    if (!text.includes(from)) throw new Error(`The asyncio client has no ${JSON.stringify(from)} to replace.`);
    text = text.replaceAll(from, to);
  }
  return text;
}
