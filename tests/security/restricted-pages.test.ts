import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import type { Files } from '../support/tar.ts';
import { attack, attacks, verdict } from './attack.ts';
import { Outside, picture, ran, type Scene, scenesOfAttacks } from './hostile-site.ts';

const scenes = scenesOfAttacks();

const scripts = 'Scripts of a page without trust';
const nothingRuns = 'No script runs.';

/** Says in the console that a script of the attack with this number ran. */
type Ran = (what: string) => string;

interface ScriptAttack {
  name: string;
  /** The part of the start page that makes the attack. The rest of the page belongs to other attacks. */
  body?: (ran: Ran) => string;
  files?: (ran: Ran) => Files;
  /** Documents to visit beside the start page. */
  paths?: readonly string[];
  /** The element that the page lures the user to click. */
  clicks?: readonly string[];
  /** The message of the attack once the user trusts the site: then it works. Empty if browsers never run it. */
  runsWithTrust: readonly string[];
}

const page = (body: string) => `<!doctype html><title>Hostile</title>${body}`;
const xhtmlScript = (script: string) => `<script xmlns="http://www.w3.org/1999/xhtml">${script}</script>`;
const nestedFrame = (ran: Ran) =>
  `<iframe srcdoc="<script>${ran('srcdoc')}</script><iframe srcdoc='&lt;img src=x onerror=&quot;${ran('nested').replaceAll("'", '`')}&quot;&gt;'></iframe>"></iframe>`;

