import type { Sodium } from 'libsodium';

type Bytes = Uint8Array<ArrayBuffer>;

const tagBytes = 16;

/** libsodium's ChaCha20-Poly1305 (RFC 8439). Calls are synchronous. */
export interface SodiumAead {
  /** @returns ciphertext ‖ 16-byte tag. */
  encrypt(key: Bytes, nonce: Bytes, plaintext: Bytes): Bytes;
  /** @returns undefined if the tag does not match. */
  decrypt(key: Bytes, nonce: Bytes, encrypted: Bytes): Bytes | undefined;
}

/**
 * Loads libsodium without its wrappers: a worker must parse all of its script before it can answer, and only two of
 * hundreds of functions are needed.
 * @param wasm loads its WebAssembly, if the build has moved it out of the package.
 */
export async function loadSodium(wasm?: () => Promise<BufferSource | Response>): Promise<SodiumAead> {
  const { default: libsodium } = await import('libsodium');
  const sodium = await (wasm
    ? instantiate(libsodium, await compile(await wasm()))
    : libsodium({ getRandomValue }));
  if (sodium._sodium_init() < 0) throw new Error('libsodium could not be initialised.');
  return {
    encrypt: (key, nonce, plaintext) =>
      withMemory(sodium, plaintext.length + tagBytes, [plaintext, nonce, key], (to, [from, nonce, key]) =>
        sodium._crypto_aead_chacha20poly1305_ietf_encrypt(
          to,
          0,
          from,
          plaintext.length,
          0,
          0,
          0,
          0,
          0,
          nonce,
          key,
        ),
      )!,
    decrypt: (key, nonce, encrypted) =>
      encrypted.length < tagBytes
        ? undefined
        : withMemory(sodium, encrypted.length - tagBytes, [encrypted, nonce, key], (to, [from, nonce, key]) =>
            sodium._crypto_aead_chacha20poly1305_ietf_decrypt(
              to,
              0,
              0,
              from,
              encrypted.length,
              0,
              0,
              0,
              0,
              nonce,
              key,
            ),
          ),
  };
}

/** Compiles while the response streams, if its content type allows it. */
function compile(wasm: BufferSource | Response): Promise<WebAssembly.Module> {
  if (!(wasm instanceof Response)) return WebAssembly.compile(wasm);
  if (wasm.headers.get('Content-Type') === 'application/wasm') return WebAssembly.compileStreaming(wasm);
  return wasm.arrayBuffer().then((bytes) => WebAssembly.compile(bytes));
}

/** The library itself would wait for ever for an instance that cannot be created. */
function instantiate(
  libsodium: typeof import('libsodium').default,
  module: WebAssembly.Module,
): Promise<Sodium> {
  return new Promise((resolve, reject) => {
    libsodium({
      getRandomValue,
      instantiateWasm: (imports, done) => void WebAssembly.instantiate(module, imports).then(done, reject),
    }).then(resolve, reject);
  });
}

/** The library does not find a source of random numbers by itself in a module of Node. */
function getRandomValue(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]!;
}

/** Copies `inputs` into libsodium's memory. @returns a copy of the output; undefined if `call` fails. */
function withMemory(
  sodium: Sodium,
  outputBytes: number,
  inputs: readonly [Bytes, Bytes, Bytes],
  call: (output: number, inputs: readonly [number, number, number]) => number,
): Bytes | undefined {
  const sizes = inputs.map(({ length }) => length);
  const start = sodium._malloc(sizes.reduce((sum, size) => sum + size, outputBytes));
  if (start === 0) throw new RangeError('libsodium has no memory left.');
  const pointers = sizes.map(
    (_, i) => start + outputBytes + sizes.slice(0, i).reduce((sum, size) => sum + size, 0),
  );
  try {
    for (const [i, input] of inputs.entries()) sodium.HEAPU8.set(input, pointers[i]!);
    const isOk = call(start, pointers as [number, number, number]) === 0;
    return isOk ? sodium.HEAPU8.slice(start, start + outputBytes) : undefined;
  } finally {
    sodium._free(start);
  }
}
