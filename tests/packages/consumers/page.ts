import * as fetchPage from './fetch-page.js';
import * as pageData from './page-data.js';
import * as pagePage from './page-page.js';
import * as publishNetwork from './publish-network.js';
import * as publishPage from './publish-page.js';
import * as publishS3 from './publish-s3.js';

/** The test in a browser calls these functions. */
const consumers = { fetchPage, pageData, pagePage, publishNetwork, publishPage, publishS3 };
Object.assign(globalThis, { consumers });
export type Consumers = typeof consumers;
