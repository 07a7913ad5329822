import { describe, expect, test } from 'vitest';
import { ServerProcess } from '../harness/server-process.js';
import { startServer } from '../harness/server.js';

const PAGES = ['/', '/chats/some-chat', '/inspector', '/inspector/some-chat'];

describe('the pages', () => {
  test('are the same for everybody, load everything from this server, and run nothing but what it has built', async () => {
    const { url } = await new ServerProcess({ PAGES_IMAGE_ORIGINS: 'https://img.example.com' }).start();
    for (const path of PAGES) {
      const response = await fetch(url + path);
      expect(response.status, path).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const policy = response.headers.get('content-security-policy')?.split(';');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("img-src 'self' https://img.example.com");
      expect(policy).toContain("frame-ancestors 'none'");
      const page = await response.text();
      expect(page).not.toMatch(/(src|href)="(?!\/assets\/)/);
      const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file);
      expect(files.length).toBeGreaterThan(1);
      for (const file of files) {
        const asset = await fetch(url + file);
        expect(asset.status, file).toBe(200);
        expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      }
    }
    for (const path of [
      '/chats',
      '/chats/',
      '/inspector/a/b',
      '/index.html',
      '/assets',
      '/assets/',
      '/assets/..%2findex.html',
    ])
      expect((await fetch(url + path)).status, path).toBe(404);
    expect((await fetch(url, { method: 'POST' })).status).toBe(404);
  });

  test('PAGES=0 serves none of them', async () => {
    const { url } = await new ServerProcess({ PAGES: '0' }).start();
    for (const path of PAGES) expect((await fetch(url + path)).status, path).toBe(404);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test('a server that runs from its sources, where none are built, says that there are none', async () => {
    const { url } = await startServer();
    const response = await fetch(url);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'not_found' } });
  });
});
