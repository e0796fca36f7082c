// @module-tag isolated
import { describe, expect, it } from 'vitest';
import { FrameJournal } from '../../src/gateway/state/frame-journal.ts';
import { FrameFollower } from '../../src/shell/viewer/frame-follower.ts';
import type { ShownPage } from '../../src/shell/viewer/view-api.ts';

const site = 'ab'.repeat(32);

/** The workers of the gateway and of a site. */
function workers() {
  const open = new Set<string>();
  const made = () => new FrameJournal({ chunksByPeer: () => new Map() });
  const journals = { own: made(), gateway: made() };
  const load = (client: string, path: string, at: 'own' | 'gateway' = 'own') => {
    open.add(client);
    const address = at === 'own' ? site : 'cd'.repeat(32);
    journals[at].opened(client, { address, path, title: null, code: null }, new Map());
  };
  return {
    load,
    close: (client: string) => open.delete(client),
    restart: () => Object.assign(journals, { own: made(), gateway: made() }),
    start: (at: string | null = site) =>
      FrameFollower.start(at, (site, after, client = '', isAny = false) =>
        journals[site === null ? 'gateway' : 'own'].report(
          after,
          client,
          async (id) => isAny || open.has(id),
        ),
      ),
  };
}

/** A follower whose frame shows the page `first`. */
async function following(at?: string | null) {
  const all = workers();
  const follower = await all.start(at);
  all.load('first', '/', at === null ? 'gateway' : 'own');
  const found = await follower.look(null);
  if (found.kind !== 'next') throw new Error(found.kind);
  follower.take(found.page);
  return { ...all, follower, page: found.page };
}

const pathOf = (finding: Awaited<ReturnType<FrameFollower['look']>>) =>
  'page' in finding ? `${finding.kind} ${finding.page.path}` : finding.kind;

