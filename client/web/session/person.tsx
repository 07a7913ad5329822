import { LogOut, Moon, Sun, SunMoon, UserPen } from 'lucide-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { setTheme, THEMES, useTheme, type Theme } from '../theme.js';
import { Avatar } from '../ui/avatar.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { FIELD } from '../ui/field.js';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../ui/menu.js';
import { useNow } from '../ui/use-after.js';
import { useHello, useSession, useWho } from './session-provider.js';
import { TokenDialog } from './token-dialog.js';

const THEME_TEXTS: Readonly<Record<Theme, string>> = { system: 'As the system has it', light: 'Light', dark: 'Dark' };
const THEME_ICONS = { system: SunMoon, light: Sun, dark: Moon } as const;
const MINUTE_MS = 60_000;

/** Who the person at this page is, and how the page looks to them. */
export function Person(): ReactNode {
  const who = useWho();
  const session = useSession();
  const user = useHello()?.user;
  const theme = useTheme();
  const [asked, setAsked] = useState<'name' | 'token' | null>(null);
  const name = user?.userId ?? (who.by === 'name' ? who.name : '…');
  const close = (): void => setAsked(null);
  return (
    <div className="shrink-0 border-t border-border p-2">
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            className="flex w-full min-w-0 items-center gap-2.5 rounded-lg px-2.5 py-2 text-left text-sm hover:bg-accent"
          >
            <Avatar name={name} />
            <span className="min-w-0 flex-1">
              <span className="block truncate leading-tight font-medium">
                <span className="sr-only">You are </span>
                {name}
              </span>
              {who.by === 'token' && <Expiry at={who.expiresAt} />}
            </span>
          </button>
        }
      >
        {who.by === 'name' ? (
          <MenuItem icon={<UserPen size={15} />} onSelect={() => setAsked('name')}>
            Be somebody else
          </MenuItem>
        ) : (
          <>
            <MenuItem icon={<UserPen size={15} />} onSelect={() => setAsked('token')}>
              Give another token
            </MenuItem>
            <MenuItem icon={<LogOut size={15} />} onSelect={() => session.leave()}>
              Forget the token
            </MenuItem>
          </>
        )}
        <MenuLine />
        <MenuChoice
          label="Colours"
          value={theme}
          choices={THEMES.map((value) => ({ value, text: <ThemeName theme={value} /> }))}
          onChoose={setTheme}
        />
      </Menu>
      <NameDialog name={name} isOpen={asked === 'name'} onClose={close} />
      <TokenDialog isOpen={asked === 'token'} onClose={close} why={null} />
    </div>
  );
}

function ThemeName({ theme }: { theme: Theme }): ReactNode {
  const Icon = THEME_ICONS[theme];
  return (
    <span className="flex items-center gap-2.5">
      <Icon size={15} className="opacity-80" aria-hidden />
      {THEME_TEXTS[theme]}
    </span>
  );
}

function Expiry({ at }: { at: number | null }): ReactNode {
  const now = useNow(MINUTE_MS);
  if (at === null) return null;
  const minutes = Math.ceil((at - now) / MINUTE_MS);
  const text =
    minutes <= 0
      ? 'token expired'
      : minutes < 120
        ? `token ends in ${minutes} min`
        : `token ends in ${Math.round(minutes / 60)} h`;
  return <span className="block truncate text-note leading-tight text-muted-foreground">{text}</span>;
}

function NameDialog({ name, isOpen, onClose }: { name: string; isOpen: boolean; onClose: () => void }): ReactNode {
  const session = useSession();
  const rename = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('name');
    const next = typeof given === 'string' ? given.trim() : '';
    onClose();
    if (next !== '' && next !== name) session.rename(next);
  };
  return (
    <Dialog
      title="Who are you?"
      text="This server takes everybody at their word. Your chats are found under your name."
      isOpen={isOpen}
      onClose={onClose}
    >
      <form onSubmit={rename} className="flex gap-2">
        <input
          aria-label="Name"
          name="name"
          required
          maxLength={200}
          autoComplete="off"
          defaultValue={name}
          onFocus={(event) => event.target.select()}
          className={FIELD}
        />
        <Button type="submit" look="primary">
          Be that
        </Button>
      </form>
    </Dialog>
  );
}
