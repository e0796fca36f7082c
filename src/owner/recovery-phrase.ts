import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { AntwayError } from '../errors.ts';
import { seedBytes } from './owner-key.ts';

const wordCount = 24;

/** The recovery phrase of a key: 24 English words of BIP-39. They are the seed itself, with a checksum of 8 bits. */
export function phraseOf(seed: Uint8Array): string {
  return entropyToMnemonic(seed, wordlist);
}

/**
 * The seed of a recovery phrase. Upper case, line breaks and more than one space do not matter.
 * @throws AntwayError `BAD_CONFIG` for a wrong number of words, an unknown word, or a wrong checksum. The
 *   message has no word of the phrase.
 */
export function seedOfPhrase(text: string): Uint8Array<ArrayBuffer> {
  const words = text.normalize('NFKD').toLowerCase().trim().split(/\s+/);
  if (words.length !== wordCount) {
    throw new AntwayError('BAD_CONFIG', `A recovery phrase has ${wordCount} words, not ${words.length}.`);
  }
  const unknown = words.findIndex((word) => !wordlist.includes(word));
  if (unknown >= 0) {
    const message = `Word ${unknown + 1} of the recovery phrase is not in the list of words.`;
    throw new AntwayError('BAD_CONFIG', message);
  }
  try {
    return Uint8Array.from(mnemonicToEntropy(words.join(' '), wordlist)).slice(0, seedBytes);
  } catch {
    const message = 'The words do not belong together. One is wrong, or the order is.';
    throw new AntwayError('BAD_CONFIG', message);
  }
}
