import type { Language } from '../languages.ts';

const en = {
  title: 'Take over a library',
  noOpener:
    'To take over a library, open the gateway at its other address. The start page there offers to move the library.',
  starting: 'Starting the gateway here …',
  question: (origin: string) => `Take over the library of ${origin}?`,
  intro:
    'The library is copied to this address, where each site has its own origin. Nothing is deleted at the other address. Sites that are not pinned are fetched again when you open them.',
  onlyIfAsked: 'Agree only if you have just started this move.',
  sites: (sites: number, pinned: number, isPrivate: number) =>
    `${sites} ${sites === 1 ? 'site' : 'sites'}: ${pinned} pinned, ${isPrivate} private`,
  publications: (count: number) => `${count} ${count === 1 ? 'publication' : 'publications'} of yours`,
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
  running: 'Taking over the library',
  beginning: 'Settings …',
  progress: (number: number, count: number, what: string) => `${number} of ${count}: ${what}`,
  done: 'The library was taken over',
  partly: 'Not all of the library was taken over',
  left: 'These names were left out:',
  copied: (sites: number, publications: number) =>
    `${sites} ${sites === 1 ? 'site' : 'sites'}${publications === 0 ? '' : ` and ${publications} ${publications === 1 ? 'publication' : 'publications'}`} ${sites + publications === 1 ? 'is' : 'are'} here now. The library at the other address is unchanged.`,
  failed: 'The following could not be taken over:',
  settings: 'Settings',
  again: 'Try again',
  library: 'Open the library here',
  notPossible: 'The library cannot be taken over',
};

export type MoveTexts = typeof en;

const de: MoveTexts = {
  title: 'Bibliothek übernehmen',
  noOpener:
    'Um eine Bibliothek zu übernehmen, öffnen Sie das Gateway unter seiner anderen Adresse. Die Startseite dort bietet den Umzug an.',
  starting: 'Das Gateway startet hier …',
  question: (origin) => `Die Bibliothek von ${origin} übernehmen?`,
  intro:
    'Die Bibliothek wird unter diese Adresse kopiert, wo jede Website einen eigenen Ursprung hat. Unter der anderen Adresse wird nichts gelöscht. Websites, die nicht angeheftet sind, werden beim Öffnen neu geladen.',
  onlyIfAsked: 'Stimmen Sie nur zu, wenn Sie diesen Umzug gerade selbst gestartet haben.',
  sites: (sites, pinned, isPrivate) =>
    `${sites} ${sites === 1 ? 'Website' : 'Websites'}: ${pinned} angeheftet, ${isPrivate} privat`,
  publications: (count) => `${count} ${count === 1 ? 'Veröffentlichung' : 'Veröffentlichungen'} von Ihnen`,
  peers: (peers) => `Peers, falls Sie hier keine festgelegt haben: ${peers.join(', ')}`,
  names: (names, all) =>
    `Namen: ${names.join(', ')}${all > names.length ? ` und ${all - names.length} weitere` : ''}`,
  usePeersOfPeers:
    'Auch Peers, die von diesen Peers genannt werden, falls Sie das hier nicht festgelegt haben',
  denied: (count) => `${count} gesperrte ${count === 1 ? 'Adresse' : 'Adressen'}`,
  limits: 'Grenzen und Übertragungsart, falls Sie hier keine festgelegt haben',
  restricted: (count) => `${count} ${count === 1 ? 'Website' : 'Websites'}, die ohne Skripte geöffnet werden`,
  take: 'Übernehmen',
  cancel: 'Abbrechen',
  cancelled: 'Nichts wurde übernommen',
  canClose: 'Sie können dieses Fenster schließen.',
  running: 'Die Bibliothek wird übernommen',
  beginning: 'Einstellungen …',
  progress: (number, count, what) => `${number} von ${count}: ${what}`,
  done: 'Die Bibliothek wurde übernommen',
  partly: 'Nicht alles wurde übernommen',
  left: 'Diese Namen wurden ausgelassen:',
  copied: (sites, publications) =>
    `${sites} ${sites === 1 ? 'Website' : 'Websites'}${publications === 0 ? '' : ` und ${publications} ${publications === 1 ? 'Veröffentlichung' : 'Veröffentlichungen'}`} ${sites + publications === 1 ? 'ist' : 'sind'} jetzt hier. Die Bibliothek unter der anderen Adresse ist unverändert.`,
  failed: 'Folgendes konnte nicht übernommen werden:',
  settings: 'Einstellungen',
  again: 'Erneut versuchen',
  library: 'Die Bibliothek hier öffnen',
  notPossible: 'Die Bibliothek kann nicht übernommen werden',
};

export const moveTexts: Record<Language, MoveTexts> = { en, de };
