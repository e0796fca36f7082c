/** The beginning of `docs/reference/http-cases.md`. The rules behind the cases are in `docs/reference/http.md`. */
export const introduction = `# HTTP cases

Each line is a case of \`tests/http/cases.ts\`: a request to the gateway and the answer to expect. [HTTP](http.md) states
the rules. A gateway in Node answers each request. That run writes this file, and a test fails if the file differs from
the run:

\`\`\`sh
npx vitest run tests/unit/http-cases                # compares
UPDATE_DOCS=1 npx vitest run tests/unit/http-cases  # writes this file
\`\`\`

A real Chromium also sends the requests to the built worker, which reads chunks from a real peer. \`npm test\` sends only
navigations, \`HEAD\`, ranges and streams. \`npm run test:full\` sends all cases, and compares the file, too:

\`\`\`sh
npx vite build && npx playwright test tests/http
\`\`\`

**How to read the tables.** Words in braces, such as \`{site}\`, stand for addresses of the fixtures in
\`tests/http/fixtures.ts\`. The server configuration gives the names \`docs.site\`, \`bare\` and \`letters\` to three of them.
\`{etag}\` is the ETag of a GET of the same path, \`{etag /…}\` that of another path. *Open* is a navigation by the user. A
script sends all other requests. Redirects are not followed. The test does not compare headers that the column
*expected* does not list.

**Against another gateway.** The cases that do not concern Antway's own URLs, codes and policies can be sent to any
gateway that serves \`/<address>/<path>\` on a port:

\`\`\`sh
node tests/http/run.mjs --fixtures fixtures/                       # writes the fixtures as chunks
node tests/http/run.mjs --base http://127.0.0.1:18888              # sends the requests, prints the differences
node tests/http/run.mjs --base http://127.0.0.1:18888 --title AntTP --table answers.md
\`\`\`

The first command writes \`fixtures/chunks/<address>\`, one file for each chunk and data map. Store these files where the
other gateway finds its chunks: in a private network, in an object store, or with \`antway-peer serve --store\`. The
addresses are the same in every run. The last command writes this table with one more column, in which \`–\` marks a case
that was not sent. This command sends paths as they are written, without the browser's normalisation, and sends the
headers of a browser's navigation for *open*.
`;
