/** An AntTP, the native HTTP gateway of the same network, that reads the same files. */
export class AntTp {
  #failure: unknown;

  /** @param url its origin, such as `http://127.0.0.1:18888`. */
  constructor(readonly url: string) {}

  /** The one that `ANTTP_URL` names, if it does. @throws Error when that is no URL. */
  static fromEnvironment(): AntTp | undefined {
    const url = process.env.ANTTP_URL;
    if (!url) return undefined;
    if (!URL.canParse(url)) throw new Error(`ANTTP_URL is “${url}”, which is not a URL.`);
    return new AntTp(new URL(url).origin);
  }

  /**
   * Makes AntTP store a record on its own disk. Nothing goes to the network. Never rejects: `check` throws the error, so
   * that only the cases of AntTP fail.
   */
  async put(_address: string, bytes: Uint8Array): Promise<void> {
    try {
      const response = await fetch(`${this.url}/anttp-0/binary/chunk`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/octet-stream', 'x-store-type': 'disk' },
        body: bytes as Uint8Array<ArrayBuffer>,
      });
      if (!response.ok) throw new Error(`AntTP answered ${response.status} to a chunk.`);
    } catch (error) {
      this.#failure ??= error;
    }
  }

  /** @throws when a record could not be stored. */
  check(): void {
    if (this.#failure) throw new Error('AntTP could not be filled.', { cause: this.#failure });
  }
}
