export const share = {
  keyWarning:
    'The link contains the key of this private content. Everyone who gets the link can read all of it, and you cannot take the link back.',
  showPrivateLink: 'Show the link with the key',
  onlyHere: (host: string) => `Links of ${host} work on this computer or in its network only.`,
  antInstead: 'This link opens in every Antway, and in other programs for the network:',
  publicInstead: 'This link works everywhere:',
  linkAt: (host: string) => `Link at ${host}`,
  labels: {
    gateway: 'Link',
    public: 'Link',
    ant: 'ant:// link',
    address: 'Address',
    embed: 'Embed in a page',
  },
  privateLabels: { gateway: 'Private link', ant: 'Manifest link' },
  embedNote: 'The page needs the script of Antway: see “Embed content in a site” in the documentation.',
  more: 'More',
  share: 'Share…',
  notShared: 'The system did not share the link. Copy it instead.',
  qr: 'QR code of the link',
  qrTooLong: 'The link is too long for a QR code.',
};

export type ShareTexts = typeof share;
