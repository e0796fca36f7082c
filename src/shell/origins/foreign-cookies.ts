/** The length of a wider domain's cookies that is harmless, in characters: hosts accept headers of 8 kB and more. */
const harmlessCharacters = 4_000;

const visibleNames = () => document.cookie.split('; ').map((cookie) => cookie.split('=')[0]!);

/**
 * Antway uses no cookies, so a site on a subdomain has set those of the gateway's own domain. A site can set so many
 * that the host refuses every request. Cookies of a wider domain may belong to other applications, so only long ones
 * are deleted. Cookies that scripts cannot see stay, such as those of a login in front of the gateway.
 */
export function deleteForeignCookies({ hostname }: Location = location): void {
  remove(['', `; Domain=${hostname}`]);
  if (document.cookie.length <= harmlessCharacters) return;
  const labels = hostname.split('.');
  remove(labels.slice(1).map((_, i) => `; Domain=${labels.slice(i + 1).join('.')}`));
}

function remove(domains: readonly string[]): void {
  for (const partition of ['', '; Secure', '; Secure; Partitioned']) {
    for (const domain of domains) {
      if (document.cookie === '') return;
      for (const name of visibleNames()) {
        for (const path of ['/', location.pathname]) {
          // biome-ignore lint/suspicious/noDocumentCookie: every browser has it, also for partitioned cookies
          document.cookie = `${name}=; Max-Age=0; Path=${path}${domain}${partition}`;
        }
      }
    }
  }
}
