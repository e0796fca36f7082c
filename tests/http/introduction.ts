/** What `docs/reference/http-cases.md` begins with. */
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
ETag that a GET of the same path has, \`{etag /…}\` that of another path. *Open* means that a user goes there;
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

**The URLs**, on the gateway's own origin. Where sites have origins of their own, a document that can run scripts is
at \`<base32>.<host>/<path>\`, and the first four lead there.

| URL | answer |
| --- | --- |
| \`/<address>\` | a file, or a record that is no data map: its bytes. An archive: a redirect to \`/<address>/\` |
| \`/<address>/<path>\` | a member, a folder's default document (\`index.html\`, or what the routes say) or its listing; what follows a plain file is only a name for it |
| \`/<address>/…\` of a pointer | the same, for what its owner's newest record leads to |
| \`/<name>/…\` | the same, for an address that the host's configuration names |
| \`?format=raw\`, \`json\`, \`tar\` | the record itself; a folder's listing; a folder as a tarchive |
| \`?filename=\`, \`?download\` | another name to save it by, and for a file without a name an inactive type; saved instead of shown |
| \`/-/…\` | the gateway's own endpoints, for its own pages only |
| everything else | the shell |

A request that fails gets a page if it navigates, and JSON otherwise. On a site's own origin it gets plain text in place of
JSON, and an HTML document that is shown begins with a script that the worker adds: [third-party-sites.md](third-party-sites.md).

**The gateway's own endpoints** take and give JSON, if nothing else is said. An address is 64 hex digits. A wrong
body is \`REFUSED\`, and what changes something answers 204 when there is nothing to say.

| endpoint | what it does |
| --- | --- |
| \`GET /-/health\` | which gateway answers, its version, and the hash of its build |
| \`GET /-/stats\` | everything that is counted since the worker started; \`?watch\` has it broadcast to pages from then on |
| \`GET /-/peers\` | the peers and how they fare |
| \`POST /-/test-peer\` | \`{url}\`: asks a peer whether it can be used |
| \`GET /-/cache\` | what is stored, its ceiling, and what the browser says of its storage |
| \`GET /-/config\` | the configuration in force, where each part of it is from, and what is wrong with the host's |
| \`GET\`, \`PUT /-/settings\` | what the user set over the host's configuration |
| \`GET\`, \`PUT /-/appearance\` | \`{language, theme}\` of the pages that the worker makes; null: the browser's, the system's |
| \`POST /-/reset\` | forgets what the user set, decided and opened; with \`{chunks: true}\` everything that is stored |
| \`GET\`, \`DELETE /-/sites\` | what was opened or pinned, how much of each is stored, and whether the browser keeps the site’s own origin (\`persisted\`); \`?address=\` removes one and those of its chunks that no pin holds |
| \`POST /-/visits\` | \`{address, path, name, title, icon, kind, lastOpened}\`, as \`/-/sites\` lists it: notes a visit from the library at another name of the gateway, unless a later one is known |
| \`DELETE /-/visits?address=\` | forgets that it was opened, and keeps its chunks |
| \`GET /-/pins\` | all pins with state, progress and problem; \`?watch\` as above |
| \`POST /-/pins\` | \`{address, action}\`, action is \`pin\`, \`pause\`, \`resume\` or \`verify\`: answers with the pin as it is then; what is to be done goes on by itself |
| \`DELETE /-/pins?address=\` | lets go of it; what no other pin holds is deleted |
| \`GET /-/export?address=\` | a site that is stored whole, as one tar; takes ranges |
| \`POST /-/import\` | such a tar as the body: every chunk is checked, the right ones are stored and pinned; answers \`{address, chunks, bytes, refused}\` |
| \`GET\`, \`POST\`, \`DELETE /-/trust\` | the decisions about scripts; \`{address, decision, allVersions?}\`, \`trusted\` or \`restricted\`, trust in a pointer for its content of now or for all versions; \`?address=\` takes one back, and loads that address's open pages anew |
| \`GET\`, \`POST\`, \`PUT\`, \`DELETE /-/origins\` | on the gateway's own origin: the origins of sites, and what a site's origin is told (\`?address=\`); notes one; notes what one said of itself, which lists the site once its origin stores some of it; forgets one |
| \`GET\`, \`PUT /-/origin\` | on a site's own origin: what is stored there; takes the user's settings and the site's manifest, as a form |
| \`/-/site\`, \`/-/bridge\`, \`/-/root\` | pages of the host by which the origins of sites and the gateway's reach each other |
| \`/-/move\` | a page of the host at \`antway.localhost\`, which takes over the library of the same gateway at \`127.0.0.1\` or \`localhost\` |
| \`POST /-/share\` | a form of \`url\`, \`text\` and \`title\`, as systems share with the installed app: leads to the start page, with them in the fragment |
| \`GET\`, \`POST\`, \`DELETE /-/manifests\` | the manifests that this browser keeps; one as the body (\`isKept\` is false where it keeps nothing, and only this worker has it); \`POST …?check\` describes one, tells by \`isKept\` whether it is stored, and stores nothing; \`?id=\` gives or removes one |

**What a table does not show**, and other tests do. A cold HEAD, 304, 416 or listing costs the data map, the first
chunk (is it an archive?) and an archive's last (its index), and a range besides only the chunks that it overlaps.
A name without a known extension costs the chunk that is looked at to tell its type. Inside an archive, that never
makes a page: such a file may be an upload. The first byte is sent as
soon as its chunk is there; an error after it breaks the body off. Chromium follows a link that has the attribute
\`download\` past every service worker: such a download fails. A link to \`?download\` without that attribute saves
the content.
`;
