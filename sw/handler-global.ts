import { createHandler } from './handler.ts';

/** For `importScripts('/antway-handler.js')`: what `antway/handler` exports, as `self.antway`. */
Object.assign(self, { antway: { createHandler } });
