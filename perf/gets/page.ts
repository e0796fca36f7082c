/** The task of the page. */
export interface Ask {
  /** Of the WebTransport transport. */
  url: string;
  /** SHA-256, hex. */
  certificateHashes: string[];
  addresses: string[];
  /** Addresses in one GET. */
  toStream: number;
  /** Addresses asked for at a time, over all streams. */
  atOnce: number;
}

/**
 * Fetches all chunks over one session. Runs in the page by itself, so it refers to nothing of this module.
 * @returns milliseconds from the first request to the last byte. @throws Error when one is not there.
 */
export async function fetchAll({
  url,
  certificateHashes,
  addresses,
  toStream,
  atOnce,
}: Ask): Promise<number> {
  const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, (pair) => Number.parseInt(pair, 16));
  const session = new WebTransport(url, {
    serverCertificateHashes: certificateHashes.map((hex) => ({ algorithm: 'sha-256', value: bytesOf(hex) })),
  });
  await session.ready;
  const requests: Uint8Array<ArrayBuffer>[] = [];
  for (let i = 0; i < addresses.length; i += toStream) {
    const some = addresses.slice(i, i + toStream);
    requests.push(Uint8Array.of(1, some.length, ...some.flatMap((address) => [...bytesOf(address)])));
  }
  const startedMs = performance.now();
  const waiting = requests.values();
  const lane = async () => {
    for (const request of waiting) {
      const stream = await session.createBidirectionalStream();
      const writer = stream.writable.getWriter();
      void writer.write(request).then(() => writer.close());
      let answer = new Uint8Array(256 * 1024);
      let filled = 0;
      for (const reader = stream.readable.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        if (filled + value.length > answer.length) {
          const longer = new Uint8Array(2 * (filled + value.length));
          longer.set(answer.subarray(0, filled));
          answer = longer;
        }
        answer.set(value, filled);
        filled += value.length;
      }
      const view = new DataView(answer.buffer);
      let at = 0;
      for (let i = 0; i < request[1]!; i++) {
        if (answer[at] !== 0) throw new Error(`status ${answer[at]}`);
        at += 5 + view.getUint32(at + 1);
      }
      if (at !== filled) throw new Error(`${filled} bytes, not ${at}`);
    }
  };
  await Promise.all(Array.from({ length: Math.max(Math.floor(atOnce / toStream), 1) }, lane));
  const elapsedMs = performance.now() - startedMs;
  session.close();
  return elapsedMs;
}
