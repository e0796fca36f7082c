import { describe, expect, it } from 'vitest';
import { FrameJournal } from '../../src/gateway/state/frame-journal.ts';

const address = 'ab'.repeat(32);
const page = (path: string) => ({ address, path, title: null, code: null });
const trace = (chunks: Partial<Record<'memory' | 'disk' | 'peer' | 'joined', number>>) => ({
  chunks: { memory: 0, disk: 0, peer: 0, joined: 0, ...chunks },
});

function journal() {
  const given = new Map<string, number>();
  const open = new Set<string>();
  const journal = new FrameJournal({ chunksByPeer: () => new Map(given) });
  const load = (id: string, path: string) => {
    open.add(id);
    journal.opened(id, page(path), new Map(given));
  };
  return {
    given,
    open,
    load,
    journal,
    report: (after = 0, client = '') => journal.report(after, client, async (id) => open.has(id)),
  };
}

describe('the journal of frames', () => {
  it('reports the oldest open page after the known page, because frames inside of it load later', async () => {
    const { load, open, report } = journal();
    load('a', '/');
    load('a-inner', '/inner.html');
    const first = await report();
    expect(first.next).toMatchObject({ path: '/', address });
    const { sequence } = first.next!;
    expect(await report(sequence, 'a')).toMatchObject({ known: { path: '/', client: 'a' }, isOpen: true });

    open.clear();
    load('b', '/second.html');
    load('b-inner', '/inner.html');
    const second = await report(sequence, 'a');
    expect(second.next).toMatchObject({ path: '/second.html' });
    expect(second).toMatchObject({ known: { path: '/' }, isOpen: false });
  });

  it('tells that the known page was replaced by a page that it does not know', async () => {
    const { load, open, report } = journal();
    load('a', '/');
    const { sequence } = (await report()).next!;
    open.clear();
    expect(await report(sequence, 'a')).toMatchObject({ next: null, isOpen: false });
  });

  it('tells whether a page still exists that an earlier worker has recorded', async () => {
    const { open, report } = journal();
    open.add('a');
    expect(await report(Date.now() - 1_000, 'a')).toMatchObject({ next: null, known: null, isOpen: true });
    open.clear();
    expect(await report(Date.now() - 1_000, 'a')).toMatchObject({ next: null, known: null, isOpen: false });
  });

  it('tells whether a page still exists that many newer pages have displaced', async () => {
    const { load, open, report } = journal();
    load('a', '/');
    for (let i = 0; i < 300; i++) load(`page-${i}`, `/${i}`);
    expect(await report(0, 'a')).toMatchObject({ known: null, isOpen: true });
    open.delete('a');
    expect(await report(0, 'a')).toMatchObject({ known: null, isOpen: false });
  });

  it('counts failures, chunks and the peers that gave some since', async () => {
    const { load, given, journal: frames, report } = journal();
    given.set('https://before.example', 5).set('https://both.example', 1);
    load('a', '/');
    given.set('https://both.example', 2);
    frames.ended('a', trace({ disk: 2, memory: 1, peer: 3, joined: 1 }));
    frames.ended('a', trace({}), 'CORRUPT');
    frames.ended('a', trace({}), 'CORRUPT');
    frames.ended('unknown', trace({ peer: 9 }), 'NOT_FOUND');
    expect((await report()).next).toMatchObject({
      failures: { CORRUPT: 2 },
      chunks: { stored: 3, peers: 4 },
      peers: ['https://both.example'],
    });
  });

  it('remembers a bounded number of pages', async () => {
    const { load, report } = journal();
    for (let i = 0; i < 300; i++) load(`page-${i}`, `/${i}`);
    expect((await report()).next).toMatchObject({ path: '/200' });
  });
});
