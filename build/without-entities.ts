import type { Plugin } from 'vite';

/** The module's other exports. The parser's module imports some of them, and the package's index the rest. */
const unused = [
  'DecodingMode',
  'htmlDecodeTree',
  'xmlDecodeTree',
  'decodeHTML',
  'decodeHTMLAttribute',
  'decodeHTMLStrict',
  'decodeXML',
];

/**
 * `htmlparser2` brings a decoder of character references with the names of all of HTML's, 19 kB compressed. The worker
 * leaves references as they are (`decodeEntities: false`, see `document-head.ts`), so the parser never calls it.
 */
export const withoutEntities: Plugin = {
  name: 'antway:without-entities',
  enforce: 'pre',
  load: {
    filter: { id: /\/entities\/dist\/decode\.js$/ },
    handler: () => `export class EntityDecoder {}
export const ${unused.map((name) => `${name} = undefined`).join(', ')};`,
  },
};
