// First: it holds what has to be said before any schema is made.
import { mount } from './mount.js';
import { App } from './app.js';

mount(<App />);
