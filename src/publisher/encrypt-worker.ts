/// <reference lib="webworker" />
import { Codec } from '../self-encryption/codec.ts';
import { answerOf, type EncryptRequest } from '../self-encryption/encrypter.ts';
import { publishPlatform } from './platform.ts';
import { nodeThreads } from './threads.ts';

declare const self: DedicatedWorkerGlobalScope;

// The worker of a browser, Deno or Bun, or a thread of Node.
const thread = nodeThreads()?.parentPort;
const codec = new Codec(publishPlatform);

async function answer(request: EncryptRequest): Promise<void> {
  const result = await answerOf(codec, request);
  const transfer = 'bytes' in result ? [result.bytes.buffer] : [];
  if (thread) thread.postMessage(result, transfer);
  else self.postMessage(result, transfer);
}

if (thread) thread.on('message', (request: EncryptRequest) => void answer(request));
else self.onmessage = ({ data }: MessageEvent<EncryptRequest>) => void answer(data);
