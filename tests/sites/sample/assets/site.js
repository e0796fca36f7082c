// Everything here is an extra: the pages are whole without it.
document.documentElement.dataset.scripts = 'on';

const weekday = new Intl.DateTimeFormat('en', { weekday: 'long' }).format();
const row = document.querySelector(`tr[data-day="${weekday}"]`);
if (row) {
  row.classList.add('is-today');
  const [morning, , evening] = [...row.cells].slice(1).map((cell) => cell.textContent);
  document.querySelector('#today').textContent = `Today is ${weekday}: low water at ${morning} and ${evening}.`;
}
