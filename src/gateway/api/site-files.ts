import type { Address } from '../../address.ts';
import type { Content } from '../../content/resolver.ts';
import { AntwayError } from '../../errors.ts';
import { mostIconBytes, type SiteLabel } from '../../library/site-file-head.ts';
import { Trace } from '../../stats/trace.ts';
import { contentDisposition } from '../http/disposition.ts';
import { apiHeaders } from '../http/policy.ts';
import { respond } from '../http/representation.ts';
import { addressIn } from './body.ts';
import type { ApiContext, Endpoint } from './endpoint.ts';

/** `/-/export`. `POST` takes a form with the `title` of the site and its `icon`, a PNG. Both are optional. */
export const exportSite: Endpoint = {
  GET: (url, request, context) => exported(addressIn(url), { title: null, icon: null }, request, context),
  async POST(url, request, context) {
    const form = await request.formData().catch((cause) => {
      throw new AntwayError('REFUSED', 'The body is not a form.', {}, { cause });
    });
    const [title, icon] = [form.get('title'), form.get('icon')];
    const about = {
      title: typeof title === 'string' ? title : null,
      icon:
        icon instanceof Blob && icon.size <= mostIconBytes ? new Uint8Array(await icon.arrayBuffer()) : null,
    };
    return exported(addressIn(url), about, request, context);
  },
};

async function exported(
  address: Address,
  about: Pick<SiteLabel, 'title' | 'icon'>,
  request: Request,
  { library, resolver, waitUntil }: ApiContext,
): Promise<Response> {
  const source = await library.export(address, async () => ({
    ...about,
    ...sizeOf(await resolver.resolve(address)),
  }));
  const headers = {
    ...apiHeaders(),
    'Content-Type': 'application/x-tar',
    'Content-Disposition': contentDisposition('attachment', `${address.hex}.antsite`),
  };
  let ended = () => {};
  // The worker must stay alive until the browser has read the last byte.
  waitUntil(new Promise<void>((resolve) => (ended = resolve)));
  const representation = { source, etag: `"${address.hex}.site2"`, headers };
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
}

function sizeOf(content: Content): { files: number; size: number } {
  if (content.kind !== 'archive') return { files: 1, size: content.source.size };
  const { members } = content.archive;
  let size = 0;
  for (const member of members.values()) size += member.size ?? 0;
  return { files: members.size, size };
}

/** `/-/import`: imports a site from a file of `/-/export`. */
export const importSite: Endpoint = {
  // Browsers without `Request.body` hold the blob in a file until the library reads it.
  POST: async (url, request, { library }) => {
    const expected = url.searchParams.has('address') ? addressIn(url) : undefined;
    return library.import(request.body ?? (await request.blob()).stream(), expected);
  },
};
