import type { connectionDetails as en } from '../en/connection-details.ts';

export const connectionDetails: typeof en = {
  title: 'Verbindung',
  close: 'Schließen',
  antway: 'Antway-Peer',
  about: {
    checking: 'Das Gateway fragt seine Peers, ob sie antworten.',
    offline: 'Dieses Gerät ist offline. Gespeicherte und angeheftete Websites lassen sich weiterhin öffnen.',
    noPeer: 'Dieses Gateway hat keinen Peer. Es öffnet nur, was dieser Browser gespeichert hat.',
    local: 'Das Gateway erreicht nur, was dieser Computer gespeichert hat, und nicht das Autonomi-Netzwerk.',
    silent:
      'Gespeicherte und angeheftete Websites lassen sich weiterhin öffnen. Für alle anderen muss ein Peer antworten.',
    untried: 'Dieses Programm zeigt erst, dass es läuft, wenn Sie etwas öffnen.',
    direct:
      'Dieser Browser verbindet sich selbst mit Knoten des Netzwerks, wenn Sie etwas öffnen. Die Knoten erfahren Ihre IP-Adresse. Sie können das in den Einstellungen ausschalten.',
    connecting: 'Ein Peer verbindet sich mit dem Netzwerk. Das dauert einige Sekunden.',
    network: 'Ein Peer sucht im Netzwerk, was er nicht gespeichert hat.',
    program: 'Dieses Programm liest aus dem Autonomi-Netzwerk. Es sagt nicht, ob es jetzt verbunden ist.',
    community:
      'Dieser Peer liefert, was er gespeichert hat. Er meldet keine Verbindung zum Autonomi-Netzwerk.',
  },
  states: {
    banned: 'vorübergehend ausgeschlossen, weil er falsche Bytes gesendet hat',
    unknown: 'noch nicht gefragt',
    silent: 'antwortet nicht',
    program: 'antwortet',
    store: 'antwortet mit dem, was er gespeichert hat',
    connected: (name, nodes) => `mit „${name}“ verbunden${nodes === null ? '' : ` über ${nodes} Knoten`}`,
    connecting: (name) => `verbindet sich noch mit „${name}“`,
    disconnected: (name) => `nicht mit „${name}“ verbunden`,
  },
  run: ['Um von diesem Computer aus mehr zu erreichen, führen Sie', ' in einer Kopie von Antway aus.'],
  addPeer: 'Peer hinzufügen',
  checkAgain: 'Erneut prüfen',
  checkingAgain: 'Wird geprüft …',
  add: {
    placeholder: 'peer.example oder 127.0.0.1:18888',
    looking: 'Dort wird nach einem Peer gesucht …',
    suggested:
      'Ein Link hat dieses Feld ausgefüllt. Fügen Sie nur einen Peer hinzu, den Sie verwenden wollen.',
    added: (kind, host) => `${kind} hinzugefügt: ${host}`,
    anyway: 'Trotzdem hinzufügen',
    insecure: 'Nur ein Peer auf diesem Computer darf http:// haben. Verwenden Sie für alle anderen https://.',
    obstacles: {
      refused: (host) =>
        `Unter ${host} antwortet nichts. Prüfen Sie den Namen und den Port und ob der Peer läuft.`,
      hidden: (host) =>
        `Unter ${host} antwortet ein Server, aber er erlaubt dieser Seite nicht, seine Antworten zu lesen (CORS). Wenn es AntTP oder antd ist, tragen Sie es bei einem Antway-Peer als Upstream ein.`,
      foreign: (host) =>
        `Unter ${host} antwortet ein Server, aber er ist weder Antway-Peer noch AntTP noch antd.`,
      denied: (host) =>
        `Der Browser lässt diese Seite ${host} nicht erreichen. Erlauben Sie den Zugriff auf das lokale Netzwerk in seinen Einstellungen für diese Website (das Symbol links neben der Adresse) und versuchen Sie es erneut.`,
      mixed: (host) =>
        `Dieser Browser lässt eine Seite mit https:// nicht ${host} ohne https:// erreichen. Öffnen Sie Antway von diesem Computer aus (npm start) oder verwenden Sie einen Peer mit https://.`,
    },
  },
  access: {
    about: {
      loopback:
        'Dieser Browser braucht vielleicht Ihre Erlaubnis, bevor diese Seite Programme auf diesem Computer erreicht.',
      local:
        'Dieser Browser braucht vielleicht Ihre Erlaubnis, bevor diese Seite Geräte in Ihrem Netzwerk erreicht.',
    },
    allow: 'Um Erlaubnis fragen',
    denied:
      'Der Browser lehnt ab. Erlauben Sie den Zugriff auf das lokale Netzwerk in seinen Einstellungen für diese Website (das Symbol links neben der Adresse) und versuchen Sie es erneut.',
    silent: 'Dort antwortet nichts. Prüfen Sie, ob das Programm läuft.',
  },
};
