export { antway } from './antway.ts';
export { PluginError } from './worker-files.ts';
