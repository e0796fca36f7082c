import { signatures } from './remembered-signatures.ts';

// Doubles of nodes make thousands of signatures, each in 30 ms. With this module they are random bytes, which checks in this
// process accept. Commands in other processes do not. The full tier makes real signatures. Import it before the modules
// under test.
signatures.areFast = process.env.ANTWAY_TIER !== 'full';
