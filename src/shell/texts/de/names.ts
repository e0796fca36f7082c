import type { names as english } from '../en/names.ts';

export const names: typeof english = {
  yourName: 'Ihr Name dafür',
  give: 'Namen geben…',
  rename: 'Umbenennen…',
  remove: 'Entfernen',
  name: 'Name',
  note: (name) => `Nur dieser Browser kennt ihn. Mit ${name} öffnen Sie den Inhalt.`,
  save: 'Namen speichern',
  saved: (name) => `${name} ist gespeichert.`,
  removed: (name) => `${name} ist entfernt.`,
  otherNames: (names) => `Heißt auch ${names}`,
  conflict: (names) => `Andere Bedeutungen dieses Namens, mit einer anderen Adresse: ${names}`,
  tooMany: (count) => `Sie haben ${count} Namen. Entfernen Sie zuerst einen.`,
  taken: (name) => `Sie haben den Namen ${name} schon für eine andere Adresse.`,
  alike: (name) =>
    `Er sieht aus wie Ihr Name ${name}. Wählen Sie einen Namen, der sich nicht verwechseln lässt.`,
  problems: {
    empty: 'Geben Sie einen Namen ein.',
    long: 'Ein Name hat höchstens 100 Zeichen.',
    hidden: 'Der Name enthält Zeichen, die unsichtbar sind oder die Schreibrichtung ändern.',
    characters:
      'Ein Name besteht nur aus Buchstaben, den Ziffern 0 bis 9, Punkten, Binde- und Unterstrichen.',
    start: 'Ein Name beginnt mit einem Buchstaben oder einer Ziffer.',
    form: 'Der Name enthält ungewöhnliche Formen von Buchstaben, etwa hochgestellte. Verwenden Sie einfache Buchstaben.',
    scripts: 'Die Buchstaben eines Namens gehören zu einer Schrift, etwa nur lateinisch oder nur griechisch.',
    address: 'Der Name sieht aus wie eine Adresse.',
  },
  lists: {
    title: 'Namenslisten',
    note: 'Der Eigentümer einer Liste gibt Adressen Namen. Sie sehen diese als Name@Liste. Die bleibende Adresse der Liste beweist, wer der Eigentümer ist, und sagt nichts über die Websites. Die Peers sehen, dass Sie die Liste abrufen.',
    label: 'Ihre Bezeichnung der Liste',
    address: 'Adresse der Liste',
    add: 'Namensliste hinzufügen',
    remove: (label) => `Die Liste ${label} entfernen`,
    refresh: 'Neu lesen',
    refreshed: 'Die Listen wurden gelesen.',
    state: (names, date) => `${names}, gelesen ${date}`,
    count: (count) => (count === 1 ? '1 Name' : `${count} Namen`),
    left: (count) =>
      count === 1
        ? 'Ein Name ist weggelassen: Er ist ungültig oder sieht aus wie ein anderer.'
        : `${count} Namen sind weggelassen: Sie sind ungültig oder sehen aus wie andere.`,
    unread: 'Noch nicht gelesen.',
    problem: 'Sie ließ sich nicht lesen',
    tooMany: (most) => `Höchstens ${most} Namenslisten werden gelesen.`,
    taken: (label) => `Es gibt schon eine Liste ${label} oder eine, die so aussieht.`,
    ownNote:
      'Um anderen Ihre Namen zu geben, speichern Sie sie als Datei, veröffentlichen die Datei und richten eine bleibende Adresse darauf. Wiederholen Sie das nach einer Änderung. Wer die Adresse kennt, sieht alle Namen darin.',
    saveOwn: 'Meine Namen als Liste speichern…',
    savedOwn: 'Die Liste wurde gespeichert. Veröffentlichen Sie sie unter „Veröffentlichen“.',
  },
};
