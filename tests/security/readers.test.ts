import type { Page } from '@playwright/test';
import { expect, type Gateway, type SceneParts, sceneOfFile, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import type { Files } from '../support/tar.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { attack } from './attack.ts';
import { hadItsTurn, Outside, picture, ran } from './hostile-site.ts';

const group = 'The readers of the app';

/** A reader in the shell. The attacks share it. */
class Reader {
  /** Everything that scripts have said since the attack began, and all dialogs that have appeared. */
  readonly messages: string[] = [];
  #documents = 0;

  private constructor(
    readonly gateway: Gateway,
    readonly page: Page,
    private readonly peer: PeerProcess,
  ) {
    page.context().on('console', (message) => {
      if (message.text().startsWith('RAN ')) this.messages.push(message.text());
    });
    page.on('dialog', (dialog) => {
      this.messages.push(`RAN ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  static async open({ startPeer, openGateway }: SceneParts): Promise<Reader> {
    const peer = await startPeer();
    const gateway = await openGateway({ peers: [peer.url] });
    return new Reader(gateway, gateway.shell, peer);
  }

  async publish(files: Files): Promise<string> {
    return publish(await makeTarchive(files), this.peer);
  }

  publishFile(content: string | Buffer): Promise<string> {
    return publish(Buffer.from(content), this.peer);
  }

  /** Shows a path. The screen before it is the start page, which has nothing that a test could take for the reader's. */
  async show(path: string): Promise<void> {
    await this.page.evaluate(() => {
      location.hash = '';
    });
    await expect(this.page.getByRole('heading', { name: 'Explore the Autonomi network' })).toBeVisible();
    await this.page.goto(`${this.gateway.url}/#read=${path}`);
  }

  /** Shows Markdown and waits until the document is there. */
  async showMarkdown(text: string): Promise<void> {
    // In front of the text, because some attacks swallow what follows.
    const start = `THE START ${++this.#documents}`;
    const site = await this.publish({ 'a.md': `${start}\n\n${text}\n`, 'p.svg': picture });
    await this.show(`${site}/a.md`);
    await expect(this.page.frameLocator('.document-frame').getByText(start)).toBeVisible();
  }

  /** Elements and attributes of the document. */
  outline(): Promise<string[]> {
    return this.page.locator('.document-frame').evaluate((frame: HTMLIFrameElement) => {
      const all = [...frame.contentDocument!.body.querySelectorAll('*')];
      return all.flatMap(({ localName, attributes }) => [
        localName,
        ...Array.from(attributes, ({ name, value }) => `${localName}[${name}=${value}]`),
      ]);
    });
  }

  async expectUnharmed(): Promise<void> {
    await hadItsTurn(this.page);
    expect(this.messages).toEqual([]);
    expect(new URL(this.page.url()).origin).toBe(this.gateway.url);
    await expect(this.page.getByRole('navigation')).toBeVisible();
    expect(await this.page.evaluate(() => Object.keys(Object.prototype))).toEqual([]);
  }
}

const sharedReader = sceneOfFile((parts) => Reader.open(parts));

/** The reader, without messages of an earlier attack. */
function quietReader(): Reader {
  const quiet = sharedReader();
  quiet.messages.length = 0;
  return quiet;
}

const js = ran('markdown');
const attribute = js.replaceAll("'", '&#39;');

/** HTML in Markdown that runs a script in some parser, sanitiser or browser. */
const scripts = [
  `<script>${js}</script>`,
  `<img src=x onerror="${attribute}">`,
  `<svg onload="${attribute}"><script>${js}</script></svg>`,
  `<svg><a xlink:href="javascript:${attribute}"><text y="9">click</text></a></svg>`,
  `<svg><animate onbegin="${attribute}" attributeName=x dur=1s></svg>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='${attribute}'/></svg>#x"/></svg>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${attribute}&gt;">`,
  `<math><mi//xlink:href="data:x,<script>${js}</script>">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror="${attribute}">`,
  `<svg></p><style><a id="</style><img src=1 onerror=${attribute}>">`,
  `<noscript><p title="</noscript><img src=x onerror=${attribute}>">`,
  `<noembed><img title="</noembed><img src onerror=${attribute}>">`,
  `<xmp><p title="</xmp><img src=x onerror=${attribute}>">`,
  `<textarea><img title="</textarea><img src=x onerror=${attribute}>">`,
  `<template><img src=x onerror="${attribute}"></template>`,
  `<template shadowrootmode=open><img src=x onerror="${attribute}"></template>`,
  `<select><template><style><!--</style><a rel="--></style></template></select><img src onerror=${attribute}>">`,
  `<details open ontoggle="${attribute}"><summary>s</summary></details>`,
  `<video autoplay onloadstart="${attribute}"><source src=x onerror="${attribute}"></video>`,
  `<audio src=x onerror="${attribute}"></audio>`,
  `<body onload="${attribute}">`,
  `<marquee onstart="${attribute}">m</marquee>`,
  `<input autofocus onfocus="${attribute}">`,
  `<iframe srcdoc="<script>${attribute}</script>"></iframe>`,
  `<iframe src="javascript:${attribute}"></iframe>`,
  `<object data="javascript:${attribute}"></object><embed src="javascript:${attribute}">`,
  `<a href="javascript:${attribute}">click</a>`,
  `<a href="java\tscript:${attribute}">click</a>`,
  `<a href="&#106;avascript:${attribute}">click</a>`,
  `<a href="\u0001javascript:${attribute}">click</a>`,
  `<a href="data:text/html,<script>${attribute}</script>">click</a>`,
  `<a href="vbscript:${attribute}">click</a>`,
  `<a href="blob:x">click</a> <a href="filesystem:x">click</a>`,
  `[click](javascript:${encodeURIComponent(js)})`,
  `[click](<java\nscript:${js}>)`,
  `![x](javascript:${encodeURIComponent(js)})`,
  `![a" onerror="${attribute}](p.svg)`,
  `[a](p.svg "t\\" onclick=\\"${attribute}")`,
  `<https://a.example/"onclick="${attribute}>`,
  `\`\`\`html" onclick="${attribute}\n<script>${js}</script>\n\`\`\``,
  `<p id="a" style="background:url(javascript:${attribute})" class="x" onclick="${attribute}">p</p>`,
  `<custom-element is="x" onclick="${attribute}">c</custom-element>`,
  `<plaintext hidden><script>${js}</script>`,
];

attack(
  group,
  `a Markdown document with ${scripts.length} ways to run a script: handlers, links, drawings, formulas, parser differences`,
  'only elements of text remain, and none of the links leads to a script',
  async () => {
    const reader = quietReader();
    // Separate documents: an element of one attack must not hide the next one.
    const count = process.env.ANTWAY_TIER === 'default' ? 15 : 7;
    for (let at = 0; at < scripts.length; at += count) {
      await reader.showMarkdown(scripts.slice(at, at + count).join('\n\n'));
      const outline = await reader.outline();
      const allowed =
        /^(?:main|div|a|p|br|h\d|img|pre|code|ul|ol|li|em|strong|del|table|t\w+|details|summary|blockquote|span|hr|sub|sup)(?:\[(?:href|src|alt|title|id|name|target|rel|open|class=(?:table-frame|missing)|tabindex)\b.*)?$/s;
      expect(outline.filter((part) => !allowed.test(part))).toEqual([]);
      expect(
        outline.filter((part) => /script:|data:text|\[on/i.test(part.replace(/\[(?:alt|title)=.*/s, ''))),
      ).toEqual([]);
      for (const link of await reader.page.frameLocator('.document-frame').getByText('click').all()) {
        await link.click({ timeout: 2_000, force: true });
      }
      await reader.expectUnharmed();
    }
  },
);

attack(
  group,
  'a Markdown document loads pictures, styles, fonts and frames of another host, redirects, preconnects and pings',
  'no request leaves; a picture of another host is a link',
  async () => {
    const reader = quietReader();
    await using outside = await Outside.start();
    const to = outside.url;
    await reader.showMarkdown(`
![a](${to}/md) <img src="${to}/img" srcset="${to}/srcset 2x"> <picture><source srcset="${to}/source"><img src="${to}/inner"></picture>
![b](//${new URL(to).host}/relative) <img src="\\\\${new URL(to).host}/backslash">

<style>@import "${to}/import"; body { background: url(${to}/css) } a[href^="a"] { background: url(${to}/leak) }</style>
<p style="background:url(${to}/style)" background="${to}/background">p</p>
<table background="${to}/table"><tr><td background="${to}/td">t</td></tr></table>
<link rel="stylesheet" href="${to}/link"><link rel="preconnect" href="${to}"><link rel="prefetch" href="${to}/prefetch">
<meta http-equiv="refresh" content="0;url=${to}/refresh">
<iframe src="${to}/frame"></iframe><object data="${to}/object"></object><embed src="${to}/embed">
<video poster="${to}/poster" src="${to}/video"></video><audio src="${to}/audio"></audio>
<svg><image href="${to}/svg"/><use href="${to}/use#x"/></svg><input type="image" src="${to}/input">
<blockquote cite="${to}/cite">q</blockquote><base href="${to}/base/"><img src="based.png"><a ping="${to}/ping" href="p.svg">ping</a>
`);
    await reader.expectUnharmed();
    expect(await outside.reachedSoFar(reader.page.context())).toEqual([]);
    const links = reader.page.frameLocator('.document-frame').locator(`a[href^="${to}"]`);
    expect(await links.count()).toBeGreaterThan(1);
    for (const link of await links.all()) await expect(link).toHaveAttribute('rel', 'noopener noreferrer');
  },
);

attack(
  group,
  'a Markdown document with forms, and with names that replace properties of the document',
  'there is no form, and every name has a prefix',
  async () => {
    const reader = quietReader();
    const names = [
      'body',
      'defaultView',
      'getElementById',
      'adoptedStyleSheets',
      'documentElement',
      'cookie',
    ];
    await reader.showMarkdown(`
<form id="attributes" action="/-/reset" method="post"><input name="nodeName"><button formaction="/-/reset">send</button></form>
${names.map((name) => `<img name="${name}" id="${name}" alt="${name}"><a id="${name}" name="${name}">x</a>`).join('\n')}
<a id="antway"></a><a id="antway" name="x"></a>
`);
    const outline = await reader.outline();
    expect(outline.filter((part) => /^(?:form|input|button|select|textarea)\b/.test(part))).toEqual([]);
    const given = outline.filter((part) => /\[(?:id|name)=/.test(part));
    expect(given.length).toBeGreaterThan(names.length);
    expect(given.filter((part) => !/=user-content-/.test(part))).toEqual([]);
    await reader.expectUnharmed();
  },
);

attack(
  group,
  'hostile HTML that the sanitiser would let through: put into the document as it is',
  'the sandbox runs no script and sends no form, and the policy allows no request',
  async () => {
    const reader = quietReader();
    await using outside = await Outside.start();
    await reader.showMarkdown('text');
    const top = reader.page.url();
    await reader.page.locator('.document-frame').evaluate(
      (frame: HTMLIFrameElement, [js, to]) => {
        const inside = frame.contentDocument!;
        const place = inside.createElement('div');
        inside.body.append(place);
        place.innerHTML = `<img src=x onerror="${js}"><svg onload="${js}"></svg><details open ontoggle="${js}"></details>
<img src="${to}/img"><img src="/-/config"><link rel=stylesheet href="${to}/css"><iframe src="/"></iframe><iframe srcdoc="<script>parent.${js}</script>"></iframe>
<iframe src="${to}/frame"></iframe><object data="${to}/object"></object><form action="${to}/form"><button id="send">send</button></form>
<a id="script" href="javascript:${js}">script</a><a id="top" target="_top" href="javascript:${js}">top</a>
<base href="${to}/"><style>@import "${to}/import"; body { background: url(${to}/style) }</style><video src="${to}/video"></video>`;
        const script = inside.createElement('script');
        script.textContent = js!;
        inside.body.append(script);
        const module = inside.createElement('script');
        module.type = 'module';
        module.src = `${to}/module`;
        inside.body.append(module);
      },
      [ran('bypass'), outside.url] as const,
    );
    const inside = reader.page.frameLocator('.document-frame');
    for (const id of ['send', 'script', 'top']) await inside.locator(`#${id}`).click({ force: true });
    await reader.expectUnharmed();
    expect(await outside.reachedSoFar(reader.page.context())).toEqual([]);
    expect(reader.page.url()).toBe(top);
  },
);

attack(
  group,
  'a Markdown document whose parser would work for minutes: deep quotes, open brackets, emphasis, tables',
  'the worker is stopped, or the text is shown as it is; the app answers meanwhile',
  async () => {
    test.setTimeout(180_000);
    const reader = quietReader();
    const bombs = {
      'quotes.md': '>'.repeat(200_000),
      'brackets.md': '['.repeat(100_000),
      'emphasis.md': `${'*a_ '.repeat(60_000)}`,
      'lists.md': Array.from({ length: 2_000 }, (_, i) => `${' '.repeat(i * 2)}- a`).join('\n'),
      'table.md': `|${'a|'.repeat(20_000)}\n|${'-|'.repeat(20_000)}\n`,
      'html.md': '<div>'.repeat(100_000),
    };
    const site = await reader.publish(bombs);
    for (const name of Object.keys(bombs)) {
      await reader.show(`${site}/${name}`);
      const shown = reader.page.locator('.reader-document iframe, .code-text');
      await expect(shown.first()).toBeVisible();
      // A parser that runs in the page would hold this up for minutes, until the test's limit.
      expect(await reader.page.evaluate(() => document.title)).not.toBe('');
    }
    await reader.page.getByRole('link', { name: 'Settings' }).click();
    await expect(reader.page.getByRole('heading', { name: 'Settings' })).toBeVisible();
  },
  { tag: '@full' },
);

attack(
  group,
  'JSON with `__proto__`, `constructor`, markup in keys, 100,000 levels, and long lists',
  'a tree with own keys as text; no prototype changes; deep values open level by level',
  async () => {
    const reader = quietReader();
    const markup = `<img src=x onerror="${js}">`;
    const site = await reader.publish({
      'keys.json': `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"toString":3,${JSON.stringify(markup)}:${JSON.stringify(markup)},"n":12345678901234567890}`,
      'deep.json': `${'['.repeat(100_000)}1e3${']'.repeat(100_000)}`,
      'wide.json': `[${'0,'.repeat(400_000)}0]`,
      'broken.json': '{"a": ',
    });
    await reader.show(`${site}/keys.json`);
    await expect(reader.page.getByRole('treeitem')).toHaveCount(6);
    await reader.page.getByRole('button', { name: 'Expand', exact: true }).click();
    await expect(reader.page.getByText('polluted')).toHaveCount(2);
    await expect(reader.page.locator('[role=tree] img')).toHaveCount(0);
    await reader.expectUnharmed();
    await reader.show(`${site}/deep.json`);
    await expect(reader.page.getByRole('treeitem').first()).toBeVisible();
    await reader.page.getByRole('button', { name: 'Expand', exact: true }).click();
    await expect(reader.page.getByRole('treeitem')).toHaveCount(201);
    await reader.show(`${site}/wide.json`);
    await expect(reader.page.getByRole('treeitem')).toHaveCount(102);
    await reader.show(`${site}/broken.json`);
    await expect(reader.page.getByText('Shown as plain text')).toBeVisible();
    await reader.expectUnharmed();
  },
  { tag: '@full' },
);

attack(
  group,
  'CSV with formulas, markup, one line of 10 MB, and 5,000 columns',
  'cells are text, and the reader shows a bounded part of the file with a notice',
  async () => {
    const reader = quietReader();
    const site = await reader.publish({
      'formulas.csv': `name,value\n=HYPERLINK("https://evil.example"),<img src=x onerror=${js}>\n"=cmd|' /C calc'!A0",<script>${js}</script>\n`,
      'line.csv': `a,b\n${'x'.repeat(10_000_000)}`,
      'wide.csv': `${'c,'.repeat(5_000)}c\n1`,
      'quote.csv': `a,b\n"${'never closed '.repeat(100_000)}`,
    });
    await reader.show(`${site}/formulas.csv`);
    await expect(reader.page.getByRole('cell', { name: `<script>${js}</script>` })).toBeVisible();
    await expect(reader.page.locator('td :not(bdi)')).toHaveCount(0);
    await reader.show(`${site}/line.csv`);
    await expect(reader.page.getByText('Only the first 2 MB of 10 MB are shown.')).toBeVisible();
    await expect(reader.page.getByRole('columnheader')).toHaveCount(2);
    await reader.show(`${site}/wide.csv`);
    await expect(reader.page.getByRole('columnheader')).toHaveCount(200);
    await expect(reader.page.getByText('Some rows or columns are left out.')).toBeVisible();
    await reader.show(`${site}/quote.csv`);
    await expect(reader.page.getByRole('columnheader')).toHaveCount(2);
    await reader.expectUnharmed();
  },
  { tag: '@full' },
);

attack(
  group,
  'code with markup, with characters that change its direction, and without a line break in 12 MB',
  'the text as it is; hidden characters are shown by their names; only the first 2 MB',
  async () => {
    const reader = quietReader();
    const site = await reader.publish({
      'a.js': `if (access != "user\u202e \u2066// check\u2069 \u2066") { /* <script>${js}</script> */ }\n`,
      'a.html': `<script>${js}</script><img src=x onerror="${js}">`,
      'long.js': 'x=1;'.repeat(3_000_000),
    });
    await reader.show(`${site}/a.js`);
    await expect(reader.page.locator('.code-control')).toHaveText(['U+202E', 'U+2066', 'U+2069', 'U+2066']);
    await reader.show(`${site}/a.html`);
    await expect(reader.page.locator('.hljs-tag').first()).toBeVisible();
    await expect(reader.page.locator('.code-text :not(span, code)')).toHaveCount(0);
    await reader.show(`${site}/long.js`);
    await expect(reader.page.getByText('Only the first 2 MB of 12 MB are shown.')).toBeVisible();
    await expect(reader.page.getByText('Start of the first line', { exact: true })).toBeVisible();
    await reader.expectUnharmed();
  },
  { tag: '@full' },
);

attack(
  group,
  'names of files with markup, and with characters that change their direction',
  'names are text, and such characters are replaced',
  async () => {
    const reader = quietReader();
    const disguised = 'invoice\u202egnp.md';
    const markup = `<img src=x onerror=console.log('RAN name')>.md`;
    const site = await reader.publish({
      [disguised]: '# A',
      [markup]: '# B',
      'pictures/<b>.svg': picture,
      'javascript:alert(1).md': '# C',
    });
    await reader.show(`${site}/`);
    await expect(reader.page.getByRole('link', { name: 'invoice\ufffdgnp.md' })).toBeVisible();
    await reader.page.getByRole('link', { name: markup }).click();
    await expect(reader.page.getByRole('heading', { level: 1 })).toHaveText(markup);
    await reader.page.goBack();
    await reader.page.getByRole('link', { name: 'javascript:alert(1).md' }).click();
    await expect(
      reader.page.frameLocator('.document-frame').getByRole('heading', { name: 'C' }),
    ).toBeVisible();
    await reader.show(`${site}/${encodeURIComponent(disguised)}`);
    await expect(reader.page).toHaveTitle('invoice\ufffdgnp.md · Antway');
    await reader.show(`${site}/pictures/`);
    await reader.page.getByRole('button', { name: 'Show <b>.svg' }).click();
    await expect(reader.page.getByRole('dialog')).toContainText('<b>.svg');
    await reader.expectUnharmed();
  },
  { tag: '@full' },
);

attack(
  group,
  'pictures of a folder that are drawings with scripts and with pictures of another host',
  'the browser shows them as pictures: nothing runs and no request leaves',
  async () => {
    const reader = quietReader();
    await using outside = await Outside.start();
    const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="${ran('svg')}"><script>${ran('svg')}</script><image href="${outside.url}/svg" width="9" height="9"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${outside.url}/frame"/></foreignObject></svg>`;
    const site = await reader.publish({ 'a.svg': drawing, 'b.svg': drawing, 'c.png': 'no picture' });
    await reader.show(`${site}/`);
    await reader.page.getByRole('button', { name: 'Show a.svg' }).click();
    await expect(reader.page.getByRole('dialog').getByRole('img')).toBeVisible();
    await reader.show(`${site}/b.svg`);
    await expect(reader.page.locator('.reader-picture img')).toBeVisible();
    await reader.expectUnharmed();
    expect(await outside.reachedSoFar(reader.page.context())).toEqual([]);
  },
);

attack(
  group,
  'a file that looks like the listing of a folder and names paths outside its address',
  'the file is shown as a file, and no link leaves the address',
  async () => {
    const reader = quietReader();
    for (const path of ['../-/config', '..', 'a/../../b', '//evil.example/a', 'javascript:alert(1)/x']) {
      const entry = { path, display: path, modified: 0, size: 1, path_type: 'FILE' };
      const file = await reader.publishFile(JSON.stringify([entry]));
      await reader.show(`${file}/`);
      await expect(reader.page.locator('.code-text, [role=tree]').first()).toBeVisible();
      const hrefs = await reader.page
        .locator('main a')
        .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
      const own = (href: string) => href.startsWith(reader.gateway.url) && !href.includes('..');
      expect(hrefs.filter((href) => !own(href))).toEqual([]);
    }
    await reader.expectUnharmed();
  },
);

attack(
  group,
  'links to `/#read=…` with endpoints, other hosts, dot segments, encoded slashes and unknown names',
  'the app refuses the link and requests nothing',
  async () => {
    const reader = quietReader();
    const address = await reader.publishFile('a letter');
    const requests: string[] = [];
    reader.page.on('request', (request) => requests.push(request.url()));
    for (const path of [
      '-/reset',
      '/-/config',
      '//evil.example/a',
      'https://evil.example/a',
      `${address}/../-/config`,
      `${address}/%2e%2e/-/config`,
      `${address}/..%2f-%2fconfig`,
      `${address}/%00`,
      `${address}/%E0%A4%A`,
      'assets/x.js',
      'sw.js',
      '__proto__/a',
      '',
    ]) {
      await reader.show(path);
      await expect(reader.page.getByRole('alert')).toContainText('BAD_ADDRESS');
    }
    expect(requests.filter((url) => /evil|-\/reset|\/assets\/x|%2e/i.test(new URL(url).pathname))).toEqual(
      [],
    );
    await reader.expectUnharmed();
  },
);