const scriptAttacks: readonly ScriptAttack[] = [
  {
    // In front of the others: an import map has to come before the modules.
    name: 'import maps, `modulepreload` and a declarative shadow root',
    body: (ran) =>
      `<script type="importmap">{"imports":{"x":"./mapped.js"}}</script><link rel="modulepreload" href="mapped.js"><script type="module">import 'x'</script><div><template shadowrootmode="open"><script>${ran('shadow')}</script><img src="none" onerror="${ran('shadow handler')}"></template></div>`,
    files: (ran) => ({ 'mapped.js': ran('mapped') }),
    runsWithTrust: ['mapped', 'shadow', 'shadow handler'],
  },
  {
    name: 'inline, external, module and `data:` scripts',
    body: (ran) =>
      `<script>${ran('inline')}</script><script src="x.js"></script><script type="module" src="m.js"></script><script src="data:text/javascript,${ran('data')}"></script>`,
    files: (ran) => ({ 'x.js': ran('external'), 'm.js': ran('module') }),
    runsWithTrust: ['inline', 'external', 'module', 'data'],
  },
  {
    name: 'event handlers of every kind of element',
    body: (ran) =>
      `<body onload="${ran('load')}"><img src="none" onerror="${ran('error')}"><details open ontoggle="${ran('toggle')}"></details><svg onload="${ran('svg')}"></svg><style onload="${ran('style')}"></style><input onfocus="${ran('focus')}" autofocus>`,
    runsWithTrust: ['load', 'error', 'toggle', 'svg', 'style'],
  },
  {
    name: '`javascript:` links, also in SVG, animated, and for a new tab that leaves the sandbox',
    body: (ran) =>
      `<br><a href="javascript:${ran('link')}">a link</a><br><a href="javascript:${ran('tab')}" target="_blank" rel="opener">a tab</a>
<svg width="99" height="99"><a xlink:href="javascript:${ran('svg link')}"><text y="20">in svg</text></a>
<a><set attributeName="href" to="javascript:${ran('set')}"/><text y="60">animated</text></a></svg>`,
    clicks: ['a link', 'in svg', 'animated', 'a tab'],
    runsWithTrust: ['link', 'svg link'],
  },
  {
    name: '`javascript:` as a form’s action, and as a button’s own',
    body: (ran) =>
      `<form action="javascript:${ran('action')}"><button>send</button><button formaction="javascript:${ran('formaction')}">other</button></form>`,
    clicks: ['send', 'other'],
    runsWithTrust: ['action'],
  },
  {
    name: 'an SVG document',
    files: (ran) => ({
      'd.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="${ran('handler')}"><script>${ran('script')}</script><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" srcdoc="&lt;script>${ran('foreign')}&lt;/script>"/></foreignObject></svg>`,
    }),
    paths: ['d.svg'],
    runsWithTrust: ['handler', 'script', 'foreign'],
  },
  {
    name: 'XHTML and XML documents',
    files: (ran) => ({
      'd.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><body>${xhtmlScript(ran('xhtml'))}</body></html>`,
      'd.xml': `<?xml version="1.0"?><a>${xhtmlScript(ran('xml'))}</a>`,
    }),
    paths: ['d.xhtml', 'd.xml'],
    runsWithTrust: ['xhtml', 'xml'],
  },
  {
    name: 'documents of other `+xml` types: RSS, Atom, MathML, RDF, XSLT',
    files: (ran) =>
      Object.fromEntries(
        ['rss', 'atom', 'mathml', 'rdf', 'xslt', 'xsl'].map((type) => [
          `d.${type}`,
          `<?xml version="1.0"?><a>${xhtmlScript(ran(type))}</a>`,
        ]),
      ),
    paths: ['d.rss', 'd.atom', 'd.mathml', 'd.rdf', 'd.xslt', 'd.xsl'],
    runsWithTrust: ['rss', 'atom', 'xslt', 'xsl'],
  },
  {
    name: 'an XSLT stylesheet that makes a page with scripts, `<?xml-stylesheet?>`',
    files: (ran) => ({
      'styled.xml': '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="x.xsl"?><a/>',
      'x.xsl': `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><body><script>${ran('xslt')}</script></body></html></xsl:template></xsl:stylesheet>`,
    }),
    paths: ['styled.xml'],
    runsWithTrust: ['xslt'],
  },
  {
    name: 'an MHTML archive',
    files: (ran) => ({
      'd.mhtml': `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<script>${ran('mhtml')}</script>\r\n--b--\r\n`,
    }),
    paths: ['d.mhtml'],
    runsWithTrust: [],
  },
  {
    name: 'HTML in a file without an extension, and as `404.html`',
    files: (ran) => ({
      untold: page(`<script>${ran('sniffed')}</script>`),
      '404.html': page(`<script>${ran('404')}</script>`),
    }),
    paths: ['untold', 'none'],
    runsWithTrust: ['404'],
  },
  {
    name: '`srcdoc` frames, one inside the other',
    body: nestedFrame,
    runsWithTrust: ['srcdoc', 'nested'],
  },
  {
    name: '`data:` and `javascript:` frames',
    body: (ran) =>
      `<iframe src="data:text/html,<script>${ran('data')}</script>"></iframe><iframe src="javascript:${ran('javascript')}"></iframe><iframe src="about:blank" onload="${ran('blank')}"></iframe>`,
    runsWithTrust: ['data', 'javascript', 'blank'],
  },
  {
    name: 'SVG and HTML as image, object, embed, applet, frame and `<use>`',
    body: () =>
      `<img src="x.svg"><object data="x.svg"></object><embed src="x.svg"><applet code="x.svg"></applet><object data="x.html"></object><embed src="x.html"><iframe src="x.svg"></iframe><iframe src="x.html"></iframe><svg><use href="x.svg#s"/></svg>`,
    files: (ran) => ({
      'x.svg': `<svg xmlns="http://www.w3.org/2000/svg" id="s" onload="${ran('svg')}"><script>${ran('svg script')}</script></svg>`,
      'x.html': `<script>${ran('html')}</script>`,
    }),
    runsWithTrust: ['svg', 'svg script', 'html'],
  },
  {
    name: 'workers from a file, a `blob:` and a `SharedWorker`, and a worklet',
    body: (ran) =>
      `<script>new Worker('w.js'); new Worker(URL.createObjectURL(new Blob(["${ran('blob')}"]))); new SharedWorker('s.js').port.onmessage = () => ${ran('shared')}; CSS.paintWorklet?.addModule('w.js').then(() => ${ran('worklet')})</script>`,
    files: (ran) => ({
      'w.js': ran('worker'),
      's.js': 'onconnect = ({ ports }) => ports[0].postMessage(1)',
    }),
    runsWithTrust: ['worker', 'blob', 'shared'],
  },
  {
    // In a page of its own, which this policy restricts further once the site has trust.
    name: 'a policy of its own: `<meta http-equiv>`, `<iframe csp>`, `<iframe allow>`',
    files: (ran) => ({
      'policy.html': page(
        `<meta http-equiv="Content-Security-Policy" content="script-src * 'unsafe-inline'"><iframe csp="script-src * 'unsafe-inline'" allow="scripts *" sandbox="allow-scripts allow-same-origin" src="framed.html"></iframe><script>${ran('loosened')}</script>`,
      ),
      'framed.html': `<script>${ran('framed')}</script>`,
    }),
    paths: ['policy.html'],
    runsWithTrust: ['loosened'],
  },
  {
    name: 'a refresh to a `javascript:` or `data:` URL',
    files: (ran) => ({
      'refresh.html': page(`<meta http-equiv="refresh" content="0;url=javascript:${ran('refresh')}">`),
      'data.html': page(
        `<meta http-equiv="refresh" content="0;url=data:text/html,<script>${ran('data')}</script>">`,
      ),
    }),
    paths: ['refresh.html', 'data.html'],
    runsWithTrust: [],
  },
];

