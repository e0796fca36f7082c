/** English: the frame around all screens, and texts that several screens share. */
export const frame = {
  appName: 'Antway',

  nav: {
    label: 'Screens',
    skip: 'Skip to the content',
    open: 'Open',
    library: 'Library',
    live: 'Live',
    publish: 'Publish',
    settings: 'Settings',
  },

  common: {
    chunks: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'chunk' : 'chunks'}`,
    files: (count: number, formatted: string) => `${formatted} ${count === 1 ? 'file' : 'files'}`,
    notUpToDate: 'Not up to date',
    notKnownYet: 'Known as soon as the gateway runs.',
    cancel: 'Cancel',
    copy: 'Copy',
    copied: 'Copied.',
    notCopied: 'The browser did not allow it: select the text and copy it.',
    reload: 'Reload',
    save: 'Save',
    startPage: 'Start page',
    tryAgain: 'Try again',
  },

  status: {
    starting: 'Starting the gateway …',
    bypassed: 'This page was loaded past the gateway.',
    failed: 'The gateway is not running',
    fault: 'Running, with a problem',
    offline: 'Offline: what was seen still opens',
    noPeer: 'Running, without a peer',
    noPeerAnswers: 'Running, but no peer answers',
    nothingKept: 'Running, but this browser keeps nothing',
    running: 'Gateway running',
    configRefused: 'The host’s new configuration is not used',
    siteUnreachable:
      'The origin of this site does not answer. Check that its host can be reached, then try again.',
    sitePartitioned: (url: string) =>
      `This browser keeps the storage of this site apart from the gateway’s. Manage the site at ${url}.`,
    noWorker: 'The gateway does not control this page yet.',
  },

  notices: {
    update: 'Update ready: reload to use the new version of Antway.',
    updateWaits: (running: number) =>
      running === 1
        ? 'Update ready. This page reloads once a file that is being sent has come to its end.'
        : `Update ready. This page reloads once ${running} files that are being sent have come to their end.`,
    updateWaitsForPublishing: 'Update ready. This page reloads once what it is publishing is done.',
    updateHandsOver:
      'The new version takes over. What is still being sent to another tab may hold it up for a few minutes.',
    updatedElsewhere: 'Antway was updated in another tab. Reload this page too, when you are done here.',
    updateNow: 'Reload',
    updateAnyway: 'Reload anyway',
    install: 'Install Antway, and it opens in a window of its own, also offline.',
    installNow: 'Install',
    dismiss: 'Not now',
  },
};
