import type { Language } from '../languages.ts';

const en = {
  title: 'Take over a library',
  noOpener:
    'To take over a library, open the library at the other address. Its start page offers to move it.',
  starting: 'Starting the gateway here…',
  question: (origin: string) => `Take over the library of ${origin}?`,
  intro:
    'It is copied to this address, where each site runs on an origin of its own. Nothing is deleted at the other address. Sites that are not pinned are fetched again when you open them.',
  onlyIfAsked: 'Agree only if you have just asked for it.',
  sites: (sites: number, pinned: number, isPrivate: number) =>
    `${sites} ${sites === 1 ? 'site' : 'sites'}: ${pinned} pinned, ${isPrivate} private`,
  peers: (peers: readonly string[]) => `Peers, unless you set some here: ${peers.join(', ')}`,
  names: (names: readonly string[], all: number) =>
    `Names: ${names.join(', ')}${all > names.length ? `, and ${all - names.length} more` : ''}`,
  usePeersOfPeers: 'Peers that these peers name are used too, unless you decided that here',
  denied: (count: number) => `${count} blocked ${count === 1 ? 'address' : 'addresses'}`,
  limits: 'Limits and transport, unless you set them here',
  restricted: (count: number) => `${count} ${count === 1 ? 'site' : 'sites'} to open without scripts`,
  take: 'Take it over',
  cancel: 'Cancel',
  cancelled: 'Nothing was taken over',
  canClose: 'You can close this window.',
  running: 'The library is taken over',
  beginning: 'Settings…',
  progress: (number: number, count: number, what: string) => `${number} of ${count}: ${what}`,
  done: 'The library was taken over',
  partly: 'Not all of the library was taken over',
  copied: (count: number) =>
    `${count} ${count === 1 ? 'site is' : 'sites are'} here now. The library at the other address is as it was.`,
  failed: 'This could not be taken over:',
  settings: 'Settings',
  again: 'Try again',
  library: 'Open the library here',
  notPossible: 'The library cannot be taken over',
};

export type MoveTexts = typeof en;

const de: MoveTexts = {
  title: 'Bibliothek übernehmen',
  noOpener:
    'Um eine Bibliothek zu übernehmen, öffnen Sie die Bibliothek unter der anderen Adresse. Ihre Startseite bietet den Umzug an.',
  starting: 'Das Gateway startet hier…',
  question: (origin) => `Die Bibliothek von ${origin} übernehmen?`,
  intro:
    'Sie wird unter diese Adresse kopiert, wo jede Seite einen eigenen Ursprung hat. Unter der anderen Adresse wird nichts gelöscht. Seiten, die nicht angeheftet sind, werden beim Öffnen neu geladen.',
  onlyIfAsked: 'Stimmen Sie nur zu, wenn Sie das gerade verlangt haben.',
  sites: (sites, pinned, isPrivate) =>
    `${sites} ${sites === 1 ? 'Seite' : 'Seiten'}: ${pinned} angeheftet, ${isPrivate} privat`,
  peers: (peers) => `Peers, falls Sie hier keine festgelegt haben: ${peers.join(', ')}`,
  names: (names, all) =>
    `Namen: ${names.join(', ')}${all > names.length ? ` und ${all - names.length} weitere` : ''}`,
  usePeersOfPeers:
    'Auch Peers, die von diesen Peers genannt werden, falls Sie das hier nicht festgelegt haben',
  denied: (count) => `${count} gesperrte ${count === 1 ? 'Adresse' : 'Adressen'}`,
  limits: 'Grenzen und Übertragungsart, falls Sie hier keine festgelegt haben',
  restricted: (count) => `${count} ${count === 1 ? 'Seite' : 'Seiten'}, die ohne Skripte geöffnet werden`,
  take: 'Übernehmen',
  cancel: 'Abbrechen',
  cancelled: 'Nichts wurde übernommen',
  canClose: 'Sie können dieses Fenster schließen.',
  running: 'Die Bibliothek wird übernommen',
  beginning: 'Einstellungen…',
  progress: (number, count, what) => `${number} von ${count}: ${what}`,
  done: 'Die Bibliothek wurde übernommen',
  partly: 'Nicht alles wurde übernommen',
  copied: (count) =>
    `${count} ${count === 1 ? 'Seite ist' : 'Seiten sind'} jetzt hier. Die Bibliothek unter der anderen Adresse ist unverändert.`,
  failed: 'Das konnte nicht übernommen werden:',
  settings: 'Einstellungen',
  again: 'Noch einmal versuchen',
  library: 'Die Bibliothek hier öffnen',
  notPossible: 'Die Bibliothek kann nicht übernommen werden',
};

export const moveTexts: Record<Language, MoveTexts> = { en, de };
