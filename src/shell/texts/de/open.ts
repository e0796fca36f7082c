import type { Texts } from '../en/index.ts';

/** German: the start page. */
export const open: Texts['open'] = {
  title: 'Eine Adresse öffnen',
  button: 'Öffnen',
  placeholder: 'Adresse oder Link',
  hint: 'Eine Adresse aus 64 Hexadezimalziffern, ein ant://-Link oder ein Link irgendeines Gateways.',
  reading: 'Das Manifest wird gelesen …',
  fileNote: 'Ein Manifest (.ant) bleibt auf diesem Gerät.',
  openFile: 'Eine Datei öffnen…',
  drop: 'Ein Manifest (.ant) oder einen Link loslassen, um es zu öffnen',
  bookmarks: 'Lesezeichen',
  recent: 'Zuletzt geöffnet',
  nothingOpened:
    'Noch nichts. Was Sie öffnen, erscheint hier und öffnet sich beim nächsten Mal aus dem Speicher dieses Browsers.',
  remove: (title) => `${title} aus dieser Liste entfernen`,
  removed: (title) => `${title} wurde entfernt.`,
  manifestTooLarge: (size, most) => `Dies hat ${size}, und ein Manifest höchstens ${most}.`,
  unreadable: (why) => `Dies lässt sich nicht als Datei lesen: ${why}`,
  privateLink: 'Dieser Link enthält den Schlüssel zu etwas Privatem. Er bleibt auf diesem Gerät.',
  manifestQuestion: {
    title: 'Eine private Seite aus diesem Link öffnen?',
    contents: (name, files) =>
      `Sie ${name ? `heißt „${name}“` : 'hat keinen Namen'} und hat ${files} ${files === 1 ? 'Datei' : 'Dateien'}. Ihr Manifest wird dann auf diesem Gerät gespeichert.`,
    open: 'Diese öffnen',
    refuse: 'Jetzt nicht',
  },
  problems: {
    empty: 'Geben Sie eine Adresse ein.',
    scheme: (scheme) =>
      `„${scheme}“-Links lassen sich hier nicht öffnen: nur ant://, autonomi://, https:// und http://.`,
    noAddress: 'In diesem Link ist keine Adresse. Eine Adresse hat 64 Hexadezimalziffern.',
    outside: 'Der Pfad hinter der Adresse führt aus ihr hinaus.',
    digits: (count) => `Eine Adresse hat 64 Hexadezimalziffern. Diese hat ${count}.`,
    character: (wrong) =>
      `Eine Adresse hat nur die Ziffern 0–9 und die Buchstaben a–f. Diese hat „${wrong}“.`,
    long: 'Dies ist keine Adresse: Es müssen 64 Hexadezimalziffern sein.',
    neither: (text) =>
      `„${text}“ ist weder eine Adresse (64 Hexadezimalziffern) noch ein Lesezeichen dieses Gateways.`,
  },
  help: {
    title: 'Was ist das?',
    paragraphs: [
      'Mit Antway öffnet dieser Browser Seiten und Dateien des Autonomi-Netzwerks über ihre Inhaltsadresse. Ein Service Worker holt ihre verschlüsselten Chunks von Peers, prüft jeden gegen seine Adresse und entschlüsselt ihn hier. Peers können nicht verändern, was Sie sehen. Gesehenes wird so aufbewahrt, wie Peers es haben, und öffnet sich offline.',
      'Eine Adresse hat 64 Hexadezimalziffern. Mit einem Pfad dahinter öffnet sich eine Datei einer Seite: Adresse/seite.html.',
      'Ein Manifest (.ant) ist eine Liste von Dateien und kann die einzigen Schlüssel zu privaten enthalten. Öffnen Sie es als Datei oder als ant://manifest/-Link. Antway bewahrt es verschlüsselt auf diesem Gerät auf und sendet es nirgendwohin.',
    ],
    links: 'Dokumentation',
    autonomi: 'Autonomi',
    network: 'Dokumentation des Netzwerks',
    anttp: 'AntTP, das Gateway als Programm',
  },
};
