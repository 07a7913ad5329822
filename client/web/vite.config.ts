import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const here = import.meta.dirname;

/** The pages that the server serves. `npm run build` puts them into `dist/web`. */
export default defineConfig({
  root: here,
  build: {
    rolldownOptions: { input: [`${here}/index.html`, `${here}/inspector.html`] },
    // Inlined assets are data: addresses, which the pages' own policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Markdown and its highlighter are most of it, and are loaded once.
    chunkSizeWarningLimit: 1500,
  },
  plugins: [react(), tailwindcss()],
});
