// A router for one page: the last part of the address says what was chosen.
document.documentElement.dataset.scripts = 'on';

const answers = {
  'hard-and-still': ['limpet', 'A common limpet', 'if it is a cone that will not budge'],
  'soft-and-still': ['anemone', 'A beadlet anemone', 'if it is a blob of dark jelly'],
  'on-the-run': ['crab', 'A shore crab', 'if it left sideways'],
  swaying: ['wrack', 'Bladder wrack', 'if it has bubbles in pairs'],
};

const form = document.querySelector('#finder');
const answer = document.querySelector('#answer');
const links = [...form.querySelectorAll('a')];
form.hidden = false;

function show() {
  const choice = decodeURIComponent(location.pathname.split('/').at(-1));
  for (const link of links) {
    if (link.getAttribute('href') === choice) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
  answer.replaceChildren();
  if (!(choice in answers)) return;
  const [page, name, condition] = answers[choice];
  const link = Object.assign(document.createElement('a'), { href: `../species/${page}.html`, textContent: name });
  answer.append(link, `, ${condition}.`);
}

form.addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, '', link.href);
  show();
});
addEventListener('popstate', show);
show();
