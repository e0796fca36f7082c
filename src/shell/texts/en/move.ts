export const move = {
  title: 'Another address of this gateway',
  offer: (origin: string) => `This gateway is also at ${origin}, where each site has its own origin.`,
  offerLibrary: 'You can copy the library of this address there.',
  start: 'Move the library there…',
  open: 'Open it there',
  openLibrary: 'Open the library there',
  dismiss: 'Hide this offer. It stays in the settings',
  blocked: 'The browser did not open the window. Allow this page to open windows, then try again.',
  goOn: 'Continue in the new window.',
  cancelled: 'The library was not copied, or only a part of it. Everything is still here.',
  done: (copied: number, published: number, failed: number, origin: string) =>
    `${copied} ${copied === 1 ? 'site' : 'sites'}${published === 0 ? '' : ` and ${published} ${published === 1 ? 'publication' : 'publications'}`} ${copied + published === 1 ? 'was' : 'were'} copied to ${origin}${failed > 0 ? `, and ${failed} could not be. The other window says why` : ''}. Everything is still here.`,
  delete: 'Delete it here…',
  confirmDelete: 'Delete all data of Antway at this address? The copy at the other address stays.',
  confirmDeletePartly: (failed: number) =>
    `Delete all data of Antway at this address? ${failed === 1 ? 'One part' : `${failed} parts`} of it could not be copied and would be lost.`,
};
