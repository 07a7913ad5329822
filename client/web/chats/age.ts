const DAY_MS = 86_400_000;

/** Under which heading a chat stands in the list, by the time of its last message. */
export function ageOf(time: string, now: number): string {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const at = Date.parse(time);
  if (at >= midnight) return 'Today';
  if (at >= midnight - DAY_MS) return 'Yesterday';
  if (at >= midnight - 7 * DAY_MS) return 'Last seven days';
  if (at >= midnight - 30 * DAY_MS) return 'Last thirty days';
  return 'Earlier';
}
