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
    notKnownYet: 'Shown as soon as the gateway runs.',
    cancel: 'Cancel',
    copy: 'Copy',
    copied: 'Copied.',
    notCopied: 'The browser did not allow it: select the text and copy it.',
    reload: 'Reload',
    save: 'Save',
    share: 'Share',
    startPage: 'Start page',
    tryAgain: 'Try again',
  },

  status: {
    starting: 'Starting the gateway …',
    bypassed: 'This page was loaded without the gateway.',
    failed: 'The gateway is not running',
    fault: 'Running, with a problem',
    notStoring: 'This browser stores nothing',
    configWrong:
      'This gateway cannot show content now, because its host sends no valid configuration. You need not do anything: this page continues by itself once the operator has corrected that. For the operator',
    configRefused:
      'The host sends no valid configuration now, so the gateway continues with the earlier one. You need not do anything. For the operator',
    siteUnreachable:
      'The origin of this site does not answer. Check that its host can be reached, then try again.',
    sitePartitioned: (url: string) =>
      `This browser separates the storage of this site from the gateway’s storage. Manage the site at ${url}.`,
    noWorker: 'The gateway does not control this page yet.',
  },

  notices: {
    update: 'Update ready: reload to use the new version of Antway.',
    updateWaits: (running: number) =>
      `Update ready. This page reloads when ${running === 1 ? 'a running transfer has' : `${running} running transfers have`} finished.`,
    updateWaitsForPublishing: 'Update ready. This page reloads when publishing has finished.',
    updateHandsOver: 'The new version takes over. Transfers to other tabs may delay it for a few minutes.',
    updatedElsewhere: 'Antway was updated in another tab. Reload this page too, when you are done here.',
    updateNow: 'Reload',
    updateAnyway: 'Reload anyway',
    install: 'Install Antway to open it in its own window, also offline.',
    installNow: 'Install',
    dismiss: 'Not now',
  },
};
