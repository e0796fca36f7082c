// The types of peer-process.mjs for the command.

export interface PeerSettings {
  program: string;
  addresses: readonly string[];
  webTransport?: readonly string[];
  store: string;
  allowsWrites?: boolean;
  web: string;
  config: string;
  more?: readonly string[];
}

export class PeerProcess {
  /** Starts a peer and waits until it listens. @throws SetupError when the peer does not start. */
  static start(
    kind: 'node' | 'rust',
    settings: PeerSettings,
    onEnd: (reason: string) => void,
  ): Promise<PeerProcess>;

  /** The peer's HTTP origin. */
  readonly url: string;

  /** Ends the process, and waits for its end. */
  stop(): Promise<void>;
}
