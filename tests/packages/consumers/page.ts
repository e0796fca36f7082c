import * as fetchPage from './fetch-page.js';
import * as publishPage from './publish-page.js';

/** The test in a browser calls these functions. */
const consumers = { fetchPage, publishPage };
Object.assign(globalThis, { consumers });
export type Consumers = typeof consumers;
