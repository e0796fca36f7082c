import { Address } from '../../address.ts';
import { AntwayError } from '../../errors.ts';
import { addressIn, jsonOf, objectOf, required } from './body.ts';
import type { Endpoint } from './endpoint.ts';

const pinActions = ['pin', 'pause', 'resume', 'verify'] as const;

function isPinAction(value: unknown): value is (typeof pinActions)[number] {
  return (pinActions as readonly unknown[]).includes(value);
}

/** `/-/pins`: the user's pins. */
export const pins: Endpoint = {
  async GET(url, _, { library, broadcast }) {
    if (url.searchParams.has('watch')) broadcast.watch();
    return { pins: await library.pins.list() };
  },
  async POST(_, request, { library, requestSync }) {
    const { address: text, action } = objectOf(await jsonOf(request));
    const address = Address.fromHex(required(text, 'address'));
    if (!isPinAction(action)) {
      throw new AntwayError('REFUSED', `“action” is one of ${pinActions.join(', ')}.`);
    }
    const state = await library.pins[action](address);
    requestSync();
    return { address: address.hex, ...state };
  },
  DELETE: (url, _, { library }) => library.unpin(addressIn(url)),
};
