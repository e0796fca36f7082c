/* A router like Turbo: it fetches the page that a link leads to, and puts it into this document. */
async function visit(url, headers) {
  const response = await fetch(url, { headers });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  document.body.replaceChildren(...page.body.childNodes);
  // A script that a parser like this one made does not run. A new element with the same text does.
  for (const script of document.body.querySelectorAll('script')) {
    const copy = document.createElement('script');
    copy.textContent = script.textContent;
    script.replaceWith(copy);
  }
  return response.status;
}

addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link || link.origin !== location.origin || link.dataset.turbo === 'false') return;
  event.preventDefault();
  visit(link.href);
});
