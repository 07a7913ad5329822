import { JSDOM } from 'jsdom';
import { populateGlobal } from 'vitest/runtime';

/**
 * A browser's page around a test whose server runs in the same process, to be imported before anything of React. Vitest's
 * own environment of this kind would load the server as for a browser.
 */
const { window } = new JSDOM('<!doctype html>', { url: 'http://localhost/', pretendToBeVisual: true });
populateGlobal(globalThis, window, { bindFunctions: true });

// Of React, and so after the page is there. It waits one second by itself: on a busy machine that says nothing of the code.
const { configure } = await import('@testing-library/react');
configure({ asyncUtilTimeout: 15_000 });
