/**
 * Nodes in a page. Each has a certificate, an identity and the node's half of the protocol. Clients in this page and in
 * pages of other browsers reach them.
 */
import { fromHex, toHex } from '../../../src/address.ts';
import { formatNodeAddress, type NodeAddress } from '../../../src/nodes/node-address.ts';
import {
  honestAnswer,
  type NodeAnswer,
  type NodeIdentity,
  NodeServer,
  nodeIdentity,
} from '../../support/node-server.ts';
import { redirectAnswers } from './redirect.ts';

/** How a node of the page behaves. */
export type Kind = 'honest' | 'forger' | 'other-certificate' | 'leaver';

/** A browser takes some megabytes at once, and ends the channel then. */
const bufferedBytes = 1024 * 1024;

/** By the port of their address, where nothing listens. */
const nodes = new Map<number, PageNode>();

export class PageNode {
  /** Connections that were opened. */
  connects = 0;
  readonly address: NodeAddress;
  readonly #identity: NodeIdentity;
  readonly #certificate: RTCCertificate;
  readonly #answer: NodeAnswer;
  readonly #open = new Set<RTCPeerConnection>();

  private constructor(
    port: number,
    kind: Kind,
    certificate: RTCCertificate,
    chunks: ReadonlyMap<string, Uint8Array>,
  ) {
    this.#identity = nodeIdentity(port % 251);
    this.#certificate = certificate;
    const hash = fromHex(certificate.getFingerprints()[0]!.value!.replaceAll(':', ''));
    if (kind === 'other-certificate') hash[0]! ^= 1;
    this.address = { peerId: toHex(this.#identity.peerId), host: '127.0.0.1', port, certificateHash: hash };
    this.#answer = this.#behave(kind, honestAnswer(this.#identity, chunks));
    nodes.set(port, this);
  }

  static async start(port: number, kind: Kind, chunks: ReadonlyMap<string, Uint8Array>): Promise<PageNode> {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
    return new PageNode(port, kind, await RTCPeerConnection.generateCertificate(algorithm), chunks);
  }

  stop(): void {
    nodes.delete(this.address.port);
    for (const connection of this.#open) connection.close();
  }

  /** @returns where the node waits for this client: an IP address of this computer, and a port. */
  async accept(sdp: string, credential: string): Promise<[string, number]> {
    const connection = new RTCPeerConnection({ certificates: [this.#certificate] });
    this.#open.add(connection);
    connection.ondatachannel = ({ channel }) => this.#serve(channel);
    const place = new Promise<[string, number]>((resolve) => {
      connection.onicecandidate = ({ candidate }) => {
        if (candidate?.protocol === 'udp') resolve([candidate.address!, candidate.port!]);
      };
    });
    await connection.setRemoteDescription({ type: 'offer', sdp });
    const answer = await connection.createAnswer();
    const own = answer
      .sdp!.replace(/^a=ice-ufrag:.*$/m, `a=ice-ufrag:${credential}`)
      .replace(/^a=ice-pwd:.*$/m, `a=ice-pwd:${credential}`)
      // As a server, which waits for the client's DTLS.
      .replace('a=setup:active', 'a=setup:passive');
    await connection.setLocalDescription({ type: 'answer', sdp: own });
    return place;
  }

  #serve(channel: RTCDataChannel): void {
    this.connects++;
    channel.binaryType = 'arraybuffer';
    channel.bufferedAmountLowThreshold = bufferedBytes / 4;
    const waiting: Uint8Array<ArrayBuffer>[] = [];
    const send = () => {
      while (channel.readyState === 'open' && channel.bufferedAmount < bufferedBytes && waiting.length > 0) {
        channel.send(waiting.shift()!);
      }
    };
    channel.onbufferedamountlow = send;
    const server = new NodeServer(this.#identity, this.#answer, (message) => {
      waiting.push(message);
      send();
    });
    channel.onmessage = ({ data }) => server.receive(new Uint8Array(data));
  }

  #behave(kind: Kind, honest: NodeAnswer): NodeAnswer {
    return (request, server) => {
      const { request_id, type, target, address } = request;
      if (type === 'find_node') {
        const named = [...nodes.values()].map((node) => ({
          peer_id: node.address.peerId,
          webrtc_direct: { multiaddr: formatNodeAddress(node.address) },
        }));
        server.respond({ request_id, status: 'ok', type: 'nodes', target, nodes: named.slice(0, 20) });
      } else if (type === 'get_chunk' && kind === 'forger') {
        server.respond({ request_id, status: 'ok', type: 'chunk', address, size: 5 }, new Uint8Array(5));
      } else if (type === 'get_chunk' && kind === 'leaver') {
        // The beginning of an answer of 1 MiB.
        server.sendMessage(new Uint8Array([0, 0x10, 0, 0]));
        server.sendMessage(new Uint8Array(10_000));
        setTimeout(() => this.stop(), 20);
      } else honest(request, server);
    };
  }
}

redirectAnswers((port, offer, credential) => nodes.get(port)?.accept(offer, credential));
