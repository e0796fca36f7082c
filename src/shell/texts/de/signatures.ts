import type { SignatureTexts } from '../en/signatures.ts';

export const signatures: SignatureTexts = {
  note: 'Eine Signatur gilt für die Bytes einer Datei. Sie sagt nichts über den Namen der Datei, die Website und die anderen Dateien.',
  unsigned: 'Nicht signiert',
  checking: 'Die Signatur wird geprüft …',
  check: (name) => `Signatur von ${name} prüfen`,
  checkShort: 'Signatur prüfen',
  again: 'Erneut versuchen',
  you: (label) => (label ? `Ihnen (${label})` : 'Ihnen'),
  signedBy: (who) => `Signiert von ${who}`,
  key: (address) => `Der Schlüssel der bleibenden Adresse ${address}`,
  invalid: 'Die Signatur ist ungültig. Vertrauen Sie dieser Datei nicht.',
  noKey: 'Signiert, aber das Archiv nennt keinen Schlüssel',
  failed: 'Die Signatur konnte nicht geprüft werden.',
  sign: 'Dateien signieren',
  signNote:
    'Leser sehen, welcher Schlüssel jede Datei signiert hat. Das Archiv bekommt eine weitere Datei, Ihren öffentlichen Schlüssel. AntTP 0.26 kann signierte Dateien nicht öffnen.',
  withKey: 'Schlüssel der bleibenden Adresse',
  passphrase: 'Passphrase des Schlüssels',
  noKeys: 'Der Schlüssel einer bleibenden Adresse signiert. Legen Sie unten zuerst eine an.',
};
