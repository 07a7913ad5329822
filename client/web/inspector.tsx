// First: it holds what has to be said before any schema is made.
import { mount } from './mount.js';
import { InspectorApp } from './inspector/inspector-app.js';

mount(<InspectorApp />);
