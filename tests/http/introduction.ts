/** What `docs/HTTP.md` begins with. */
export const introduction = `# HTTP, case by case

What the gateway answers, request by request. Each line is a case of \`tests/http/cases.ts\`, asked by a real
Chromium of the built worker, whose chunks come from a real peer. This file is written by that run, and a test
fails when it says anything else than the run gave:

\`\`\`sh
npx vite build && npx playwright test tests/http                # compares
npx vite build && UPDATE_DOCS=1 npx playwright test tests/http  # writes this file
\`\`\`

**How to read it.** \`{site}\` and the like stand for addresses of the fixtures in \`tests/http/fixtures.ts\`;
\`docs.site\`, \`bare\` and \`letters\` are names that the host's configuration gives to some of them. \`{etag}\` is the
ETag that a GET of the same path has, \`{etag /…}\` that of another path. *Open* means that a person goes there;
everything else is asked by a script. Redirects are not followed. What is not listed under *expected* may be anything.

**Against another gateway.** The cases that are not about Antway's own URLs, codes and policies can be asked of any
gateway that serves \`/<address>/<path>\` on a port:

\`\`\`sh
node tests/http/run.mjs --fixtures fixtures/                       # writes the fixtures as chunks
node tests/http/run.mjs --base http://127.0.0.1:18888              # asks, and prints what differs
node tests/http/run.mjs --base http://127.0.0.1:18888 --title AntTP --table answers.md
\`\`\`

The first writes \`fixtures/chunks/<address>\`, one file for each chunk and data map: store them where the other
gateway finds its chunks (a network of one's own, an object store, \`antway-peer serve --store\`). The addresses
are the same every time. The last writes this table with one more column, where \`–\` is a case that is not asked.
Paths are then sent as they stand, without what a browser makes of them, and *open* means the headers that
browsers send when they navigate.
`;
