import { formatNodeAddress } from '../../src/nodes/node-address.ts';
import { addressOf, type NodeAnswer, type NodeIdentity, NodeServer, nodeIdentity } from './node-server.ts';

/** One node behind {@link FakeWebRtc}. */
export interface FakeNode {
  identity: NodeIdentity;
  address: string;
  answer: NodeAnswer;
  /** A node that is gone refuses connections. */
  isGone: boolean;
}

/** Nodes in this process, and an `RTCPeerConnection` that reaches them by the port of their address. */
export class FakeWebRtc {
  readonly nodes: FakeNode[];
  /** Connections that are open or being opened. */
  readonly open = new Set<object>();
  /** All connections that were ever opened. */
  connects = 0;

  /** @param makeAnswer how a node answers. `all` has every node, for answers that name nodes. */
  constructor(count: number, makeAnswer: (identity: NodeIdentity, i: number, all: FakeNode[]) => NodeAnswer) {
    this.nodes = [];
    for (let i = 0; i < count; i++) {
      const identity = nodeIdentity(i + 1);
      const address = formatNodeAddress(addressOf(identity, '127.0.0.1', 20_000 + i));
      this.nodes.push({ identity, address, answer: makeAnswer(identity, i, this.nodes), isGone: false });
    }
  }

  get addresses(): string[] {
    return this.nodes.map(({ address }) => address);
  }

  /** The class to put in place of the browser's. */
  connectionClass(): typeof RTCPeerConnection {
    const network = this;
    class FakeConnection {
      connectionState = 'new';
      onconnectionstatechange: () => void = () => undefined;
      localDescription: { sdp: string } | null = null;
      #channel: FakeChannel | undefined;

      constructor() {
        network.open.add(this);
      }

      createDataChannel(): FakeChannel {
        this.#channel = new FakeChannel();
        return this.#channel;
      }

      async createOffer() {
        return { type: 'offer', sdp: `v=0\r\na=mid:0\r\na=ice-pwd:${'a'.repeat(24)}\r\n` };
      }

      async setLocalDescription(offer: { sdp: string }) {
        this.localDescription = offer;
      }

      async setRemoteDescription({ sdp }: { sdp: string }) {
        const port = Number(/^m=application (\d+) /m.exec(sdp)![1]);
        const node = network.nodes[port - 20_000];
        queueMicrotask(() => {
          if (node && !node.isGone) {
            network.connects++;
            this.#channel!.connect(node);
          } else {
            this.connectionState = 'failed';
            this.onconnectionstatechange();
          }
        });
      }

      close() {
        network.open.delete(this);
        this.#channel?.close();
      }
    }
    return FakeConnection as unknown as typeof RTCPeerConnection;
  }
}

class FakeChannel extends EventTarget {
  readyState = 'connecting';
  bufferedAmount = 0;
  onopen: () => void = () => undefined;
  onmessage: (event: { data: ArrayBuffer }) => void = () => undefined;
  #server: NodeServer | undefined;

  connect({ identity, answer }: FakeNode): void {
    if (this.readyState !== 'connecting') return;
    this.#server = new NodeServer(identity, answer, (message) => {
      const { buffer } = message.slice();
      queueMicrotask(() => this.readyState === 'open' && this.onmessage({ data: buffer }));
    });
    this.readyState = 'open';
    this.onopen();
  }

  send(message: Uint8Array): void {
    const copy = message.slice();
    queueMicrotask(() => this.readyState === 'open' && this.#server!.receive(copy));
  }

  close(): void {
    this.readyState = 'closed';
  }
}
