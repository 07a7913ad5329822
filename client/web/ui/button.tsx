import { Tooltip } from 'radix-ui';
import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { classes } from './classes.js';

const LOOKS = {
  primary: 'bg-primary text-primary-foreground hover:opacity-90',
  plain: 'border border-border bg-card hover:bg-accent',
  quiet: 'text-muted-foreground hover:bg-accent hover:text-foreground',
  danger: 'bg-destructive text-background hover:opacity-90',
} as const;

const SIZES = {
  normal: 'h-9 rounded-lg px-3.5 text-sm',
  small: 'h-7 rounded-md px-2.5 text-note',
} as const;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: keyof typeof LOOKS;
  readonly size?: keyof typeof SIZES;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = 'plain', size = 'normal', className, ...rest }: ButtonProps): ReactNode {
  const shape =
    'inline-flex shrink-0 items-center justify-center gap-1.5 font-medium whitespace-nowrap transition-colors';
  const off = 'disabled:pointer-events-none disabled:opacity-50';
  return <button type="button" {...rest} className={classes(shape, off, LOOKS[look], SIZES[size], className)} />;
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** What it does, in words: read out, and shown beside it. */
  readonly label: string;
  readonly look?: keyof typeof LOOKS;
  readonly size?: 'normal' | 'small';
  readonly isRound?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A button that shows a picture alone. */
export function IconButton({
  label,
  look = 'quiet',
  size = 'normal',
  isRound = false,
  className,
  ...rest
}: IconButtonProps): ReactNode {
  const shape = 'inline-flex shrink-0 items-center justify-center transition-colors';
  const edge = isRound ? 'rounded-full' : 'rounded-lg';
  const off = 'disabled:pointer-events-none disabled:opacity-40';
  const box = size === 'small' ? 'size-7' : 'size-9';
  return (
    <Hint text={label}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        className={classes(shape, edge, off, box, LOOKS[look], className)}
      />
    </Hint>
  );
}

/** Words that are shown beside what the pointer or the focus is on. */
export function Hint({ text, children }: { text: string; children: ReactNode }): ReactNode {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-64 rounded-md bg-foreground px-2 py-1 text-xs text-background"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
