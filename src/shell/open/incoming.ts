/**
 * What another program handed over by the start page's query: a link of our kind (`open`, see `protocol_handlers`
 * in the manifest), or something shared (`url`, `text`, `title`: `share_target`). Taken out of the URL, so that a
 * reload does not open it once more.
 *
 * @returns the text for the address box; undefined when there is none.
 */
export function takeIncoming(): string | undefined {
  const query = new URLSearchParams(location.search);
  const given = ['open', 'url', 'text', 'title'].map((key) => query.get(key)?.trim()).filter(Boolean);
  if (given.length === 0) return undefined;
  history.replaceState(null, '', location.pathname + location.hash);
  // Programs put a link into whichever of the fields they like, with words around it.
  const links = given.flatMap((text) => text!.match(/(?:[a-z][a-z0-9+.-]*:\S+|\b[0-9a-f]{64}\b\S*)/gi) ?? []);
  return links[0] ?? given[0];
}
