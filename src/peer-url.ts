import * as v from 'valibot';
import * as s from './schema.ts';

/** The program that serves chunks: a peer of this protocol, or AntTP or antd with their own HTTP interfaces. */
export type PeerKind = 'antway' | 'anttp' | 'antd';

const notUrl = 'it must be a URL, or / for this host';

/**
 * The URL of a peer: `https://host:port`, optionally with `#sha-256=<hex>[,<hex>]`. `http://` is allowed only on
 * loopback. The prefix `anttp+` or `antd+` marks AntTP or the antd daemon, which take no hashes.
 */
export class PeerUrl {
  private constructor(
    readonly kind: PeerKind,
    readonly origin: string,
    /** SHA-256 of acceptable self-signed certificates, 64 hex digits each. Empty if the certificate is CA-signed. */
    readonly certificateHashes: readonly string[],
  ) {}

  /**
   * @param baseUrl resolves `/`, which means "the host of this page is the peer".
   * @param key the name of the value for error messages.
   * @throws AntwayError `BAD_CONFIG` naming `key`.
   */
  static parse(value: unknown, baseUrl?: string, key = 'peers'): PeerUrl {
    return s.parse(PeerUrl.schema(baseUrl), value, 'BAD_CONFIG', '', key);
  }

  /** The schema of `parse`. */
  static schema(baseUrl?: string): s.Schema<PeerUrl> {
    return v.pipe(
      v.string(notUrl),
      v.rawTransform(({ dataset: { value: text }, addIssue, NEVER }) => {
        const bad = (message: string) => {
          addIssue({ message });
          return NEVER;
        };
        const { kind, url: written } = splitKind(text);
        const isUrl = (written === '/' && kind === 'antway') || /^https?:\/\//i.test(written);
        if (!isUrl || !URL.canParse(written, baseUrl)) return bad(notUrl);
        const url = new URL(written, baseUrl);
        if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))) {
          return bad('it must be an https:// URL, or http:// on loopback');
        }
        if (url.username || url.password || url.search || url.pathname !== '/') {
          return bad('it must be an origin, with nothing but #sha-256=… after it');
        }
        if (!url.hash) return new PeerUrl(kind, url.origin, []);
        const hashes = /^#sha-256=([0-9a-f]{64}(?:,[0-9a-f]{64})*)$/i.exec(url.hash)?.[1];
        if (!hashes) return bad('what follows # must be sha-256=<64 hex digits>[,<64 hex digits>…]');
        if (url.protocol !== 'https:') return bad('certificate hashes need an https:// URL');
        if (kind !== 'antway')
          return bad('AntTP and antd are asked by HTTP, which certificate hashes do not help');
        return new PeerUrl(kind, url.origin, hashes.toLowerCase().split(','));
      }),
    );
  }

  /** The URL without certificate hashes. It identifies the peer in rankings, counters and errors. */
  get id(): string {
    return withKind(this.kind, this.origin);
  }

  get isLoopback(): boolean {
    return isLoopback(new URL(this.origin));
  }

  /** Whether a URL leads to this peer, also under another name of this machine. */
  isAt(url: URL): boolean {
    const { origin, port } = new URL(this.origin);
    return url.origin === origin || (this.isLoopback && isLoopback(url) && url.port === port);
  }

  /** The canonical text, which `parse` accepts. */
  toString(): string {
    const { id, certificateHashes } = this;
    return certificateHashes.length === 0 ? id : `${id}#sha-256=${certificateHashes.join(',')}`;
  }
}

/** Splits the text of a peer into the kind that its prefix names, and the rest. Validates neither. */
export function splitKind(text: string): { kind: PeerKind; url: string } {
  const [, prefix, url = ''] = /^(?:(anttp|antd)\+)?(.*)$/s.exec(text)!;
  return { kind: (prefix ?? 'antway') as PeerKind, url };
}

/** The inverse of `splitKind`. */
export function withKind(kind: PeerKind, url: string): string {
  return kind === 'antway' ? url : `${kind}+${url}`;
}

/** Whether a URL leads to this machine, so that nothing has to encrypt the connection. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
