/**
 * The folders with mutation tests, and the files of unit tests for each.
 *
 * These files test the folder itself, in this process. Stryker runs all tests that reach a mutant until one fails, so the
 * tests of the layers above would multiply the time.
 */
export const folders = {
  'src/self-encryption': [
    ...['aead', 'codec', 'data-map', 'encrypter-pool', 'kernel', 'message-pack', 'self-encryption', 'turn'],
  ],
  'src/archive': [
    ...['create-tar', 'forward-access', 'list-tar', 'member-path', 'pax', 'tar-header'],
    ...['tar-index', 'zip-directory'],
  ],
  'src/gateway/http': [
    ...['conditions', 'content-response', 'content-type', 'disposition', 'document-head', 'envelope'],
    ...['html-tokens', 'observe-request', 'policy', 'range', 'representation', 'request-kinds', 'target'],
  ],
  'src/peers/selection': [
    ...['busy-peers', 'circuit-breaker', 'fetch-failure', 'hedge', 'peer-health', 'peer-pool'],
    ...['peers-of-peers', 'pending-lookups', 'ranking'],
  ],
  'src/chunks': ['chunks', 'indexed-db-store', 'read-queue', 'write-queue'],
  'src/content': ['archive', 'glob', 'manifest', 'redirects', 'route-map'],
};

/** Parts of the names of tests that mutation tests skip: they take seconds, and others reach the same lines. */
export const slowTests = [
  'holds twenty thousand members',
  'and to hold more members than readers accept',
  'may have 100,000 entries',
  'ends after a bounded number of headers when a tar consists of folders',
  'of hostile text is read in time proportional to its length',
  'is given up past 64 MiB',
];