attacks(
  scripts,
  'a site with all ways to run one',
  scriptAttacks.map(({ name }) => ({ name, outcome: nothingRuns })),
  async () => {
    const scene = await scenes('worker');
    const message = (attack: number, what: string) => `${attack}: ${what}`;
    const ranOf = (attack: number) => (what: string) => ran(message(attack, what));
    const start = page(scriptAttacks.map(({ body }, i) => body?.(ranOf(i)) ?? '').join('\n'));
    const files = scriptAttacks.flatMap(({ files }, i) => Object.entries(files?.(ranOf(i)) ?? {}));
    const address = await scene.publish({ ...Object.fromEntries(files), 'index.html': start }, 'restricted');
    const visitAll = async () => {
      const tab = await open(scene, `/${address}/`);
      for (const text of scriptAttacks.flatMap(({ clicks = [] }) => clicks))
        await tab.getByText(text).click();
      await scene.settled(tab);
      for (const path of scriptAttacks.flatMap(({ paths = [] }) => paths)) {
        // In a window of its own: a page that saves a file would interrupt the next navigation.
        const document = await open(scene, `/${address}/${path}`);
        await scene.settled(document);
      }
    };
    await visitAll();
    for (const [i, { name }] of scriptAttacks.entries()) {
      const own = scene.messages.filter((text) => text.startsWith(`RAN ${message(i, '')}`));
      verdict(own, name).toEqual([]);
    }
    expect(scene.messages).toEqual([]);
    // The same visits with trust: the refused scripts run now, so the attacks themselves are sound.
    await scene.decide(address, 'trusted');
    await visitAll();
    const expected = scriptAttacks.flatMap(({ runsWithTrust }, i) =>
      runsWithTrust.map((what) => `RAN ${message(i, what)}`),
    );
    await expect.poll(() => scene.messages).toEqual(expect.arrayContaining(expected));
  },
);

/** Follows a link of the gateway to a document that may turn out to be a download. */
async function load(page: Page, url: string): Promise<void> {
  await page.goto(url, { referer: `${new URL(url).origin}/` }).catch((error: Error) => {
    if (!/Download is starting|ERR_ABORTED/.test(error.message)) throw error;
  });
}

async function open(scene: Scene, path: string): Promise<Page> {
  const page = await scene.context.newPage();
  await load(page, scene.gateway.url + path);
  return page;
}

const takeover = 'The installed app and the gateway’s origin';

attack(
  takeover,
  'A page links a web app manifest with the app’s own `id` and `scope`',
  'The browser sees no manifest.',
  async () => {
    const scene = await scenes('worker');
    const address = await scene.publish(
      {
        'index.html': page(
          '<link rel="manifest" href="app.webmanifest"><link rel="manifest" href="/manifest.webmanifest">',
        ),
        'app.webmanifest': JSON.stringify({ id: '/', scope: '/', start_url: './', name: 'Antway' }),
      },
      'restricted',
    );
    const manifestOf = async () => {
      const page = await scene.visit(`/${address}/`);
      const session = await scene.context.newCDPSession(page);
      const { data } = await session.send('Page.getAppManifest');
      return data ?? '';
    };
    expect(await manifestOf()).not.toContain('Antway');
    await scene.decide(address, 'trusted');
    expect(await manifestOf()).toContain('"scope":"/"');
  },
);

attack(
  takeover,
  'A page sets a cookie by `<meta http-equiv="set-cookie">`',
  'The origin has no cookie.',
  async () => {
    const scene = await scenes('worker');
    const address = await scene.publish(
      { 'index.html': page('<meta http-equiv="set-cookie" content="a=b; path=/">') },
      'restricted',
    );
    await scene.visit(`/${address}/`);
    expect(await scene.context.cookies()).toEqual([]);
  },
);

