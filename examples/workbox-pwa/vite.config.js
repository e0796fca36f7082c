import { defineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';

export default defineConfig({
  plugins: [
    VitePWA({
      strategies: 'injectManifest',
      srcDir: 'src',
      filename: 'sw.js',
      injectRegister: false,
      manifest: { name: 'Antway with Workbox', short_name: 'Antway', display: 'standalone' },
      // The handler stores its own WebAssembly.
      injectManifest: { globPatterns: ['**/*.{html,js,css}'], rollupFormat: 'iife' },
    }),
  ],
  define: {
    'import.meta.env.PEER': JSON.stringify(process.env.ANTWAY_PEER ?? 'http://127.0.0.1:8080'),
  },
});
