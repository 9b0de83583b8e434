// Bounds the body of a response that another program sends: its bytes count as they are read, after decompression. The
// first byte too many ends the connection, so that a wrong address cannot fill the memory of this process.

export class BodyTooLong extends Error {
  constructor(bytesMax: number) {
    super(`The response is longer than ${bytesMax} bytes.`);
    this.name = 'BodyTooLong';
  }
}

/** The same response. Reading its body rejects with BodyTooLong once it has more than `bytesMax` bytes. */
export function boundBody(response: Response, bytesMax: number): Response {
  const { body } = response;
  if (body === null) return response;
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new BodyTooLong(bytesMax);
      controller.enqueue(Uint8Array.from(chunk));
    },
  });
  return new Response(body.pipeThrough(count), response);
}
