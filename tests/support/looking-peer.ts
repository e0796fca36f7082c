import { forward, LoopbackServer, passOn } from './loopback-server.ts';
import type { PeerProcess } from './peer-process.ts';

/** A peer's HTTP interface as a client of a network has it: while it looks for a chunk, it answers “busy”. */
export class LookingPeer implements AsyncDisposable {
  /** Requests for chunks that were answered “busy”. */
  busyAnswers = 0;
  #isLooking = true;
  #server!: LoopbackServer;

  /**
   * @param isHeaderHidden leaves out the header with the delay, as a browser hides it from a gateway. Node does not hide it.
   */
  static async start(peer: PeerProcess, { isHeaderHidden = false } = {}): Promise<LookingPeer> {
    const looking = new LookingPeer();
    looking.#server = await LoopbackServer.start(async (request, response) => {
      if (request.url === '/-/info') {
        const info = JSON.parse(Buffer.concat(await (await forward(request, peer.url)).toArray()).toString());
        const network = { name: 'devnet', state: 'connected', peers: 12 };
        response.setHeader('Access-Control-Allow-Origin', '*');
        response.end(JSON.stringify({ ...info, network, webTransport: null }));
      } else if (looking.#isLooking && request.url?.startsWith('/chunk/')) {
        looking.busyAnswers++;
        response.setHeader('Access-Control-Allow-Origin', '*');
        // The browser hides this header without `Access-Control-Expose-Headers`, so it waits for the default time.
        response.writeHead(503, isHeaderHidden ? {} : { 'Retry-After': '2' }).end('{"code":"BUSY"}');
      } else await passOn(request, response, peer.url);
    });
    return looking;
  }

  get url(): string {
    return this.#server.url;
  }

  find(): void {
    this.#isLooking = false;
  }

  lookAgain(): void {
    this.#isLooking = true;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
