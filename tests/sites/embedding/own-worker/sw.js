importScripts('antway-handler.js');
const content = antway.createHandler({ config: { peers: ['%PEERS%'] } });

// The site's own part: one page that is made here.
addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (content.matches(event.request.url)) event.respondWith(content.handle(event));
  else if (pathname.endsWith('/own')) event.respondWith(new Response('of the site’s own worker'));
});
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
