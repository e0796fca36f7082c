import { AntError, type AntPin, createAntway, DropInError, type PinState } from '@antway/page';

const codeOf = (error: unknown) =>
  error instanceof AntError || error instanceof DropInError ? error.code : String(error);
const failure = (promise: Promise<unknown>) => promise.then(() => 'none', codeOf);

/** Everything of the API, with the worker of `@antway/sw`. */
export async function usePage(peer: string, site: string, forms: string[], absent: string) {
  const picture = document.createElement('img');
  picture.src = `ant://${site}/pixel.svg`;
  document.body.append(picture);
  const options = { worker: '/antway-sw.js', config: { peers: [peer], names: { home: site } } };
  const antway = createAntway(options);
  await antway.ready;
  await picture.decode();

  const texts = await Promise.all(
    forms.map(async (form) =>
      (await antway.fetch(form.startsWith('ant:') ? new URL(form) : form, 'a.txt')).text(),
    ),
  );
  const urls = [
    ...new Set(forms.filter((form) => !form.includes('home')).map((form) => antway.url(form, 'a.txt'))),
  ];
  const range = await antway.fetch('home', 'a.txt', { headers: { Range: 'bytes=1-2' } });
  const part = [range.status, await range.text()];
  const direct = await (await antway.fetch(`ant://${site}/a.txt`, { cache: 'no-store' })).text();

  const seen: PinState[] = [];
  const pin: AntPin = await antway.pin(`ant://${site}/a.txt`, { onProgress: (state) => seen.push(state) });
  await pin.done;
  const pinned = [pin.address, pin.state.state, seen.at(-1)?.chunks.stored === seen.at(-1)?.chunks.total];
  await pin.pause();
  const paused = pin.state.activity;
  await pin.resume();
  const listed = (await antway.pins()).map(({ address }) => address);
  await pin.remove();
  const removed = await failure(pin.pause());

  const waiting = await antway.pin(absent);
  const done = failure(waiting.done);
  await antway.unpin(absent);
  const unpinned = await done;
  const stopped = await antway.pin(absent, { signal: AbortSignal.timeout(100) });
  const timedOut = await stopped.done.catch((error: DOMException) => error.name);

  const codes = [
    await failure(antway.fetch('ant://manifest/AAAA')),
    await failure(antway.pin('nobody')),
    await failure(antway.unpin('cd'.repeat(32))),
  ];
  const total = (await antway.stats()).requests.total > 0;

  const late = antway.pin(absent).then((pin) => pin.done);
  antway.close();
  const closed = [
    await late.catch((error: DOMException) => error.name),
    await antway.fetch(site, 'a.txt').catch((error: DOMException) => error.name),
  ];
  const unwatched = document.createElement('img');
  unwatched.setAttribute('src', `ant://${site}/pixel.svg`);
  document.body.append(unwatched);
  await new Promise((resolve) => setTimeout(resolve, 50));
  const source = unwatched.getAttribute('src');
  const again = createAntway(options);
  await again.ready;
  const after = await (await again.fetch(site, 'a.txt')).text();
  again.close();
  return {
    ...{
      texts: [...new Set(texts)],
      urls,
      part,
      direct,
      pinned,
      paused,
      listed,
      removed,
      unpinned,
      timedOut,
    },
    ...{ codes, total, closed, source, after },
  };
}

/** With a worker of the site's own, which has the route of `@antway/sw/workbox`. */
export async function useOwnWorker(peer: string, site: string) {
  await navigator.serviceWorker.register(`/own-worker.js?peer=${encodeURIComponent(peer)}`);
  const antway = createAntway({ worker: 'none' });
  await antway.ready;
  const text = await (await antway.fetch(site, 'a.txt')).text();
  antway.close();
  return text;
}
