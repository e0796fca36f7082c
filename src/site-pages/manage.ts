import type { SiteReport } from '../gateway/state/site-origins.ts';
import { byteFormat } from '../util/byte-format.ts';
import { clearOrigin } from './clear-origin.ts';
import { announcement, button, element, link } from './elements.ts';
import { ask, problemText, request } from './endpoint.ts';

const texts = {
  en: {
    title: 'This site in this browser',
    stored: (size: string) => `${size} stored.`,
    offline: 'The whole site opens without a network.',
    pinned: 'The site is pinned.',
    mayClear: 'The browser may delete the data when the device runs out of storage.',
    refused: 'The browser declined. It may agree when you use this site more often.',
    actions: {
      persist: 'Ask for persistent storage',
      pin: 'Pin',
      unpin: 'Unpin',
      verify: 'Verify',
      export: 'Export',
      delete: 'Delete all data of the site',
    },
    deleted: 'All data of this site was deleted from this browser.',
    open: 'Open the site',
    home: 'Open the gateway',
  },
  de: {
    title: 'Diese Website in diesem Browser',
    stored: (size: string) => `${size} gespeichert.`,
    offline: 'Die ganze Website lässt sich offline öffnen.',
    pinned: 'Die Website ist angeheftet.',
    mayClear: 'Der Browser kann die Daten löschen, wenn der Speicherplatz auf dem Gerät knapp wird.',
    refused: 'Der Browser hat abgelehnt. Vielleicht stimmt er zu, wenn Sie diese Website häufiger benutzen.',
    actions: {
      persist: 'Um dauerhaften Speicher bitten',
      pin: 'Anheften',
      unpin: 'Lösen',
      verify: 'Prüfen',
      export: 'Exportieren',
      delete: 'Alle Daten der Website löschen',
    },
    deleted: 'Alle Daten dieser Website wurden aus diesem Browser gelöscht.',
    open: 'Website öffnen',
    home: 'Gateway öffnen',
  },
};

/** How often the page updates the progress of a pin. */
const refreshMs = 2_000;

type Language = keyof typeof texts;

/** Shows what this origin stores, where the shell cannot reach the origin through a frame. */
export async function manage(place: HTMLElement, rootOrigin: string, language: Language): Promise<void> {
  const t = texts[language];
  const report = await ask<SiteReport & { address: string }>('origin');
  const { address, pin } = report;
  const act = (name: keyof typeof t.actions, work: () => Promise<unknown>) =>
    button(t.actions[name], () => void run(work));
  const note = announcement('alert', '');
  const run = async (work: () => Promise<unknown>) => {
    try {
      await work();
      await manage(place, rootOrigin, language);
    } catch (error) {
      note.textContent = problemText(error as Error);
    }
  };
  const send = (action: string) => ask('pins', 'POST', JSON.stringify({ address, action }));
  const facts = [
    t.stored(byteFormat(language, 'three')(report.storedBytes)),
    report.offline && t.offline,
    pin && t.pinned,
    report.persisted === false && t.mayClear,
  ];
  place.replaceChildren(
    element('h1', [t.title]),
    element('p', [facts.filter(Boolean).join(' ')]),
    pin?.problem ? element('p', [pin.problem.message]) : '',
    pin ? act('unpin', () => ask(`pins?address=${address}`, 'DELETE')) : act('pin', () => send('pin')),
    ' ',
    pin ? act('verify', () => send('verify')) : '',
    ' ',
    act('export', () => save(address)),
    ' ',
    report.persisted === false
      ? act('persist', async () => {
          if (!(await navigator.storage.persist())) throw new Error(t.refused);
        })
      : '',
    ' ',
    act('delete', async () => {
      await clearOrigin();
      place.replaceChildren(
        element('h1', [t.title]),
        element('p', [t.deleted]),
        link(t.home, `${rootOrigin}/`),
      );
      await new Promise(() => {});
    }),
    note,
    element('p', []),
    link(t.open, '/'),
    ' ',
    link(t.home, `${rootOrigin}/`),
  );
  if (pin && pin.activity !== 'idle' && pin.activity !== 'paused') {
    setTimeout(() => void manage(place, rootOrigin, language), refreshMs);
  }
}

async function save(address: string): Promise<void> {
  const url = URL.createObjectURL(await (await request(`export?address=${address}`)).blob());
  element('a', [], { href: url, download: `${address}.antsite` }).click();
  URL.revokeObjectURL(url);
}
