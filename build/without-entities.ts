import type { Plugin } from 'vite';

/**
 * `htmlparser2` brings the names of all of HTML's character references, 16 kB compressed. The worker leaves references
 * as they are (`document-head.ts`), so the table of XML's five stands in its place.
 */
export const withoutEntities: Plugin = {
  name: 'antway:without-entities',
  enforce: 'pre',
  load: {
    filter: { id: /\/entities\/dist\/generated\/decode-data-html\.js$/ },
    handler: () => 'export { xmlDecodeTree as htmlDecodeTree } from "./decode-data-xml.js";',
  },
};
