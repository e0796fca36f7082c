import { createAntway } from '@antway/page';

// The app's own worker has the route for content.
navigator.serviceWorker.register('/sw.js');
createAntway({ worker: 'none' });
