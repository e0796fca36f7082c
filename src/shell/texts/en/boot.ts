export const boot = {
  cannotStart: 'The gateway cannot start',
  nothingHere: 'Nothing here',
  opening: 'Opening …',
  openingLong: 'This takes longer than usual. If the link is a download, the browser is already saving it.',
  insecure: (origin: string) => ({
    message: `This page was loaded over an unprotected connection (${origin}). Browsers run a gateway only over HTTPS, or on the computer that hosts it.`,
    advice:
      'Open the page at its https:// address. On the computer that hosts it, use http://localhost or http://127.0.0.1.',
  }),
  noWorkers: {
    message: 'The gateway is a service worker, and this browser does not support service workers here.',
    advice:
      'Browsers inside apps and private windows of older Firefox versions do not support them. Open this page in an ordinary window of an up-to-date browser.',
  },
  notInstalled: {
    message: 'The browser downloaded the gateway, but could not install it.',
    advice:
      'Try again: a file may have failed to load. If the error persists, the browser may be out of storage, or may block storage for this site.',
  },
  refused: (why: string) => ({
    message: `The browser does not allow this site to install its gateway: ${why}`,
    advice:
      'Allow site data (cookies) for this site, use a window that is not private, or ask the administrator of this browser.',
  }),
  hostSilent: (host: string) => `The host of this gateway (${host}) does not answer.`,
  offline: 'This browser is offline, and the gateway is not installed yet.',
  unreachableAdvice: 'Check the connection, then try again. Once installed, the gateway also works offline.',
  partUnavailable:
    'This part of Antway is not stored on this device yet. Connect to the internet, then load this page again.',
  notFound: (status: number, script: string) => ({
    message: `The host has no gateway to install: it answered ${status} for ${script}.`,
    advice: 'Try again later. If this is your host, check that it serves all files of the build.',
  }),
  broken: {
    message: 'The browser downloaded the gateway, but could not run it.',
    advice: 'Update the browser, then try again. If the error persists, tell the operator of this gateway.',
  },
  other: (why: string) => ({
    message: `The gateway could not start: ${why}`,
    advice: 'Try again. If the error persists, tell the operator of this gateway.',
  }),
  storageBlocked: {
    message: 'This browser blocks storage for this site, and the gateway cannot work without it.',
    advice: 'Allow site data (cookies) for this site, then try again.',
  },
  nothingAt: (path: string) => ({
    message: `The gateway has nothing at ${path}: it is neither an address nor a name of this gateway.`,
    advice: 'Check that the link is complete. An address has 64 hex digits.',
  }),
  notAnswered: {
    message: 'The gateway is installed, but the browser loaded this page without it.',
    advice:
      'An extension or a developer tool (“Bypass for network”) may prevent the gateway from answering. Switch it off, then try again.',
  },
};
