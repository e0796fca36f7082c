import type { ShareTexts } from '../en/share.ts';

export const share: ShareTexts = {
  keyWarning:
    'Der Link enthält den Schlüssel dieses privaten Inhalts. Wer den Link bekommt, kann alles lesen, und Sie können den Link nicht zurücknehmen.',
  showPrivateLink: 'Link mit dem Schlüssel zeigen',
  onlyHere: (host) =>
    `Links von ${host} funktionieren nur auf diesem Computer oder in seinem lokalen Netzwerk.`,
  antInstead: 'Dieser Link öffnet sich in jedem Antway und in anderen Programmen für das Netzwerk:',
  publicInstead: 'Dieser Link funktioniert überall:',
  linkAt: (host) => `Link bei ${host}`,
  labels: {
    gateway: 'Link',
    public: 'Link',
    ant: 'ant://-Link',
    address: 'Adresse',
    embed: 'In eine Seite einbetten',
  },
  privateLabels: { gateway: 'Privater Link', ant: 'Manifest-Link' },
  embedNote: 'Die Seite braucht das Skript von Antway: siehe „Embed content in a site“ in der Dokumentation.',
  more: 'Mehr',
  share: 'Teilen…',
  notShared: 'Das System hat den Link nicht geteilt. Kopieren Sie ihn stattdessen.',
  qr: 'QR-Code des Links',
  qrTooLong: 'Der Link ist zu lang für einen QR-Code.',
};
