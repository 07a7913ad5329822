import { systemClock, type Clock } from './clock.js';

/** Where ids and chance come from; tests bring their own. The only file of the client that has randomness. */
export interface IdSource {
  /** A UUIDv7: unique in the world, ordered by time. */
  id(): string;
  /** A number from 0 up to 1, for jitter. */
  fraction(): number;
}

/** Ids by Web Crypto, which browsers (also on plain http) and Node have. */
export function createIds(clock: Clock): IdSource {
  return { id: () => uuidV7(clock.now()), fraction: () => Math.random() };
}

export const systemIds: IdSource = createIds(systemClock);

/** RFC 9562: 48 bits of milliseconds, version 7, variant 10, the rest random. */
function uuidV7(now: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(now / 0x1_0000));
  view.setUint16(4, now % 0x1_0000);
  view.setUint8(6, (view.getUint8(6) & 0x0f) | 0x70);
  view.setUint8(8, (view.getUint8(8) & 0x3f) | 0x80);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
