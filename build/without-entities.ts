import type { Plugin } from 'vite';

/**
 * The other exports of the module. The parser's module imports some of them, and the package's index imports
 * the rest.
 */
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
 * Replaces the decoder of character references in `htmlparser2`. The decoder contains the names of all HTML
 * references, 19 kB compressed. The worker does not decode references (`decodeEntities: false`, see
 * `document-head.ts`), so the parser never calls the decoder.
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
