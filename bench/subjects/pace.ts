import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { dueToken, MICROS_PER_SECOND, microsNow, numberToken } from '../token.js';
import type { Commands } from './child.js';

/** Puts an append on the wire of all that follow one chat. */
export type Append = (text: string) => Promise<void> | void;

/** Connections that were accepted first: a sample of how far the kernel is behind. */
const sample: Socket[] = [];
const SAMPLE = 16;
/** The publisher pauses while so much lies in a sampled socket: what is measured is sending, not queueing. */
const BACKLOG_BYTES = 32 * 1024;
/** Appends that are published in one go when the publisher is late. */
const CATCH_UP = 2000;

/** The same for every server: no server knows that it is watched. */
export function watchSockets(): void {
  subscribe('net.server.socket', (message) => {
    const { socket } = message as { socket: Socket };
    if (sample.length >= SAMPLE) return;
    sample.push(socket);
    socket.once('close', () => sample.splice(sample.indexOf(socket), 1));
  });
}

const isBehind = (): boolean => sample.some((socket) => socket.writableLength > BACKLOG_BYTES);
const nextLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The two ways in which a publisher is driven. */
export function publishing(appendTo: (chatId: string) => Append): Commands {
  let numbered = 0;
  return {
    /** As fast as it goes: one append per turn of the event loop, to one chat. */
    saturate: async ({ chatId, ms }: { chatId: string; ms: number }) => {
      const append = appendTo(chatId);
      const first = numbered;
      for (const end = performance.now() + ms; performance.now() < end;) {
        await append(numberToken(numbered++));
        if (isBehind()) await pause(1);
        else await nextLoop();
      }
      return { appends: numbered - first };
    },

    /** So many appends per second in each chat, evenly spread; each says when it was due. */
    pace: async ({ chats, perSecond, ms }: { chats: readonly string[]; perSecond: number; ms: number }) => {
      const appends = chats.map(appendTo);
      const gap = MICROS_PER_SECOND / (perSecond * chats.length);
      const total = Math.floor((perSecond * chats.length * ms) / 1000);
      const began = microsNow() + 2000;
      const refused: unknown[] = [];
      for (let sent = 0; sent < total;) {
        const due = Math.min(total, Math.floor((microsNow() - began) / gap));
        for (const stop = Math.min(due, sent + CATCH_UP); sent < stop; sent++) {
          const taken = appends[sent % appends.length]?.(dueToken(began + (sent + 1) * gap));
          taken?.catch((error: unknown) => refused.push(error));
        }
        if (sent < due) await nextLoop();
        else await pause(1);
      }
      if (refused.length > 0) throw refused[0];
      return { appends: total };
    },
  };
}
