/** `<script src="/antway.js" data-peers="…"></script>`: options from its own attributes, the result as `Antway`. */
import { createAntway, type Antway as InPage } from './antway.ts';
import { readAttributes } from './options.ts';

declare global {
  var Antway: InPage;
}

// A module has no `currentScript`.
const script = (document.currentScript ??
  document.querySelector('script[src*="antway.js"]')) as HTMLScriptElement | null;

globalThis.Antway = createAntway(() => readAttributes(script?.dataset ?? {}), script?.src);
