/// <reference lib="webworker" />

import { answerOf, type EncryptRequest } from '../../self-encryption/encrypter.ts';
import { publishCodec } from './publish-codec.ts';

declare const self: DedicatedWorkerGlobalScope;

const codec = publishCodec();

self.onmessage = async ({ data }: MessageEvent<EncryptRequest>) => {
  const answer = await answerOf(codec, data);
  self.postMessage(answer, 'bytes' in answer ? [answer.bytes.buffer] : []);
};
