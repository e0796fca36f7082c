/** A cache that removes the least recently used entries when their sizes together exceed a limit. */
export class LruCache<Value, Key = string> {
  readonly #maxSize: number;
  readonly #sizeOf: (value: Value, key: Key) => number;
  /** A `Map` iterates in the order of insertion: the least recently used entry is the first. */
  readonly #entries = new Map<Key, { value: Value; size: number }>();
  #size = 0;

  /** @param sizeOf called once for each stored value, in the unit of `maxSize`. The default counts entries. */
  constructor(maxSize: number, sizeOf: (value: Value, key: Key) => number = () => 1) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Whether there is a value. Does not mark it as used. */
  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Stores or replaces a value. A value larger than the limit is not stored. */
  set(key: Key, value: Value): void {
    this.delete(key);
    const size = this.#sizeOf(value, key);
    if (size > this.#maxSize) return;
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#maxSize) break;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }
}
