import { synthesiseAnswer } from './answer.ts';
import { discard } from './buffers.ts';
import type { NodeChannel, OpenChannel } from './channel.ts';
import type { NodeAddress } from './node-address.ts';
import { nodeError } from './node-error.ts';

const label = 'autonomi.web.v5';
/** More is not handed to the browser at once. */
const bufferedBytes = 256 * 1024;

/** Opens channels with the browser's WebRTC, which only windows have. @throws as `OpenChannel`. */
export const openWebRtcChannel: OpenChannel = async (node, signal) => {
  signal.throwIfAborted();
  if (typeof RTCPeerConnection === 'undefined') {
    throw nodeError('unreachable', 'Only windows of a browser with WebRTC can reach nodes.');
  }
  const connection = new RTCPeerConnection();
  const channel = new WebRtcChannel(connection);
  const onAbort = () => channel.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await negotiate(connection, node);
    await channel.opened;
    return channel;
  } catch (error) {
    channel.close();
    signal.throwIfAborted();
    throw nodeError('unreachable', `The node at ${node.host} does not answer.`, error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

async function negotiate(connection: RTCPeerConnection, node: NodeAddress): Promise<void> {
  await connection.setLocalDescription(await connection.createOffer());
  const sdp = synthesiseAnswer(connection.localDescription?.sdp ?? '', node);
  await connection.setRemoteDescription({ type: 'answer', sdp });
}

class WebRtcChannel implements NodeChannel {
  onClosed: () => void = () => undefined;
  /** Rejects if the connection fails before the channel is open. */
  readonly opened: Promise<void>;
  readonly #connection: RTCPeerConnection;
  readonly #channel: RTCDataChannel;
  #early: Uint8Array[] | undefined = [];
  #onMessage: (message: Uint8Array) => void = (message) => this.#early?.push(message);
  #isClosed = false;

  constructor(connection: RTCPeerConnection) {
    this.#connection = connection;
    this.#channel = connection.createDataChannel(label, { ordered: true });
    this.#channel.binaryType = 'arraybuffer';
    this.#channel.bufferedAmountLowThreshold = bufferedBytes / 2;
    this.#channel.onmessage = ({ data }) => {
      // Text is not of the protocol. An empty message makes the reader end the connection.
      const message = data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array();
      this.#onMessage(message);
      if (!this.#early) discard(message.buffer);
    };
    this.opened = new Promise((resolve, reject) => {
      this.#channel.onopen = () => resolve();
      const fail = () => {
        reject(nodeError('unreachable', 'The connection to a node was lost.'));
        this.close();
      };
      this.#channel.onerror = fail;
      this.#channel.onclose = fail;
      connection.onconnectionstatechange = () => {
        if (['failed', 'closed', 'disconnected'].includes(connection.connectionState)) fail();
      };
    });
    // It may fail while `negotiate` is awaited.
    this.opened.catch(() => undefined);
  }

  get onMessage(): (message: Uint8Array) => void {
    return this.#onMessage;
  }

  set onMessage(listener: (message: Uint8Array) => void) {
    this.#onMessage = listener;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) listener(message);
  }

  get unsentBytes(): number {
    return this.#channel.bufferedAmount;
  }

  async send(message: Uint8Array<ArrayBuffer>): Promise<void> {
    if (this.#isClosed || this.#channel.readyState !== 'open') {
      throw nodeError('unreachable', 'The connection to a node is closed.');
    }
    this.#channel.send(message);
    if (this.#channel.bufferedAmount <= bufferedBytes) return;
    await new Promise<void>((resolve) => {
      this.#channel.addEventListener('bufferedamountlow', () => resolve(), { once: true });
      this.#channel.addEventListener('close', () => resolve(), { once: true });
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#channel.close();
    this.#connection.close();
    this.onClosed();
  }
}
