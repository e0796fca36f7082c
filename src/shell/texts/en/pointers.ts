export const pointers = {
  title: 'Lasting addresses',
  note: 'A lasting address stays the same while your site changes. Only its key can change where it leads. The key is stored in this browser only, encrypted with your passphrase or your passkey.',
  empty: 'None yet.',
  shared:
    'On this gateway, sites run at the gateway’s own address, where their scripts could reach your keys.',
  blocked: 'The keys cannot be read',
  unnamed: 'Without a name',
  create: 'New lasting address…',
  bring: 'Bring one to this browser…',
  step: {
    about:
      'The address of a publication always shows this version. A lasting address can lead to each new version.',
    create: 'Give it a lasting address…',
    move: 'Show it at your lasting address…',
  },
  createTitle: 'New lasting address',
  bringTitle: 'Bring a lasting address to this browser',
  label: 'Your name for it',
  labelNote: 'Only you see this name.',
  content: 'Leads to',
  otherContent: 'Another address…',
  address: 'Address of the content',
  addressNote:
    '64 hex digits. The address of a publication, or another lasting address, such as that of a new owner.',
  badAddress: 'This is not an address.',
  where: 'Stored at',
  placeQuestion: 'Where do you want to store the address?',
  places: { peers: 'At peers', network: 'In the Autonomi network' },
  networkNote: 'You pay for each new state with your own wallet, and see the price first.',
  relaysNote:
    'They take no money and cannot change where the address leads. With a second one, each checks the other: choose two by different operators if you can.',
  notPaid: 'You went back without paying. The address was not changed.',
  finishFirst:
    'A change of a lasting address is still going on, and may wait for your payment. Finish or cancel it first.',
  passphraseNote:
    'The passphrase encrypts the key in this browser. It cannot be reset. At least 8 characters; several words are best.',
  unlockBy: 'Unlock with',
  locks: { passphrase: 'a passphrase', passkey: 'a passkey' },
  passkeyNote:
    'The passkey works only together with this browser’s stored data. It does not unlock the key on another device, and a backup then has no key unless the key also has a passphrase. Keep the 24 words: they bring the address back if the passkey or the data is lost.',
  passkeyAsks: 'Your browser asks you to confirm the passkey.',
  filePassphrase: 'Choose a passphrase for the file.',
  presentPassphrase: 'Current passphrase',
  newPassphrase: 'The new passphrase:',
  unlockedBy: {
    passphrase: 'A passphrase unlocks the key.',
    passkey: 'A passkey unlocks the key.',
    both: 'A passphrase or a passkey unlocks the key. One of them is enough.',
  },
  changes: {
    addPasskey: 'Add a passkey. The passphrase stays.',
    removePasskey: 'Remove the passkey. The passphrase stays.',
    addPassphrase: 'Add a passphrase. The passkey stays.',
    removePassphrase: 'Remove the passphrase. The passkey stays.',
    changePassphrase: 'Change the passphrase.',
  },
  unlockChanged: (name: string) => `The way to unlock ${name} was changed.`,
  unlockFaults: {
    refused:
      'The passkey was not confirmed. You or your browser refused it, or it is not on this device. If it is lost, use the passphrase, or bring the address back with the 24 words.',
    timeout: 'The passkey was not confirmed in time. Try again.',
    unsupported:
      'This browser or authenticator has no passkeys that can encrypt a key. Use a passphrase. If a passkey named after this address was created, you can delete it.',
    silent:
      'The passkey gave no secret, so it cannot decrypt the key in this way. Keep it, and use it as when you made it: in the same browser and with the same device. Or use the passphrase, or bring the address back with the 24 words.',
    passphrase: 'The passphrase is wrong, or the key was stored by another browser.',
    passkey:
      'This is another passkey, or the stored key was changed. Use the passphrase, or bring the address back with the 24 words.',
    damaged:
      'The stored key is damaged, or it belongs to another address. Bring the address back with the 24 words or a key file.',
    lost: 'This browser’s part of the key was deleted, so neither a passkey nor a passphrase unlocks it. Bring the address back with the 24 words or a key file.',
  },
  next: 'Continue',
  phraseTitle: 'Write these 24 words down',
  phraseNote:
    'They are the key. With them, you can bring the address back if this browser’s data is lost. Everyone who has them can change where the address leads. Keep them on paper.',
  confirmWord: (number: number) => `Word ${number}`,
  confirmNote: 'Type these words from your paper.',
  wrongWords: 'These words differ from the list above.',
  createNow: 'Create',
  created: (name: string) => `${name} is ready. Share its link.`,
  way: 'What do you have?',
  ways: { file: 'A key file', phrase: 'The 24 words' },
  keyFile: 'Key file',
  keyFilePassphrase: 'Its passphrase also encrypts the key in this browser.',
  phrase: '24 words',
  noFile: 'Choose the key file.',
  bringNow: 'Bring it here',
  brought: (name: string) => `${name} is in this browser now.`,
  notAsked: (name: string) =>
    `${name} is in this browser now. The app could not find out its newest state, and asks again before a change.`,
  facts: {
    noState: 'Leads nowhere yet',
    to: (title: string) => `Leads to ${title}`,
    state: (counter: string) => `state ${counter}`,
    frozen: 'frozen for ever',
    incomplete: 'not stored everywhere',
  },
  nodes: 'the nodes of the network',
  missingAt: (peers: string) =>
    `The newest state is not stored at ${peers}. Visitors who ask there do not see it. Choose “Store it again…”.`,
  open: 'Open',
  link: 'Link',
  states: 'Earlier states',
  current: 'now',
  actions: {
    move: 'Change where it leads…',
    back: 'Return to this state…',
    freeze: 'Freeze…',
    store: 'Store it again…',
    keyFile: 'Save key file…',
    phrase: 'Show the 24 words…',
    unlock: 'Passphrase and passkey…',
    remove: 'Remove from this browser…',
  },
  questions: {
    unlock: 'What do you want to change?',
    move: 'The app asks the peers or the network for the newest state first. Visitors see the change within a minute.',
    back: 'The earlier content gets a new, higher state.',
    freeze: 'A frozen address leads to its present content for ever. You cannot undo this.',
    store:
      'The app sends the newest state to the chosen place, if that place does not have it. Nothing new is signed.',
    keyFile:
      'The file is encrypted with a passphrase: the one of the key, or a new one if a passkey unlocks the key. The command “antway pointer” reads it.',
    phrase:
      'Make sure that others cannot see your screen. Everyone who has the words can change where the address leads.',
    remove:
      'Without a key file or the 24 words, you can never change again where the address leads. The address keeps its present content.',
  },
  doIt: {
    unlock: 'Change it',
    move: 'Change it',
    back: 'Return to it',
    freeze: 'Freeze for ever',
    store: 'Store it',
    keyFile: 'Save',
    phrase: 'Show',
    remove: 'Remove the key',
  },
  working: 'Asking the peers, signing and storing …',
  workingInNetwork: 'Asking the network, signing and storing …',
  unlocking: 'Decrypting the key …',
  moved: (name: string, state: string) => `${name} leads to the chosen content now (${state}).`,
  frozen: (name: string) => `${name} is frozen.`,
  stored: (name: string) => `${name} is stored.`,
  saved: 'The key file was saved.',
  removed: (name: string) => `The key of ${name} was removed from this browser.`,
};
