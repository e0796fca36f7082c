import { antway } from '@antway/vite';
import { defineConfig } from 'vite';

export default defineConfig({ base: '/sub/', plugins: [antway()] });
