import './strict-policy.js';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { Session } from './session/session.js';
import { kept, ofTab } from './session/storage.js';
import './style.css';
import { followTheme } from './theme.js';

/** Shows a page, for whoever this browser has named. */
export function mount(pageFor: (session: Session) => ReactNode): void {
  followTheme();
  const place = document.getElementById('page');
  const session = new Session({ url: location.origin, kept, ofTab });
  if (place) createRoot(place).render(<StrictMode>{pageFor(session)}</StrictMode>);
}
