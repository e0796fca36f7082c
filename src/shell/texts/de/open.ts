import type { Texts } from '../en/index.ts';

export const open: Texts['open'] = {
  title: 'Das Autonomi-Netzwerk entdecken',
  intro:
    'Antway öffnet Websites und Dateien des Autonomi-Netzwerks in diesem Browser, prüft jedes Byte und bewahrt sie für die Nutzung ohne Internet auf.',
  label: 'Suchen oder eine Adresse öffnen',
  placeholder: 'Suchen oder Link einfügen',
  button: 'Öffnen',
  hint: 'Findet Websites, Dateien und Aktionen, und öffnet Adressen und Links jedes Gateways.',
  hintKey: 'Die Taste / führt hierher.',
  reading: 'Das Manifest wird gelesen …',
  fileNote: 'Ein Manifest (.ant) oder eine Data Map (.datamap) bleibt auf diesem Gerät.',
  openFile: 'Datei öffnen…',
  drop: 'Manifest (.ant) oder Link hier loslassen, um den Inhalt zu öffnen',
  names: 'Namen',
  recent: 'Zuletzt geöffnet',
  nothingOpened:
    'Noch nichts. Websites, die Sie öffnen, erscheinen hier. Beim nächsten Mal kommen sie aus dem Speicher dieses Browsers.',
  remove: (title) => `${title} aus dieser Liste entfernen`,
  removed: (title) => `${title} wurde entfernt.`,
  manifestTooLarge: (size, most) => `Diese Datei hat ${size}. Ein Manifest hat höchstens ${most}.`,
  unreadable: (why) => `Die Datei lässt sich nicht lesen: ${why}`,
  privateLink:
    'Dieser Link enthält den Schlüssel zu privaten Inhalten. Der Schlüssel bleibt auf diesem Gerät.',
  manifestQuestion: {
    title: 'Eine private Website aus diesem Link öffnen?',
    contents: (name, files) =>
      `Sie ${name ? `heißt „${name}“` : 'hat keinen Namen'} und hat ${files} ${files === 1 ? 'Datei' : 'Dateien'}. Wenn Sie sie öffnen, wird ihr Manifest auf diesem Gerät gespeichert.`,
    open: 'Website öffnen',
    refuse: 'Jetzt nicht',
  },
  problems: {
    empty: 'Geben Sie eine Adresse ein.',
    scheme: (scheme) =>
      `„${scheme}“-Links lassen sich hier nicht öffnen, nur ant://, autonomi://, https:// und http://.`,
    brokenLink: 'Dieser Link ist unvollständig oder beschädigt. Kopieren Sie den ganzen Link noch einmal.',
    noAddress: 'In diesem Link ist keine Adresse. Eine Adresse hat 64 Hexadezimalziffern.',
    outside: 'Der Pfad hinter der Adresse führt aus der Website hinaus.',
    digits: (count) => `Eine Adresse hat 64 Hexadezimalziffern. Diese hat ${count}.`,
    character: (wrong) =>
      `Eine Adresse besteht nur aus den Ziffern 0–9 und den Buchstaben a–f. Diese enthält „${wrong}“.`,
    long: 'Das ist keine Adresse: Eine Adresse hat 64 Hexadezimalziffern.',
    conflict: (name, choices) => `„${name}“ hat mehrere Bedeutungen. Wählen Sie eine davon: ${choices}.`,
    unknownName: (name) =>
      `Den Namen „${name}“ gibt es in diesem Browser nicht. Namen mit ~ sind die eigenen des Benutzers, Namen mit @ gehören zu einer Liste.`,
    neither: (text) =>
      `„${text}“ ist weder eine Adresse (64 Hexadezimalziffern) noch ein Name dieses Gateways.`,
  },
  help: {
    title: 'Was ist das?',
    paragraphs: [
      'Mit Antway öffnet dieser Browser Websites und Dateien des Autonomi-Netzwerks über ihre Inhaltsadresse. Ein Service Worker lädt verschlüsselte Chunks von Peers, prüft jeden Chunk anhand seiner Adresse und entschlüsselt ihn in diesem Browser. Peers können den Inhalt nicht verändern. Geöffnete Inhalte werden verschlüsselt in diesem Browser gespeichert und lassen sich offline öffnen.',
      'Eine Adresse hat 64 Hexadezimalziffern. Mit einem Pfad dahinter öffnen Sie eine einzelne Datei einer Website: Adresse/seite.html.',
      'Ein Manifest (.ant) ist eine Liste von Dateien und kann die einzigen Schlüssel zu privaten Dateien enthalten. Öffnen Sie es als Datei oder als ant://manifest/-Link. Antway speichert es verschlüsselt auf diesem Gerät und sendet es nie.',
    ],
    links: 'Dokumentation',
    autonomi: 'Autonomi',
    network: 'Dokumentation des Netzwerks',
    anttp: 'AntTP, das native Gateway',
  },
};
