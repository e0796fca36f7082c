/** The mark of Antway. Decoration: the name stands beside it. */
export function Logo() {
  return <img class="logo" src="/icon.svg" alt="" width="32" height="32" />;
}
