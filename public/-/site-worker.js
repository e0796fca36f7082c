// The worker of a site's own origin. Hosts send this file as `/sw.js` on the name of a site. The browser has the
// gateway's worker from the gateway's origin, so a site need not load it again.
(() => {
  const { host, pathname } = self.location;
  const site = /^[a-z2-7]{51}[aq]\.(.+)$/;
  const [, root] = site.exec(host) ?? [];
  // A host that ignores queries sends this file again as `/sw.js?whole`.
  const isRepeated = 'importsGateway' in self;
  if (!root || site.test(root) || pathname !== '/sw.js' || isRepeated)
    throw new Error(`antway: ${pathname} is not the worker of ${host}`);
  self.importsGateway = true;
  try {
    importScripts(`//${root}/sw.js`);
  } catch {
    // If the script itself fails, it fails again, and the browser reports that error.
    importScripts('/sw.js?whole');
  }
})();
