import type { Texts } from '../en/index.ts';

export const move: Texts['move'] = {
  title: 'Eine andere Adresse dieses Gateways',
  offer: (origin) =>
    `Dieses Gateway ist auch unter ${origin} erreichbar, wo jede Website einen eigenen Ursprung hat.`,
  offerLibrary: 'Sie können die Bibliothek dieser Adresse dorthin kopieren.',
  start: 'Bibliothek dorthin kopieren…',
  open: 'Dort öffnen',
  openLibrary: 'Die Bibliothek dort öffnen',
  dismiss: 'Dieses Angebot ausblenden. In den Einstellungen bleibt es',
  blocked:
    'Der Browser hat das Fenster nicht geöffnet. Erlauben Sie dieser Seite, Fenster zu öffnen, und versuchen Sie es erneut.',
  goOn: 'Fahren Sie im neuen Fenster fort.',
  cancelled: 'Die Bibliothek wurde nicht oder nur teilweise kopiert. Hier ist noch alles da.',
  done: (copied, published, failed, origin) =>
    `${copied} ${copied === 1 ? 'Website' : 'Websites'}${published === 0 ? '' : ` und ${published} ${published === 1 ? 'Veröffentlichung' : 'Veröffentlichungen'}`} ${copied + published === 1 ? 'wurde' : 'wurden'} nach ${origin} kopiert${failed > 0 ? `, ${failed} nicht. Das andere Fenster sagt, warum` : ''}. Hier ist noch alles da.`,
  delete: 'Hier löschen…',
  confirmDelete:
    'Alle Daten von Antway unter dieser Adresse löschen? Die Kopie unter der anderen Adresse bleibt.',
  confirmDeletePartly: (failed) =>
    `Alle Daten von Antway unter dieser Adresse löschen? ${failed === 1 ? 'Ein Teil davon konnte nicht kopiert werden und wäre' : `${failed} Teile davon konnten nicht kopiert werden und wären`} verloren.`,
};
