/** English: the start of the gateway and its errors. */
export const boot = {
  cannotStart: 'The gateway cannot start',
  nothingHere: 'Nothing here',
  opening: 'Opening …',
  openingLong: 'This takes longer than usual. If the link is a download, the browser is already saving it.',
  insecure: (origin: string) => ({
    message: `This page came over an unprotected connection (${origin}). Browsers run a gateway only over https, or on this same computer.`,
    advice:
      'Open it by its https address. On the computer that runs it, use http://localhost or http://127.0.0.1.',
  }),
  noWorkers: {
    message: 'This browser offers no service workers here, and the gateway is one.',
    advice:
      'In-app browsers leave them out, and so do private windows of older versions of Firefox: open this page in an ordinary window of an up-to-date browser.',
  },
  notInstalled: {
    message: 'The gateway was fetched, but it could not be installed.',
    advice:
      'Try again: a file may have failed to load. If it stays so, this browser may be out of storage, or block it for this site.',
  },
  refused: (why: string) => ({
    message: `The browser does not allow this site to install its gateway: ${why}`,
    advice:
      'Allow site data (cookies) for this site, leave the private window, or ask whoever manages this browser.',
  }),
  hostSilent: (host: string) => `The host of this gateway (${host}) does not answer.`,
  offline: 'This browser is offline, and the gateway is not installed in it yet.',
  unreachableAdvice: 'Check the connection, then try again. Once installed, the gateway also works offline.',
  notFound: (status: number, script: string) => ({
    message: `The host has no gateway to install: it answered ${status} for ${script}.`,
    advice: 'Try again later. If this is your host, see that it serves all files of the build.',
  }),
  broken: {
    message: 'The gateway was fetched, but this browser could not run it.',
    advice:
      'Update the browser, then try again. If it stays so, the host of this gateway has to look into it.',
  },
  other: (why: string) => ({
    message: `The gateway could not start: ${why}`,
    advice: 'Try again. If it stays so, the host of this gateway has to look into it.',
  }),
  storageBlocked: {
    message: 'This browser blocks storage for this site, and the gateway cannot work without it.',
    advice: 'Allow site data (cookies) for this site, then try again.',
  },
  nothingAt: (path: string) => ({
    message: `The gateway has nothing at ${path}: it is neither an address nor a bookmark of this gateway.`,
    advice: 'See that the link is complete. An address has 64 hex digits.',
  }),
  notAnswered: {
    message: 'The gateway is installed, but the browser did not let it answer this page.',
    advice:
      'An extension or a developer tool (“Bypass for network”) may hold it back. Switch it off, then try again.',
  },
};
