import type { ReaderTexts } from './en.ts';

export const de: ReaderTexts = {
  loading: 'Wird geladen …',
  files: 'Dateien',
  library: 'Bibliothek',
  raw: 'Datei selbst öffnen',
  download: 'Herunterladen',
  showAs: 'Anzeigen als',
  kinds: {
    markdown: 'Dokument',
    table: 'Tabelle',
    json: 'Baum',
    code: 'Text',
    picture: 'Bild',
    media: 'Wiedergabe',
  },
  views: {
    list: 'Dateien',
    gallery: (count) => `Bilder (${count})`,
    player: (count) => `Abspielen (${count})`,
  },
  view: 'Ansicht',
  noReader: (type) => `Für diese Art von Datei (${type}) gibt es keine Ansicht.`,
  badLocation: 'Dieser Link führt zu keiner Datei und keinem Ordner dieses Gateways.',
  unknownName: (name) =>
    `„${name}“ ist weder eine Adresse (64 Hexadezimalziffern) noch ein Name dieses Gateways.`,
  ownHosts: 'Dieses Gateway zeigt Inhalte nur auf deren eigenem Host. Deshalb kann die App sie nicht lesen.',
  cut: (shown, size) =>
    size === null
      ? `Nur die ersten ${shown} werden gezeigt.`
      : `Nur die ersten ${shown} von ${size} werden gezeigt.`,
  plainBecause: (why) => `Als reiner Text gezeigt: ${why}`,
  showMore: 'Mehr zeigen',
  emptyFile: 'Die Datei ist leer.',
  emptyFolder: 'Der Ordner ist leer.',
  code: {
    label: (name) => `Text von ${name}`,
    wrap: 'Lange Zeilen umbrechen',
    lines: (count, formatted) => `${formatted} ${count === 1 ? 'Zeile' : 'Zeilen'}`,
    firstLines: (count, formatted) =>
      count === 1 ? 'Anfang der ersten Zeile' : `Die ersten ${formatted} Zeilen`,
    control: (name) => `Ein verstecktes Zeichen, das die Textrichtung ändert: ${name}`,
  },
  table: {
    label: (name) => `Tabelle ${name}`,
    rows: (count, formatted) => `${formatted} ${count === 1 ? 'Zeile' : 'Zeilen'}`,
    sortBy: (column) => `Nach ${column} sortieren`,
    column: (number) => `Spalte ${number}`,
    bounded: 'Die Tabelle ist größer. Einige Zeilen oder Spalten fehlen.',
    sorted: (column, isDescending) =>
      `Nach ${column} ${isDescending ? 'absteigend' : 'aufsteigend'} sortiert.`,
  },
  json: {
    label: (name) => `Baum von ${name}`,
    expandAll: 'Aufklappen',
    collapseAll: 'Alles zuklappen',
    items: (count, formatted) => `${formatted} ${count === 1 ? 'Eintrag' : 'Einträge'}`,
    keys: (_count, formatted) => `${formatted} Schlüssel`,
    more: (count) => `${count} weitere zeigen`,
    tooLarge: 'Die Datei ist zu groß für einen Baum.',
  },
  markdown: {
    pictureOn: (host) => `Bild auf ${host}`,
    pictureMissing: 'das Bild wurde nicht geladen',
    note: 'Bilder anderer Hosts werden als Links gezeigt.',
  },
  list: {
    label: (name) => `Dateien in ${name}`,
    up: 'Nach oben',
    folder: 'Ordner',
  },
  gallery: {
    label: (name) => `Bilder in ${name}`,
    open: (name) => `${name} zeigen`,
    previous: 'Voriges Bild',
    next: 'Nächstes Bild',
    close: 'Schließen',
    position: (at, count) => `${at} von ${count}`,
    failed: 'Dieses Bild kann nicht gezeigt werden.',
  },
  player: {
    label: (name) => `Wiedergabe von ${name}`,
    playlist: 'Wiedergabeliste',
    previous: 'Zurück',
    next: 'Weiter',
    play: (name) => `${name} abspielen`,
    failed: (name) =>
      `${name} kann nicht abgespielt werden: Der Browser kennt das Format nicht, oder die Datei wurde nicht geladen.`,
    keys: 'Tasten: Die Leertaste spielt ab und pausiert, die Pfeiltasten spulen, N und P wechseln den Titel.',
  },
};
