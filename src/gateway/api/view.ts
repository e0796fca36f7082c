import type { Endpoint } from './endpoint.ts';

/**
 * `/-/view?after=<sequence>&client=<id>`: the pages that frames of this origin show. With `any`, also pages that the browser
 * refused to show, or shows no more.
 */
export const view: Endpoint = {
  GET: ({ searchParams }, _request, { frames, isOpen }) =>
    frames.report(
      Number(searchParams.get('after')) || 0,
      searchParams.get('client') ?? '',
      searchParams.has('any') ? async () => true : isOpen,
    ),
};
