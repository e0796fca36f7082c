import { createAntway } from '@antway/page';

const sample = 'd596a831626a83824acfcb6ebf55f9aefc01f8c939bd87e026d2246091b7cc8e';

// Pictures, films and links with content addresses work in the page from here on.
const antway = createAntway({
  worker: '/antway-sw.js',
  config: { peers: [import.meta.env.PEER], names: { sample } },
});

const response = await antway.fetch('ant://sample/tides.html');
const tides = new DOMParser().parseFromString(await response.text(), 'text/html');
document.getElementById('text').textContent = tides.title;

document.getElementById('pin').addEventListener('click', async () => {
  const progress = document.getElementById('progress');
  const pin = await antway.pin('sample', {
    onProgress: ({ chunks }) => {
      progress.textContent = `${chunks.stored} of ${chunks.total} chunks`;
    },
  });
  await pin.done;
  progress.textContent = 'The site is in this browser.';
});
