import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { isOfOneRecord } from '../payment/errors.ts';
import type { Published } from '../publish/publish.ts';
import type { ChunkSink } from '../publish/upload.ts';
import { adapt, untilAborted } from './options.ts';
import type { AntChunk, AntPointer, AntWholeSink } from './types.ts';

/**
 * Encrypts a publication once to find its chunks, and once more to store them.
 * @param encrypt each run gives the same chunks.
 * @param pointerTo signs the pointer to the publication, if it gets one.
 * @throws AntwayError `INTERNAL` if the sink did not store the publication; as `untilAborted`.
 */
export async function storeWhole(
  whole: AntWholeSink,
  encrypt: (sink: ChunkSink, isFinal: boolean) => Promise<Published>,
  pointerTo: (target: Address) => AntPointer | undefined,
  signal: AbortSignal,
): Promise<Published> {
  const chunks = new Map<string, AntChunk>();
  const survey: ChunkSink = {
    async store({ address: { hex: address }, bytes }) {
      chunks.set(address, { address, size: bytes.length });
      return 'present';
    },
  };
  const { address } = await encrypt(survey, false);
  const pointer = pointerTo(address);
  let published: Published | undefined;
  const storing = (async () =>
    whole.storeAll(
      [...chunks.values()],
      async (put) => {
        published = await encrypt({ ...adapt(put), mayContinue: isOfOneRecord }, true);
      },
      { signal, pointer },
    ))();
  await untilAborted(storing, signal);
  if (published) return published;
  throw new AntwayError('INTERNAL', 'The sink has not stored the publication.');
}
