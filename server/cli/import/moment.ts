const WRITTEN = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?(?:\s.*)?$/;

/**
 * A time as databases write it, in UTC with milliseconds: `2025-11-02 10:00:00.123+08`, ISO 8601, or seconds or
 * milliseconds since 1970. Without a zone it is taken for UTC. Null for what is no time.
 */
export function momentOf(written: string | null): string | null {
  if (written === null) return null;
  const [, whole] = /^(\d{9,14})(?:\.\d+)?$/.exec(written) ?? [];
  if (whole !== undefined) return iso(whole.length > 11 ? Number(written) : Number(written) * 1000);
  const [, day = '', clock = '', zone = 'Z'] = WRITTEN.exec(written.trim()) ?? [];
  return iso(Date.parse(`${day}T${clock.replace(/(\.\d{3})\d+$/, '$1')}${zoneOf(zone)}`));
}

/** `+08`, `+0800` and `+08:00` are the same. */
function zoneOf(zone: string): string {
  if (zone === 'Z' || zone === 'UTC') return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}

function iso(ms: number): string | null {
  const moment = new Date(ms);
  if (Number.isNaN(moment.getTime())) return null;
  const text = moment.toISOString();
  // Years that are not of four digits are no times of chats.
  return /^\d{4}-/.test(text) ? text : null;
}
