export const signatures = {
  note: 'A signature covers the bytes of one file. It says nothing about the file’s name, the site and the other files.',
  unsigned: 'Not signed',
  checking: 'Checking the signature …',
  check: (name: string) => `Check the signature of ${name}`,
  checkShort: 'Check the signature',
  again: 'Try again',
  you: (label: string) => (label ? `you (${label})` : 'you'),
  signedBy: (who: string) => `Signed by ${who}`,
  key: (address: string) => `The key of the lasting address ${address}`,
  invalid: 'The signature is not valid. Do not trust this file.',
  noKey: 'Signed, but the archive does not say by which key',
  failed: 'The signature could not be checked.',
  sign: 'Sign the files',
  signNote:
    'Readers see which key signed each file. The archive gets one more file, your public key. AntTP 0.26 cannot open signed files.',
  withKey: 'Key of the lasting address',
  passphrase: 'Passphrase of the key',
  noKeys: 'The key of a lasting address signs. Create one below first.',
};

export type SignatureTexts = typeof signatures;
