import { JSDOM } from 'jsdom';
import { populateGlobal } from 'vitest/runtime';

/**
 * A browser's page around a test whose server runs in the same process, to be imported before anything of React. Vitest's
 * own environment of this kind would load the server as for a browser.
 */
const { window } = new JSDOM('<!doctype html>', { url: 'http://localhost/', pretendToBeVisual: true });
populateGlobal(globalThis, window, { bindFunctions: true });
