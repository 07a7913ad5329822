import express, { Router, type RequestHandler } from 'express';
import helmet from 'helmet';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface PagesSettings {
  /** Where `npm run build` has put the pages; null: none are served. */
  readonly pagesFolder: string | null;
  /** Origins, beside this server, from which images of messages may be loaded. */
  readonly imageOrigins: readonly string[];
}

/** A page and every address at which it is opened: the chat that is shown stands in the path. */
const PAGES = [
  { file: 'index.html', paths: ['/', '/chats/:chatId'] },
  { file: 'inspector.html', paths: ['/inspector', '/inspector/:chatId'] },
];

/**
 * The page to chat in and the inspector: files, the same for everybody, which reach a chat like any other client does.
 *
 * Their policy is the second wall behind the cleaning of what models write: nothing runs that this server has not built,
 * and nothing is loaded from elsewhere, since the address of a picture can carry away what was said.
 */
export function createPages({ pagesFolder, imageOrigins }: PagesSettings): Router {
  const router = Router({ caseSensitive: true, strict: true });
  if (pagesFolder === null) return router;
  const policy = pagesPolicy(imageOrigins);
  for (const { file, paths } of PAGES) router.get(paths, policy, sendPage(join(pagesFolder, file)));
  // Their names hold a hash of what is in them.
  const assets = { index: false, redirect: false, immutable: true, maxAge: '1y' } as const;
  router.use('/assets', express.static(join(pagesFolder, 'assets'), assets));
  return router;
}

/** Asked for anew each time, so that a page fits the server that it talks to. */
const sendPage =
  (file: string): RequestHandler =>
  (_request, response, next) => {
    if (!existsSync(file)) return next();
    response.set('cache-control', 'no-cache');
    response.sendFile(file, { cacheControl: false, lastModified: false, etag: true });
  };

const pagesPolicy = (imageOrigins: readonly string[]): RequestHandler =>
  helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      // Menus and virtual lists place their elements by style.
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", ...imageOrigins],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  });
