import { createAntway } from '@antway/page';

const [peer = '', site = ''] = location.hash.slice(1).split(',');
const antway = createAntway({
  worker: `${import.meta.env.BASE_URL}antway-sw.js`,
  config: { peers: [peer] },
});
antway
  .fetch(site, 'a.txt')
  .then((response) => response.text())
  .catch(String)
  .then((text) => {
    document.getElementById('text')!.textContent = text;
  });
