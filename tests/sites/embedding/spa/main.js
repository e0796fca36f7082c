import { createAntway } from 'antway';

const antway = createAntway({ config: { peers: ['%PEERS%'] } });
const main = document.querySelector('main');

/** Each view is made when it is gone to, as in any application of one page. */
const views = {
  '#picture': () => {
    const picture = document.createElement('img');
    picture.src = 'ant://%SITE%/assets/img/crab.png';
    main.replaceChildren(picture);
  },
  '#text': async () => {
    const response = await antway.fetch('%SITE%', 'notes/counts.csv');
    main.textContent = await response.text();
  },
};

const show = () => views[location.hash]?.();
addEventListener('hashchange', show);
show();
