const links = [
  ['Autonomi', 'https://autonomi.com/'],
  ['Documentation of the network', 'https://docs.autonomi.com/'],
  ['AntTP, the native gateway', 'https://github.com/traktion/AntTP'],
] as const;

/** What this is, in few words, and where to read more. */
export function Help() {
  return (
    <>
      <details>
        <summary>What is this?</summary>
        <p>
          Antway lets this browser open sites and files of the Autonomi network by their content address. A
          service worker fetches their encrypted chunks from peers, checks each against its address, and
          decrypts it here. Peers cannot change what you see. What was seen is kept as peers hold it, and
          opens offline.
        </p>
        <p>
          An address has 64 hex digits. Put a path behind it to open one file of a site:{' '}
          <code>address/page.html</code>.
        </p>
        <p>
          A manifest (<code>.ant</code>) is a list of files, and can hold the only keys to private ones. Open
          it as a file, or as an <code>ant://manifest/</code> link. Antway keeps it, encrypted, on this device
          and sends it nowhere.
        </p>
      </details>
      <nav aria-label="Documentation">
        <ul>
          {links.map(([text, url]) => (
            <li key={url}>
              <a href={url} rel="noreferrer">
                {text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}
