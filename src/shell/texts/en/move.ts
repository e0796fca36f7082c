/** English: moving the library to another address of the same gateway. */
export const move = {
  title: 'Another address of this gateway',
  offer: (origin: string) =>
    `This gateway is also at ${origin}, where each site runs on an origin of its own.`,
  offerLibrary: 'The library here can be copied there.',
  start: 'Move the library there…',
  open: 'Open it there',
  openLibrary: 'Open the library there',
  dismiss: 'Hide this offer. The settings keep it',
  blocked: 'The browser did not open the window. Allow this page to open windows, then try again.',
  goOn: 'Go on in the window that was opened.',
  cancelled: 'The library was not copied, or not all of it. Everything is still here.',
  done: (copied: number, failed: number, origin: string) =>
    `${copied} ${copied === 1 ? 'site was' : 'sites were'} copied to ${origin}${failed > 0 ? `, and ${failed} could not be. The other window says why` : ''}. Everything is still here.`,
  delete: 'Delete it here…',
  confirmDelete: 'Delete everything that Antway keeps at this address? The copy at the other address stays.',
  confirmDeletePartly: (failed: number) =>
    `Delete everything that Antway keeps at this address? ${failed === 1 ? 'One part' : `${failed} parts`} of it could not be copied and would be lost.`,
};
