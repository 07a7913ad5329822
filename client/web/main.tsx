import './strict-policy.js';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { Session } from './session/session.js';
import { kept, ofTab } from './session/storage.js';
import './style.css';
import { followTheme } from './theme.js';

followTheme();
const session = new Session({ url: location.origin, kept, ofTab });
const place = document.getElementById('page');
if (place) {
  createRoot(place).render(
    <StrictMode>
      <App session={session} />
    </StrictMode>,
  );
}
