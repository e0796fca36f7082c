/** The stages of self-encryption and the chunk store as a browser runs them, for the lab to call. */

import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import brotliWasm from 'brotli-wasm';
import type { AeadName } from '../../../src/self-encryption/aead.ts';
import type { CodecPlatform } from '../../../src/self-encryption/codec.ts';
import { encryptWorkers } from '../../../src/shell/publish/encrypt-workers.ts';
import { type Stage, timeStage } from '../bench.ts';
import { timeStore } from '../store-bench.ts';

export interface BenchPage {
  /**
   * @param hasWorkers whether workers encrypt, as on the screen Publish.
   * @returns the milliseconds that a stage takes for what the host serves at `url`.
   */
  time(stage: Stage, url: string, aead: AeadName, hasWorkers: boolean): Promise<number>;
  timeStore: typeof timeStore;
}

const contents = new Map<string, Uint8Array<ArrayBuffer>>();

const benchPage: BenchPage = {
  timeStore,
  async time(stage, url, aead, hasWorkers) {
    let content = contents.get(url);
    if (!content) {
      content = new Uint8Array(await (await fetch(url)).arrayBuffer());
      contents.set(url, content);
    }
    const platform: CodecPlatform = {
      aead,
      brotliDecoderWasm: () => fetch(decoderWasmUrl),
      sodiumWasm: () => fetch(sodiumWasmUrl),
      brotliEncoder: async () => {
        const { compress } = await brotliWasm;
        return (bytes) => compress(bytes, { quality: 6 });
      },
    };
    return timeStage(stage, content, platform, hasWorkers ? encryptWorkers : undefined);
  },
};

Object.assign(globalThis, { benchPage });
