/** The part of the shell that checks signatures. Pages load it with the list of files. */
export { signatureTexts } from '../texts/signatures.ts';
export { FileSignature } from './file-signature.tsx';
export { openSignatures } from './open-signatures.ts';