describe('the page in a frame', () => {
  it('is the page that replaced the known one, not a page inside of that one', async () => {
    const { follower, page, load, close } = await following();
    load('first-inner', '/inner.html');
    expect(pathOf(await follower.look(page))).toBe('same /');
    close('first');
    close('first-inner');
    load('second', '/second.html');
    load('second-inner', '/inner.html');
    expect(pathOf(await follower.look(page))).toBe('next /second.html');
  });

  it.each([
    ['its own origin', site, 'own'],
    ['the gateway’s origin', null, 'gateway'],
  ] as const)('is never a page that another tab opened before, on %s', async (_, at, origin) => {
    const { follower, page, load, close } = await following(at);
    load('other-tab', '/other.html', origin);
    load('other-tab-at-gateway', '/other.html', 'gateway');
    await follower.poll(page, true, true);
    close('first');
    expect(pathOf(await follower.look(page))).toBe('unknown');
    load('second', '/second.html', origin);
    expect(pathOf(await follower.look(page))).toBe('next /second.html');
  });

  it('is the next page also if a poll came between its record and its commit', async () => {
    const { follower, page, load, close } = await following();
    await follower.poll(page, true, false);
    load('second', '/second.html');
    expect(pathOf(await follower.poll(page, true, false))).toBe('same /');
    close('first');
    expect(pathOf(await follower.look(page))).toBe('next /second.html');
  });

  it('is the page that the frame names, and not one that another tab opens in the same moment', async () => {
    const shows = (path: string, isStrict: boolean) => ({
      is: (page: ShownPage) => page.path === path,
      isStrict,
    });
    for (const isStrict of [true, false]) {
      const { follower, page, load, close } = await following();
      close('first');
      load('other-tab', '/other.html');
      expect(pathOf(await follower.look(page, shows('/second.html', true)))).toBe('unknown');
      load('another-tab', '/another.html');
      load('second', '/second.html');
      expect(pathOf(await follower.look(page, shows('/second.html', isStrict)))).toBe('next /second.html');
    }
  });

  it('is an open page that the frame does not name only if a script can have changed its URL', async () => {
    const { follower, page, close, load } = await following();
    const pushed = (isStrict: boolean) => ({ is: () => false, isStrict });
    expect(pathOf(await follower.look(page, pushed(false)))).toBe('same /');
    expect(pathOf(await follower.look(page, pushed(true)))).toBe('unknown');
    close('first');
    load('second', '/second.html');
    expect(pathOf(await follower.look(page, pushed(false)))).toBe('next /second.html');
    expect(pathOf(await follower.look(page, pushed(true)))).toBe('unknown');
  });

  it('was asked for by the newest record, also if the browser showed no page', async () => {
    const { follower, page, close, load } = await following();
    expect(await follower.newest(page)).toBeNull();
    load('second', '/second.html');
    load('paper', '/paper.pdf');
    close('second');
    close('paper');
    expect(pathOf(await follower.look(page))).toBe('same /');
    expect(await follower.newest(page)).toMatchObject({ path: '/paper.pdf' });
  });

  it('was asked for also if polls came between the record and the load of a page that the browser refuses', async () => {
    const { follower, page, close, load } = await following();
    load('paper', '/paper.pdf');
    close('paper');
    for (let i = 0; i < 3; i++) expect(pathOf(await follower.poll(page, true, false))).toBe('same /');
    close('first');
    expect(pathOf(await follower.look(page))).toBe('unknown');
    expect(await follower.newest(page)).toMatchObject({ path: '/paper.pdf' });
  });

  it('was not asked for by the record of another tab that is old, or older than the user’s return', async () => {
    const { follower, page, load } = await following();
    load('other-tab', '/paper.pdf');
    for (let i = 0; i < 11; i++) await follower.poll(page, true, false);
    expect(await follower.newest(page)).toBeNull();
    load('another-tab', '/paper.pdf');
    await follower.poll(page, true, true);
    expect(await follower.newest(page)).toBeNull();
  });

  it('is unknown behind too many pages of other tabs', async () => {
    const { follower, page, close, load } = await following();
    close('first');
    for (let i = 0; i < 90; i++) load(`tab-${i}`, `/${i}.html`);
    expect(pathOf(await follower.look(page, { is: () => false, isStrict: true }))).toBe('unknown');
  });

  it('stays unknown while another tab opens the site', async () => {
    const { follower, page, load, close } = await following();
    close('first');
    expect(pathOf(await follower.poll(page, true, false))).toBe('unknown');
    load('other-tab', '/');
    for (let i = 0; i < 3; i++) expect(pathOf(await follower.poll(page, false, false))).toBe('unknown');
    expect(pathOf(await follower.look(page))).toBe('unknown');
    load('back', '/back.html');
    expect(pathOf(await follower.look(page))).toBe('next /back.html');
  });

  it('stays known after a restart of the worker, and becomes unknown when the page is replaced', async () => {
    const { follower, page, close, restart } = await following();
    restart();
    expect(pathOf(await follower.poll(page, true, false))).toBe('same /');
    close('first');
    expect(pathOf(await follower.poll(page, true, false))).toBe('unknown');
  });

  it('is no page of the gateway’s origin while the frame answers as a page of its own origin', async () => {
    const { follower, page, load, close } = await following();
    close('first');
    load('other-tab', '/other.html', 'gateway');
    expect(pathOf(await follower.look(page, { is: () => false, isStrict: true }))).toBe('unknown');
    expect(pathOf(await follower.look(page))).toBe('elsewhere /other.html');
  });

  it('is a page of the gateway’s origin if a site on its own origin leads there', async () => {
    const { follower, page, load, close } = await following();
    await follower.poll(page, true, false);
    close('first');
    load('linked', '/linked.html', 'gateway');
    const found = (await follower.look(page)) as { kind: string; page: ShownPage };
    expect(found).toMatchObject({
      kind: 'elsewhere',
      page: { address: 'cd'.repeat(32), path: '/linked.html' },
    });
  });

  it('is nothing before the first page, and unknown when the first page is gone', async () => {
    const { start, load, close } = workers();
    const follower = await start();
    expect(pathOf(await follower.look(null))).toBe('waiting');
    load('first', '/');
    close('first');
    expect(pathOf(await follower.look(null))).toBe('unknown');
  });
});
