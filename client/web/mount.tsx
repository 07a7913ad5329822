import './strict-policy.js';
import { Tooltip } from 'radix-ui';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { SessionProvider } from './session/session-provider.js';
import { Session } from './session/session.js';
import { kept, ofTab } from './session/storage.js';
import { SignIn } from './session/token-dialog.js';
import './style.css';
import { followTheme } from './theme.js';
import { Notices } from './ui/notices.js';

/** Shows a page, for whoever this browser has named. */
export function mount(page: ReactNode): void {
  followTheme();
  const place = document.getElementById('page');
  const session = new Session({ url: location.origin, kept, ofTab });
  if (place) createRoot(place).render(<Frame session={session}>{page}</Frame>);
}

/** What every page has around it: who one is, hints, notices, and a question for a token where one is needed. */
function Frame({ session, children }: { session: Session; children: ReactNode }): ReactNode {
  return (
    <StrictMode>
      <Tooltip.Provider delayDuration={400}>
        <SessionProvider session={session}>
          {children}
          <SignIn />
        </SessionProvider>
        <Notices />
      </Tooltip.Provider>
    </StrictMode>
  );
}
