/** `<script src="/antway.js" data-peers="…"></script>`: reads options from its attributes, sets the global `Antway`. */
import { createAntway, type Antway as InPage } from './antway.ts';
import { page } from './dom.ts';
import { readAttributes } from './options.ts';

declare global {
  var Antway: InPage;
}

// `currentScript` is null in a module.
const element = page.currentScript ?? page.querySelector('script[src*="antway.js"]');
const script = element instanceof HTMLScriptElement ? element : undefined;

globalThis.Antway = createAntway(() => readAttributes(script?.dataset ?? {}), script?.src || undefined);
