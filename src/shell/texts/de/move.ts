import type { Texts } from '../en/index.ts';

/** German: moving the library to another address of the same gateway. */
export const move: Texts['move'] = {
  title: 'Eine andere Adresse dieses Gateways',
  offer: (origin) => `Dieses Gateway ist auch unter ${origin}, wo jede Seite einen eigenen Ursprung hat.`,
  offerLibrary: 'Die Bibliothek von hier kann dorthin kopiert werden.',
  start: 'Bibliothek dorthin umziehen…',
  open: 'Dort öffnen',
  openLibrary: 'Die Bibliothek dort öffnen',
  dismiss: 'Dieses Angebot ausblenden. In den Einstellungen bleibt es',
  blocked:
    'Der Browser hat das Fenster nicht geöffnet. Erlauben Sie dieser Seite, Fenster zu öffnen, und versuchen Sie es erneut.',
  goOn: 'Es geht in dem Fenster weiter, das geöffnet wurde.',
  cancelled: 'Die Bibliothek wurde nicht oder nicht ganz kopiert. Hier ist noch alles da.',
  done: (copied, failed, origin) =>
    `${copied} ${copied === 1 ? 'Seite wurde' : 'Seiten wurden'} nach ${origin} kopiert${failed > 0 ? `, und ${failed} nicht. Das andere Fenster sagt, warum` : ''}. Hier ist noch alles da.`,
  delete: 'Hier löschen…',
  confirmDelete:
    'Alles löschen, was Antway unter dieser Adresse aufbewahrt? Die Kopie unter der anderen Adresse bleibt.',
  confirmDeletePartly: (failed) =>
    `Alles löschen, was Antway unter dieser Adresse aufbewahrt? ${failed === 1 ? 'Ein Teil' : `${failed} Teile`} davon ${failed === 1 ? 'konnte nicht kopiert werden und wäre' : 'konnten nicht kopiert werden und wären'} verloren.`,
};
