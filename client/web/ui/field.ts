/** How a field looks in which one line is written. */
export const FIELD =
  'h-9 w-full min-w-0 rounded-lg border border-input bg-background px-3 text-base placeholder:text-muted-foreground sm:text-sm';
