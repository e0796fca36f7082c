/** `<script src="/antway.js" data-peers="…"></script>`: options from its own attributes, the result as `Antway`. */
import { createAntway, type Antway as InPage } from './antway.ts';
import { page } from './dom.ts';
import { readAttributes } from './options.ts';

declare global {
  var Antway: InPage;
}

// A module has no `currentScript`.
const element = page.currentScript ?? page.querySelector('script[src*="antway.js"]');
const script = element instanceof HTMLScriptElement ? element : undefined;

globalThis.Antway = createAntway(() => readAttributes(script?.dataset ?? {}), script?.src);
