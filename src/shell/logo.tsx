/** The logo of Antway. It is decoration: the name stands next to it. */
export function Logo() {
  return <img class="logo" src="/icon.svg" alt="" width="32" height="32" />;
}
