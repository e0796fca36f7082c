import { Trace } from '../../stats/trace.ts';
import { contentDisposition } from '../http/disposition.ts';
import { apiHeaders } from '../http/policy.ts';
import { respond } from '../http/representation.ts';
import { addressIn } from './body.ts';
import type { Endpoint } from './endpoint.ts';

/** `/-/export`. */
export const exportSite: Endpoint = {
  async GET(url, request, { library, waitUntil }) {
    const address = addressIn(url);
    const source = await library.export(address);
    const headers = {
      ...apiHeaders(),
      'Content-Type': 'application/x-tar',
      'Content-Disposition': contentDisposition('attachment', `${address.hex}.antway.tar`),
    };
    let ended = () => {};
    // The worker must stay alive until the browser has read the last byte.
    waitUntil(new Promise<void>((resolve) => (ended = resolve)));
    const representation = { source, etag: `"${address.hex}.site"`, headers };
    return respond(
      representation,
      request,
      request.signal,
      { sent() {}, ended: () => ended() },
      new Trace(),
    ).catch((error) => {
      ended();
      throw error;
    });
  },
};

/** `/-/import`: imports a site from a file of `/-/export`. */
export const importSite: Endpoint = {
  // Browsers without `Request.body` hold the blob in a file until the library reads it.
  POST: async (url, request, { library }) => {
    const expected = url.searchParams.has('address') ? addressIn(url) : undefined;
    return library.import(request.body ?? (await request.blob()).stream(), expected);
  },
};
