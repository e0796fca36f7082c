import { defineConfig } from 'astro/config';

export default defineConfig({
  vite: {
    define: {
      'import.meta.env.PEER': JSON.stringify(process.env.ANTWAY_PEER ?? 'http://127.0.0.1:8080'),
    },
  },
});
