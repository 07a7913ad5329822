import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = import.meta.dirname;

/**
 * Leaves out what parses HTML. What renders Markdown brings it along, to make elements of HTML in messages if it is asked
 * to: `markdown/markdown.tsx` never asks, and it is a quarter of that script.
 */
const withoutHtmlParser: Plugin = {
  name: 'without-html-parser',
  enforce: 'pre',
  resolveId: (id) => (id === 'rehype-raw' ? '\0without-html-parser' : null),
  load: (id) =>
    id === '\0without-html-parser'
      ? "export default () => { throw new Error('This page makes no elements of HTML in messages.'); };"
      : null,
};

/** The pages that the server serves. `npm run build` puts them into `dist/web`. */
export default defineConfig({
  root: here,
  build: {
    rolldownOptions: { input: [`${here}/index.html`, `${here}/inspector.html`] },
    // Inlined assets are data: addresses, which the pages' own policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The grammar of C++, loaded where a block of it is seen.
    chunkSizeWarningLimit: 1000,
  },
  plugins: [react(), tailwindcss(), withoutHtmlParser],
});
