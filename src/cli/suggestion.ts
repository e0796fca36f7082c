/** The user’s options if no peer answers. */
export const suggestion =
  'To start a gateway with a peer on this computer, run: npm start (or: antway serve <folder>). To use another peer, add: --peer <url>';
