/* What a site's own script does with content addresses. `Antway` is there since antway.js. */
async function showCounts() {
  const response = await Antway.fetch('sample', 'notes/counts.csv');
  if (!response.ok) throw new Error(`notes/counts.csv: ${response.status}`);
  const [names, ...rows] = (await response.text())
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const table = document.createElement('table');
  const add = (parent, tag, texts) => {
    const row = parent.insertRow();
    for (const text of texts) row.append(Object.assign(document.createElement(tag), { textContent: text }));
  };
  add(table.createTHead(), 'th', names);
  for (const row of rows.slice(0, 6)) add(table.tBodies[0] ?? table.createTBody(), 'td', row);
  document.getElementById('table').replaceChildren(table);
}

async function showStats() {
  const { requests } = await Antway.stats();
  document.getElementById('footer').textContent =
    `Antway ${Antway.version} has answered ${requests.total} requests in this browser.`;
}

showCounts()
  .then(showStats)
  .catch((error) => {
    document.getElementById('table').textContent = error.message;
  });
