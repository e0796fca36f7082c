/* What Turbo and its like do: fetch the page that a link leads to, and put it into this document. */
async function visit(url, headers) {
  const response = await fetch(url, { headers });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  document.body.replaceChildren(...page.body.childNodes);
  // What a parser like this one makes does not run: a script of the same text does.
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
