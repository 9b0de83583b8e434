// The Python client for programs without an event loop, from the one for asyncio, as unasync does it: token by token.
// Lines that end with `# async only` are left out.

const ASYNC_ONLY = /^.*# async only\n/gm;

/** The first match wins. Each occurs in the source. */
const REPLACEMENTS: readonly (readonly [from: string, to: string])[] = [
  [
    '"""The client for asyncio. `_client.py`, the one without an event loop, is generated from this file."""',
    '"""The client for programs without an event loop. Generated from `_async_client.py`: edit that file."""',
  ],
  [
    'Calls the service from event loops. Each has connections of its own.',
    'Calls the service. Create it once, and use it from as many threads as you like.',
  ],
  [
    '        batching: checks that are started in one turn of the loop go out as one bulk check, each with its own answer.\n',
    '',
  ],
  ['import asyncio\nimport copy\nimport ssl\n', 'import copy\nimport ssl\nimport time\n'],
  ['from ._async_transport import AsyncSocketNetwork, AsyncTransport\n', ''],
  [
    'ChangeEvent, CreatedNamespace, Page, Rules, RulesText\n',
    'ChangeEvent, CreatedNamespace, Page, Rules, RulesText\nfrom ._transport import SocketNetwork, Transport\n',
  ],
  ['asyncio.sleep', 'time.sleep'],
  ['AsyncIterator', 'Iterator'],
  ['AsyncGrantd', 'Grantd'],
  ['AsyncTransport', 'Transport'],
  ['AsyncSocketNetwork', 'SocketNetwork'],
  ['AsyncQuery', 'Query'],
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
