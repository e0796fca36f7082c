import fc from 'fast-check';
import { testSeed } from './random.ts';

fc.configureGlobal({ seed: testSeed });
