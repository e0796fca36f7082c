/** `import { createAntway } from 'antway'`: for bundles of sites, and for the servers that render their pages. */
import { type Antway, createAntway as createInPage } from './antway.ts';
import type { DropInOptions } from './options.ts';
import { withoutPage } from './without-page.ts';

export {
  type Antway,
  DropInError,
  type DropInErrorCode,
  type DropInOptions,
  type Pin,
  type PinState,
  type ServerConfig,
  type StatsSnapshot,
} from './antway.ts';

/**
 * Registers the worker and makes content addresses work in this page. Call it once.
 *
 * It never throws: `ready` rejects with the error. The error is also written to the console, and sent as the event
 * `antway:error` of the document. The event `antway:ready` is sent on success. Without a page, such as in a server that renders
 * pages, it has no effect: `ready` rejects with `NO_PAGE`, and `url` returns a path.
 */
export function createAntway(options: DropInOptions = {}): Antway {
  return typeof document === 'undefined' ? withoutPage(options, String) : createInPage(options);
}
