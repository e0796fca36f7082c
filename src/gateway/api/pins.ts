import * as v from 'valibot';
import * as s from '../../schema.ts';
import { addressIn, addressText, bodyOf } from './body.ts';
import type { Endpoint } from './endpoint.ts';

const pinCommand = s.object({
  address: addressText,
  action: v.picklist(['pin', 'pause', 'resume', 'verify']),
});

export const pins: Endpoint = {
  async GET(url, _, { library, broadcast }) {
    if (url.searchParams.has('watch')) broadcast.watch();
    return { pins: await library.pins.list() };
  },
  async POST(_, request, { library, requestSync }) {
    const { address, action } = await bodyOf(request, pinCommand);
    const state = await library.pins[action](address);
    requestSync();
    return { address: address.hex, ...state };
  },
  DELETE: (url, _, { library }) => library.unpin(addressIn(url)),
};
