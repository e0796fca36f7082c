import { defineConfig } from '@playwright/test';
export default defineConfig({ testDir: 'tests/browser', workers: 1, use: { launchOptions: { executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] } } });
