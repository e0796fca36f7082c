import { version } from '../version.ts';
import { urlOf, withoutDots } from './content-uri.ts';
import { DropInError } from './error.ts';
import type { DropInOptions } from './options.ts';

/**
 * The API in a program without a page, such as a server that renders pages. Nothing is registered or logged.
 * @param textOf returns content as an address, a name or an `ant://` link.
 */
export function withoutPage<Content>(options: DropInOptions, textOf: (content: Content) => string) {
  const nowhere = 'https://page.invalid';
  const script = options.worker === 'none' ? nowhere : new URL(options.worker ?? 'antway-sw.js', nowhere);
  const scope = new URL(options.scope ?? (options.worker === 'none' ? '/' : './'), script);
  const prefix = new URL(options.prefix ?? 'ant/', scope).pathname;
  const error = new DropInError(
    'NO_PAGE',
    'Antway works in the pages of browsers: this program has no page.',
  );
  const ready: Promise<never> = Promise.reject(error);
  ready.catch(() => undefined); // its users get the error
  const fail = () => ready;
  return {
    version,
    ready,
    url(content: Content, path = ''): string {
      const names = options.config?.names ?? {};
      const ending = path && withoutDots(`/${path.split('/').map(encodeURIComponent).join('/')}`);
      return urlOf(textOf(content), prefix, null, {}, names) + ending;
    },
    watch: () => undefined,
    ...{ fetch: fail, pin: fail, unpin: fail, pins: fail, stats: fail },
  };
}
