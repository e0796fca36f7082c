import * as s from './schema.ts';

/**
 * The program that serves chunks: a peer of this protocol, or another program (AntTP, antd) with its own HTTP
 * interface.
 */
export type PeerKind = 'antway' | 'anttp' | 'antd';

/**
 * The URL of a peer: `https://host:port`, optionally with `#sha-256=<hex>[,<hex>]`. `http://` is allowed only on
 * loopback. The prefix `anttp+` or `antd+` marks AntTP or the antd daemon, which take no hashes.
 */
export class PeerUrl {
  private constructor(
    readonly kind: PeerKind,
    /** The base URL of HTTP requests, such as `https://peer.example:4433`. */
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
    const schema = s.transform(s.string(), (text, key) => PeerUrl.fromText(text, baseUrl, key));
    return s.parse(schema, value, 'BAD_CONFIG', '', key);
  }

  /** As `parse`. @throws Mismatch */
  static fromText(text: string, baseUrl: string | undefined, key: string): PeerUrl {
    const bad = (why: string) => new s.Mismatch(key, why);
    const [, prefix, written = ''] = /^(?:(anttp|antd)\+)?(.*)$/s.exec(text)!;
    const kind = (prefix ?? 'antway') as PeerKind;
    const isUrl = (written === '/' && kind === 'antway') || /^https?:\/\//i.test(written);
    if (!isUrl || !URL.canParse(written, baseUrl)) throw bad('it must be a URL, or / for this host');
    const url = new URL(written, baseUrl);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))) {
      throw bad('it must be an https:// URL, or http:// on loopback');
    }
    if (url.username || url.password || url.search || url.pathname !== '/') {
      throw bad('it must be an origin, with nothing but #sha-256=… after it');
    }
    if (!url.hash) return new PeerUrl(kind, url.origin, []);
    const hashes = /^#sha-256=([0-9a-f]{64}(?:,[0-9a-f]{64})*)$/i.exec(url.hash)?.[1];
    if (!hashes) throw bad('what follows # must be sha-256=<64 hex digits>[,<64 hex digits>…]');
    if (url.protocol !== 'https:') throw bad('certificate hashes need an https:// URL');
    if (kind !== 'antway')
      throw bad('AntTP and antd are asked by HTTP, which certificate hashes do not help');
    return new PeerUrl(kind, url.origin, hashes.toLowerCase().split(','));
  }

  /** The URL without certificate hashes. It identifies the peer in rankings, counters and errors. */
  get id(): string {
    return this.kind === 'antway' ? this.origin : `${this.kind}+${this.origin}`;
  }

  /** Whether the peer runs on this machine. */
  get isLoopback(): boolean {
    return isLoopback(new URL(this.origin));
  }

  /** The canonical text, which `parse` accepts. */
  toString(): string {
    const { id, certificateHashes } = this;
    return certificateHashes.length === 0 ? id : `${id}#sha-256=${certificateHashes.join(',')}`;
  }
}

function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
