import { createAntway } from '@antway/page';

/** Renders a page in a server. */
export const render = (address: string) => createAntway().url(address, 'a.txt');
