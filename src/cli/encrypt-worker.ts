import { parentPort } from 'node:worker_threads';
import { Codec } from '../self-encryption/codec.ts';
import { answerOf, type EncryptRequest } from '../self-encryption/encrypter.ts';
import { nodePlatform } from './platform.ts';

const codec = new Codec(nodePlatform);

parentPort!.on('message', async (request: EncryptRequest) => {
  const answer = await answerOf(codec, request);
  parentPort!.postMessage(answer, 'bytes' in answer ? [answer.bytes.buffer] : []);
});