attack(
  takeover,
  'A page asks for permissions of the origin by elements that need no script',
  'The permissions are off in the document.',
  async () => {
    const scene = await scenes('worker');
    const address = await scene.publish(
      { 'index.html': page('<geolocation></geolocation><usermedia></usermedia><install></install>') },
      'restricted',
    );
    const allowed = async () => {
      const page = await scene.visit(`/${address}/`);
      const session = await scene.context.newCDPSession(page);
      const { frameTree } = await session.send('Page.getFrameTree');
      const { states } = await session.send('Page.getPermissionsPolicyState', {
        frameId: frameTree.frame.id,
      });
      const asked: readonly string[] = ['geolocation', 'camera', 'microphone'];
      return states.filter(({ feature }) => asked.includes(feature)).map(({ allowed }) => allowed);
    };
    expect(await allowed()).toEqual([false, false, false]);
    await scene.decide(address, 'trusted');
    expect(await allowed()).toEqual([true, true, true]);
  },
);

attack(
  takeover,
  'A page without trust is used as script, worker or style by a page of the gateway',
  'The worker refuses the file.',
  async () => {
    const scene = await scenes('worker');
    const address = await scene.publish({ 'x.js': ran('injected'), 'p.svg': picture }, 'restricted');
    // No policy of this page could refuse the file before the worker.
    const { shell } = scene.gateway;
    const load = (path: string) =>
      shell.evaluate(
        (src) =>
          new Promise((resolve) => {
            const script = document.createElement('script');
            Object.assign(script, { src, onload: () => resolve('ran'), onerror: () => resolve('refused') });
            document.head.append(script);
          }),
        path,
      );
    expect(await load(`/${address}/x.js`)).toBe('refused');
    expect(scene.messages).toEqual([]);
    // It is the destination that counts: as data the file is there.
    expect((await scene.gateway.fetch(`/${address}/x.js`)).status).toBe(200);
    await scene.decide(address, 'trusted');
    const page = await scene.visit(
      `/${await scene.publish({ 'index.html': pageWith(address) }, 'trusted')}/`,
    );
    await expect.poll(() => scene.messages).toEqual(['RAN injected']);
    await page.close();
  },
);

function pageWith(address: string): string {
  return page(`<script src="/${address}/x.js"></script>`);
}

attack(
  'The canary',
  'A browser refuses a page that has both a sandbox and an opener policy',
  'The page loads, and its picture, style and frame come from the worker.',
  async () => {
    const scene = await scenes('worker');
    await using outside = await Outside.start();
    const address = await scene.publish(
      {
        'index.html': page(
          `<link rel="stylesheet" href="s.css"><img src="p.svg"><iframe src="f.html"></iframe><a href="f.html">on</a> <a href="${outside.url}/linked">out</a>`,
        ),
        's.css': 'img { opacity: .5 }',
        'p.svg': picture,
        'f.html': page('<img src="p.svg">'),
      },
      'restricted',
    );
    const tab = await scene.context.newPage();
    // A link of the gateway. After files that the browser saved, a page leads on from other websites.
    const referer = `${scene.gateway.url}/`;
    const response = await tab.goto(`${scene.gateway.url}/${address}/`, { referer });
    const headers = response!.headers();
    expect(headers['content-security-policy']).toMatch(/; sandbox allow-same-origin [^;]*$/);
    expect(headers['content-security-policy']).not.toContain('allow-scripts');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
    await scene.settled(tab);
    const looks = { width: 7, opacity: '0.5' };
    const look = () =>
      tab.evaluate(() => {
        const image = document.images[0]!;
        return { width: image.naturalWidth, opacity: getComputedStyle(image).opacity };
      });
    expect(await look()).toEqual(looks);
    const frame = tab.frames()[1]!;
    expect(await frame.evaluate(() => document.images[0]!.naturalWidth)).toBe(7);
    await tab.getByText('on', { exact: true }).click();
    await tab.waitForURL(/f\.html$/);
    await scene.settled(tab);
    expect(await tab.evaluate(() => document.images[0]!.naturalWidth)).toBe(7);
    // Links of a click lead on, to other sites as well.
    await tab.goBack();
    await tab.getByText('out', { exact: true }).click();
    await expect(tab).toHaveTitle('Outside');
  },
  { alsoIn: ['Firefox', 'WebKitGTK'] },
);
