import type { NodeAddress } from './node-address.ts';

/** An ordered channel of messages to one node. Nothing about the node is authenticated yet. */
export interface NodeChannel {
  /** Sends one message of at most 16 KiB. Resolves when the next one may be sent. @throws if the channel is closed. */
  send(message: Uint8Array<ArrayBuffer>): Promise<void>;
  /** The bytes of sent messages that the connection has not taken yet. */
  readonly unsentBytes: number;
  /** Called for each message, in order. Messages before it is set are not lost. The message is valid until it returns. */
  onMessage: (message: Uint8Array) => void;
  /** Called once when the node, the network or `close` ends the channel. */
  onClosed: () => void;
  close(): void;
}

/** Opens a channel to a node. @throws AntwayError `PEERS_UNREACHABLE`; the signal's reason when aborted. */
export type OpenChannel = (node: NodeAddress, signal: AbortSignal) => Promise<NodeChannel>;
