export { printSeed as setup } from './random.ts';
