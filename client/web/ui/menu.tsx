import { Check } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { classes } from './classes.js';

const ITEM =
  'flex min-h-8 cursor-default items-center gap-2.5 rounded-md px-2.5 py-1 text-sm outline-none select-none data-highlighted:bg-accent data-disabled:opacity-50';

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: 'start' | 'end';
}

export function Menu({ trigger, children, align = 'end' }: MenuProps): ReactNode {
  return (
    // What is around it stays in reach: a menu is left by looking elsewhere.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) max-w-80 min-w-44 overflow-y-auto rounded-xl border border-border bg-popover p-1 shadow-lg"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface MenuItemProps {
  readonly icon: ReactNode;
  readonly isDanger?: boolean;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

export function MenuItem({ icon, isDanger = false, onSelect, children }: MenuItemProps): ReactNode {
  return (
    <DropdownMenu.Item onSelect={onSelect} className={classes(ITEM, isDanger && 'text-destructive')}>
      <span className="shrink-0 opacity-80" aria-hidden>
        {icon}
      </span>
      {children}
    </DropdownMenu.Item>
  );
}

export function MenuLink({ icon, href, children }: { icon: ReactNode; href: string; children: ReactNode }): ReactNode {
  return (
    <DropdownMenu.Item asChild className={ITEM}>
      <a href={href}>
        <span className="shrink-0 opacity-80" aria-hidden>
          {icon}
        </span>
        {children}
      </a>
    </DropdownMenu.Item>
  );
}

interface MenuChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly { readonly value: T; readonly text: ReactNode }[];
  readonly onChoose: (value: T) => void;
}

/** One of several, the present one marked. */
export function MenuChoice<T extends string>({ label, value, choices, onChoose }: MenuChoiceProps<T>): ReactNode {
  return (
    <DropdownMenu.RadioGroup value={value} onValueChange={(chosen) => onChoose(chosen as T)} aria-label={label}>
      <DropdownMenu.Label className="px-2.5 pt-1.5 pb-1 text-xs text-muted-foreground">{label}</DropdownMenu.Label>
      {choices.map((choice) => (
        <DropdownMenu.RadioItem key={choice.value} value={choice.value} className={classes(ITEM, 'justify-between')}>
          {choice.text}
          <DropdownMenu.ItemIndicator>
            <Check size={15} aria-hidden />
          </DropdownMenu.ItemIndicator>
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  );
}

export const MenuLine = (): ReactNode => <DropdownMenu.Separator className="my-1 h-px bg-border" />;
