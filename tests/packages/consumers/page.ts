import * as fetchPage from './fetch-page.js';

/** The test in a browser calls these functions. */
const consumers = { fetchPage };
Object.assign(globalThis, { consumers });
export type Consumers = typeof consumers;
