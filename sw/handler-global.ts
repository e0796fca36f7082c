import { createHandler } from './handler.ts';

/** For `importScripts('/antway-handler.js')`: assigns the exports of `antway/handler` to `self.antway`. */
Object.assign(self, { antway: { createHandler } });
